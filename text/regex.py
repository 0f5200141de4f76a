"""Compile regular expressions at their first use, and replace parts of a text.

Most commands use few of the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast


class _Regex:
    """A pattern that is compiled when one of its attributes is first read."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and cache it."""
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern with the methods of `re.compile`; the functions of `re` reject it."""
    return cast("re.Pattern[str]", _Regex(text, flags))


def replace_spans(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with some of its spans replaced.

    Args:
        text: The text.
        replacements: The start and the end of each span, and its replacement, in order. One that
            overlaps the span before it is ignored.
    """
    parts, done = [], 0
    for start, end, new in replacements:
        if start >= done:
            parts += [text[done:start], new]
            done = end
    return "".join([*parts, text[done:]])
