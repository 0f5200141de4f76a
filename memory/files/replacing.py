"""Put a file in the place of another one, in one step, if that is still what it was."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from storage.private import made


def replace(path: str, data: bytes, expected: bytes | None) -> bool:
    """Write a file whole; return whether it was what was expected, or nothing was done.

    A link stays one: the file that it leads to is written. What is written is on the disk when this
    returns.

    Args:
        path: Which file; its folder is made where it is missing.
        data: What it shall hold.
        expected: What it must hold; `None` when it must not be there.

    Raises:
        OSError: If it cannot be written; it is as it was then.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        _fill(new, data, file)
        if not (_claimed(file) if expected is None else _held(file) == expected):
            return False
        os.replace(new, file)
        _settle(file.parent)
        return True
    finally:
        new.unlink(missing_ok=True)


def _claimed(file: Path) -> bool:
    """Make an empty file, if nobody has made one yet."""
    try:
        open(file, "xb", opener=made).close()
    except FileExistsError:
        return False
    return True


def _fill(new: Path, data: bytes, old: Path) -> None:
    """Write a file that nobody knows yet, with the rights of the one it will replace."""
    with open(new, "xb", opener=made) as opened:
        if old.exists():
            os.chmod(new, stat.S_IMODE(old.stat().st_mode))
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _held(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _settle(folder: Path) -> None:
    """Have the names in a folder on the disk, where folders can be opened."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
