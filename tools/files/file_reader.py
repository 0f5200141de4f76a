"""Read one file in this process; for what is heavy that is a worker process."""

from __future__ import annotations

import csv
import stat
import struct
import sys
import zlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from lxml.etree import LxmlError

from config.errors import ErrorCode
from text.normalization import normalize_text
from tools.files.formats import (
    READABLE_SUFFIXES,
    FileContent,
    FileLimits,
    FileRefused,
    check_file_type,
)
from tools.files.parsed_document import CellGrid, DocumentSection, ParsedDocument

if sys.platform == "linux":
    import resource

_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    LxmlError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    csv.Error,
    struct.error,
    zlib.error,
)
"""What parsers raise when a file is not what its format promises; `BROKEN` of a reader adds to it.

`ElementTree.ParseError` is a `SyntaxError`.
"""


def load_file(path: Path, limits: FileLimits) -> FileContent:
    """Read the bytes once: what is parsed later is what was checked here.

    Raises:
        FileRefused: If it cannot be opened, or is empty, too large or of a type that is not read.
    """
    suffix = path.suffix.lower()
    try:
        if suffix not in READABLE_SUFFIXES or not stat.S_ISREG(path.stat().st_mode):
            raise FileRefused(ErrorCode.FILE_TYPE, f"files like this are not read: {path.name!r}")
        with path.open("rb") as stream:
            data = stream.read(limits.size + 1)
    except FileNotFoundError:
        raise FileRefused(ErrorCode.FILE_NOT_FOUND, "there is no such file") from None
    except OSError as error:
        raise FileRefused(
            ErrorCode.FILE_UNREADABLE, f"it cannot be opened: {error.strerror}"
        ) from None
    if len(data) > limits.size:
        raise FileRefused(ErrorCode.FILE_TOO_LARGE, f"it has more than {limits.size} bytes")
    if not data.strip():
        raise FileRefused(ErrorCode.FILE_EMPTY, "it is empty")
    return FileContent(data, suffix, limits)


def read_file(reader: str, file: FileContent) -> ParsedDocument:
    """Read a file with the module `reader`.

    Raises:
        FileRefused: If it is not what its name says, broken, too large, or has no text.
    """
    document: ParsedDocument = _parsed(reader, file)
    return _clean(document, file)


def read_grids(reader: str, file: FileContent) -> list[CellGrid]:
    """Read the cells of a table with `reader`, a `module:function`.

    Raises:
        FileRefused: If it is not what its name says, broken or too large.
    """
    grids: list[CellGrid] = _parsed(reader, file)
    return grids


def _parsed(reader: str, file: FileContent) -> Any:
    check_file_type(file)
    name, _, function = reader.partition(":")
    module = import_module(name)
    try:
        return getattr(module, function)(file)
    except MemoryError:
        raise FileRefused(
            ErrorCode.FILE_BOMB, "it needs far more memory than a document of its size"
        ) from None
    except (*_BROKEN, *getattr(module, "BROKEN", ())) as error:
        raise FileRefused(
            ErrorCode.FILE_BROKEN, f"it cannot be read ({type(error).__name__})"
        ) from None


def read_path(reader: str, path: Path, limits: FileLimits) -> ParsedDocument:
    """Read the file at a path with the module `reader`.

    Raises:
        FileRefused: As `load_file` and `read_file`.
    """
    return read_file(reader, load_file(path, limits))


def read_path_limited(reader: str, path: Path, limits: FileLimits) -> ParsedDocument:
    """Do the same in a worker process, with a limit on the memory of that process."""
    _limit_memory(limits.memory)
    return read_path(reader, path, limits)


def read_grids_limited(reader: str, file: FileContent) -> list[CellGrid]:
    """Read the cells of a table in a worker process, with the same limit."""
    _limit_memory(file.limits.memory)
    return read_grids(reader, file)


def _limit_memory(most: int) -> None:
    """Let this process have `most` bytes more than it had before its first file."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (_idle_memory() + most, hard))


@cache
def _idle_memory() -> int:
    """Return the bytes of address space that this process had when it was first asked."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _clean(document: ParsedDocument, file: FileContent) -> ParsedDocument:
    """Return the document in normal characters, without empty sections."""
    sections = [
        DocumentSection(
            title=normalize_text(section["title"]).strip(),
            place=section["place"],
            text=normalize_text(section["text"]).strip(),
        )
        for section in document["sections"]
    ]
    kept = [section for section in sections if section["text"]]
    if not kept:
        raise FileRefused(ErrorCode.FILE_NO_TEXT, "it has no text")
    if sum(len(section["text"]) for section in kept) > file.limits.text:
        raise FileRefused(
            ErrorCode.FILE_TOO_LARGE, f"it has more than {file.limits.text} characters of text"
        )
    return ParsedDocument(title=normalize_text(document["title"]).strip(), sections=kept)
