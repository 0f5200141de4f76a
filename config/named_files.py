"""Read a file that a person has named: a regular file or a pipe, but no endless device."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST = 200_000_000
"""The most bytes that are read from a pipe."""


def opened(file: Path) -> BinaryIO:
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


def read_text(file: Path, encoding: str = "utf-8-sig", most: int = MOST) -> str:
    """Return the whole text of a file.

    Args:
        file: Where it is.
        encoding: Its encoding.
        most: The most bytes that are read from a pipe.

    Raises:
        OSError: When it cannot be read, is a device, or is a pipe with more.
        UnicodeDecodeError: When it has another encoding.
    """
    with opened(file) as stream:
        regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        data = stream.read(-1 if regular else most + 1)
    if not regular and len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()
