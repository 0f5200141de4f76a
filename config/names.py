"""Names that come from outside and become names of files."""

from __future__ import annotations

import re

from config.errors import Problem

FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
"""What a file may be called: one part of a path, and never one above it."""


def check_name(name: str) -> str:
    """Return a name if a file may be called so.

    Raises:
        Problem: `bad_file_name`.
    """
    if not FILE.fullmatch(name):
        hint = "letters, digits, dot, - and _; the first a letter, a digit or _"
        raise Problem("bad_file_name", f"no file may be called {name[:80]!r}", hint=hint)
    return name
