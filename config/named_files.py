"""Read a file that a person has named: a file or a pipe, and no device without an end."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST = 200_000_000
"""How many bytes of a pipe are read; a file ends by itself."""


def opened(file: Path) -> BinaryIO:
    """Open a file for reading; a terminal ends when the person says so, and `/dev/null` at once.

    Raises:
        OSError: When it cannot be read, or is a device.
    """
    kind = file.stat()
    device = stat.S_ISCHR(kind.st_mode) or stat.S_ISBLK(kind.st_mode)
    stream = file.open("rb")
    if device and not stream.isatty() and not os.path.samestat(kind, os.stat(os.devnull)):
        stream.close()
        raise OSError(errno.ENODEV, "it is a device and no file")
    return stream


def read_text(file: Path, encoding: str = "utf-8-sig", most: int = MOST) -> str:
    """Return the whole text of a file.

    Args:
        file: Where it is.
        encoding: How it is written.
        most: How many bytes a pipe may bring.

    Raises:
        OSError: When it cannot be read, is a device, or is a pipe that brings more.
        UnicodeDecodeError: When it is written otherwise.
    """
    with opened(file) as stream:
        regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        data = stream.read(-1 if regular else most + 1)
    if not regular and len(data) > most:
        raise OSError(errno.EFBIG, f"it brings more than {most:,} bytes")
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()
