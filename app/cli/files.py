"""Write what a command makes to a file that a person named, and never over another unasked."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from config.errors import Problem


def write_file(file: Path, text: str, *, force: bool) -> None:
    """Write a file whole or not at all, for nobody but its owner to read.

    Nothing is written through a link; with `force` the link itself is replaced.

    Args:
        file: Where it goes.
        text: What it holds.
        force: Whether a file that is there is replaced.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    if not force and os.path.lexists(file):
        hint = "name another file, or add --force to replace it"
        raise Problem("output_exists", "there is such a file", where=str(file), hint=hint)
    if os.path.exists(file) and not file.is_file():
        hint = "name a file"
        what = "it is no file, and nothing else is ever replaced"
        raise Problem("output_not_writable", what, where=str(file), hint=hint)
    part = file.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(text.encode())
        part.replace(file)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        hint = "name a file in a folder you may write to"
        raise Problem("output_not_writable", what, where=str(file), hint=hint) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
