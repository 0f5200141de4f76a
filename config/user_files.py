"""Files that a person names.

Reading a regular file or a pipe but no endless device, and names that may become names of files.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from config.errors import ErrorCode, Problem


def write_user_file(file: Path, content: str | bytes, *, force: bool) -> None:
    """Write a file whole or not at all, for nobody but its owner to read.

    Nothing is written through a link; with `force` the link itself is replaced.

    Args:
        file: Where it goes.
        content: What it holds; a text is written in UTF-8.
        force: Whether a file that is there is replaced.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    check_new_file(file, force=force)
    part = file.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)
        part.replace(file)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        hint = "name a file in a folder you may write to"
        raise Problem(ErrorCode.OUTPUT_NOT_WRITABLE, what, where=str(file), hint=hint) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def check_new_file(file: Path, *, force: bool) -> None:
    """Check that nothing is in the place of a file, or with `force` no more than a file.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    if not force and os.path.lexists(file):
        hint = "name another file, or add --force to replace it"
        raise Problem(ErrorCode.OUTPUT_EXISTS, "there is such a file", where=str(file), hint=hint)
    if os.path.exists(file) and not file.is_file():
        hint = "name a file"
        what = "it is no file, and nothing else is ever replaced"
        raise Problem(ErrorCode.OUTPUT_NOT_WRITABLE, what, where=str(file), hint=hint)


MAX_PIPE_BYTES = 200_000_000
"""The most bytes that are read from a pipe."""


def open_user_file(file: Path) -> BinaryIO:
    """Open a file for reading; of devices only terminals and `/dev/null`, which do end.

    Raises:
        OSError: When it cannot be read, or is a device.
    """
    kind = file.stat()
    device = stat.S_ISCHR(kind.st_mode) or stat.S_ISBLK(kind.st_mode)
    stream = file.open("rb")
    if device and not stream.isatty() and not os.path.samestat(kind, os.stat(os.devnull)):
        stream.close()
        raise OSError(errno.ENODEV, "it is a device, not a file")
    return stream


def read_user_file(file: Path, encoding: str = "utf-8-sig", most: int = MAX_PIPE_BYTES) -> str:
    """Return the whole text of a file.

    Args:
        file: Where it is.
        encoding: Its encoding.
        most: The most bytes that are read from a pipe.

    Raises:
        OSError: When it cannot be read, is a device, or is a pipe with more.
        UnicodeDecodeError: When it has another encoding.
    """
    with open_user_file(file) as stream:
        regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        data = stream.read(-1 if regular else most + 1)
    if not regular and len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()


def read_named_file(file: Path, most: int = MAX_PIPE_BYTES) -> str:
    """Return the whole text of a file in UTF-8 that a person names.

    Raises:
        Problem: `file_not_found` or `file_unreadable`.
    """
    try:
        return read_user_file(file, most=most)
    except FileNotFoundError as error:
        what, hint = "there is no such file", "check the path"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, where=str(file), hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", "") or "it is no text in UTF-8"
        hint = "name a text file that you may read"
        raise Problem(ErrorCode.FILE_UNREADABLE, what, where=str(file), hint=hint) from error


FILE_NAME_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
"""What a file may be called: one part of a path, and never one above it."""


def check_file_name(name: str) -> str:
    """Return a name if a file may be called so.

    Raises:
        Problem: `bad_file_name`.
    """
    if not FILE_NAME_PATTERN.fullmatch(name):
        hint = "letters, digits, dot, - and _; the first a letter, a digit or _"
        raise Problem(ErrorCode.BAD_FILE_NAME, f"no file may be called {name[:80]!r}", hint=hint)
    return name
