"""Read one file in this process, which is a worker process for heavy formats."""

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

from config.errors import ErrorCode
from prompts.prompt_injection import has_injection
from text.normalization import normalize_text
from tools.files.formats import (
    GRID_READERS,
    READABLE_SUFFIXES,
    FileContent,
    FileLimits,
    FileRefused,
    check_file_type,
)
from tools.files.parsed_document import (
    MAX_HEADING,
    CellGrid,
    DocumentSection,
    ParsedDocument,
    declare_metadata,
)

if sys.platform == "linux":
    import resource

_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    csv.Error,
    struct.error,
    zlib.error,
)
"""What parsers raise on a malformed file, beside lxml's errors and the `BROKEN` of a reader.

`ElementTree.ParseError` is a `SyntaxError`.
"""


def _parser_errors() -> tuple[type[Exception], ...]:
    # Needed after a failure alone, and where lxml is loaded already.
    from lxml.etree import LxmlError  # noqa: PLC0415

    return (*_BROKEN, LxmlError)


def load_file(path: Path, limits: FileLimits) -> FileContent:
    """Read the bytes once, so that what is parsed later is what was checked here.

    Raises:
        FileRefused: If it cannot be opened, or is empty, too large or of an unsupported type.
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
        what = f"it cannot be opened: {error.strerror}"
        raise FileRefused(ErrorCode.FILE_UNREADABLE, what) from None
    if len(data) > limits.size:
        raise FileRefused(ErrorCode.FILE_TOO_LARGE, f"it has more than {limits.size} bytes")
    if not data.strip():
        raise FileRefused(ErrorCode.FILE_EMPTY, "it is empty")
    return FileContent(data, suffix, limits)


def read_path(
    reader: str, path: Path, limits: FileLimits, *, in_worker: bool = False
) -> ParsedDocument:
    """Read the file at a path; in a worker process its memory is limited.

    Raises:
        FileRefused: As `load_file` and `read_file`.
    """
    if in_worker:
        _limit_memory(limits.memory)
    return read_file(reader, load_file(path, limits))


def read_file(reader: str, file: FileContent) -> ParsedDocument:
    """Read a file with `reader`, a `module:function`.

    Raises:
        FileRefused: If it is not what its name says, broken, too large, or has no text.
    """
    return _clean(_parse(reader, file), file.limits)


def read_grids(file: FileContent, *, in_worker: bool = False) -> list[CellGrid]:
    """Read the cells of the tables of a file; in a worker process its memory is limited.

    Raises:
        FileRefused: If it is not what its name says, broken or too large.
    """
    if in_worker:
        _limit_memory(file.limits.memory)
    grids: list[CellGrid] = _parse(GRID_READERS[file.suffix], file)
    return grids


def _parse(reader: str, file: FileContent) -> Any:
    check_file_type(file)
    name, _, function = reader.partition(":")
    module = import_module(name)
    try:
        return getattr(module, function)(file)
    except MemoryError:
        what = "it needs far more memory than a document of its size"
        raise FileRefused(ErrorCode.FILE_BOMB, what) from None
    except (*_parser_errors(), *getattr(module, "BROKEN", ())) as error:
        what = f"it cannot be read ({type(error).__name__})"
        raise FileRefused(ErrorCode.FILE_BROKEN, what) from None


def _limit_memory(extra: int) -> None:
    """Let this process use `extra` bytes more than it did before its first file."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (_idle_memory() + extra, hard))


@cache
def _idle_memory() -> int:
    """Return the bytes of address space that this process had at the first call."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _clean(document: ParsedDocument, limits: FileLimits) -> ParsedDocument:
    """Return the document with normalized characters and without empty sections."""
    sections = [
        DocumentSection(
            title=normalize_text(section["title"]).strip(), place=section["place"], text=text
        )
        for section in document["sections"]
        if (text := normalize_text(section["text"]).strip())
    ]
    if not sections:
        raise FileRefused(ErrorCode.FILE_NO_TEXT, "it has no text")
    if sum(len(section["text"]) for section in sections) > limits.text:
        what = f"it has more than {limits.text} characters of text"
        raise FileRefused(ErrorCode.FILE_TOO_LARGE, what)
    title = normalize_text(document["title"]).strip()[:MAX_HEADING]
    return _judge({**document, "title": title, "sections": sections})


def _judge(document: ParsedDocument) -> ParsedDocument:
    """Return a document, marked if it gives instructions to the model that reads it."""
    texts = [document["title"], *(section["text"] for section in document["sections"])]
    if not any(map(has_injection, texts)):
        return document
    known = document if "metadata" in document else declare_metadata(document)
    return {**known, "metadata": known["metadata"]._replace(genre="hostile")}
