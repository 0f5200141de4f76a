"""Read a document, whatever it is, without harm to the process that asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import fail_after, to_thread

from config.errors import ErrorCode, Problem
from tools.files.file_reader import (
    load_file,
    read_grids,
    read_grids_limited,
    read_path,
    read_path_limited,
)
from tools.files.formats import (
    FILE_READERS,
    GRID_READERS,
    READABLE_SUFFIXES,
    FileLimits,
    FileRefused,
    is_heavy,
)
from tools.files.parsed_document import CellGrid, ParsedDocument, find_document_title
from tools.worker_pool import WorkerLost, run_in_worker

_Result = TypeVar("_Result")

_DEFAULT = FileLimits()
_HINTS = {
    "file_bomb": "leave it out, or save it anew from the program that made it",
    "file_broken": "open it in its own program and save it again",
    "file_empty": "check that it was saved or copied completely",
    "file_encrypted": "save a copy without the password",
    "file_no_text": "run a text recognition (OCR) on it first",
    "file_not_found": "check the path",
    "file_not_text": "save it as UTF-8 text",
    "file_timeout": "split it, or save it as plain text",
    "file_too_large": "split it into smaller files",
    "file_type": f"what can be read: {' '.join(sorted(READABLE_SUFFIXES))}",
    "file_type_mismatch": "give it the suffix of what it is",
    "file_unreadable": "check its permissions",
}


SLOWEST_BYTES_PER_SECOND = 100_000
"""So many bytes of a long file are read in a second on a machine that does much else."""


async def extract_document(
    path: Path, limits: FileLimits = _DEFAULT, *, in_worker: bool = False
) -> ParsedDocument:
    """Read a document into sections of 1,500 to 6,000 characters, each with its place.

    Args:
        path: Which.
        limits: What it may cost.
        in_worker: Whether a light file is read in a worker process, too.

    Raises:
        Problem: `file_…`, with a code that says why the file is not read; see `_HINTS`.
    """
    try:
        size = await to_thread.run_sync(_size, path)
        heavy = in_worker or is_heavy(path.suffix, size)
        reader = FILE_READERS.get(path.suffix.lower(), "")
        work = partial(read_path_limited if heavy else read_path, reader, path, limits)
        document = await _run(work, limits.seconds + size / SLOWEST_BYTES_PER_SECOND, apart=heavy)
    except FileRefused as refused:
        raise _problem(refused, path) from refused
    return ParsedDocument(title=find_document_title(document, path), sections=document["sections"])


async def extract_cells(path: Path, sha256: str, limits: FileLimits = _DEFAULT) -> list[CellGrid]:
    """Read the cells of the tables of a file, as it was when it had a hash; none of another one.

    Raises:
        Problem: `file_…`, as `extract_document`.
    """
    try:
        file = await to_thread.run_sync(load_file, path, limits)
        if await to_thread.run_sync(lambda: hashlib.sha256(file.data).hexdigest()) != sha256:
            return []
        size = len(file.data)
        heavy = is_heavy(file.suffix, size)
        work = partial(read_grids_limited if heavy else read_grids, GRID_READERS[file.suffix], file)
        return await _run(work, limits.seconds + size / SLOWEST_BYTES_PER_SECOND, apart=heavy)
    except FileRefused as refused:
        raise _problem(refused, path) from refused


def _problem(refused: FileRefused, path: Path) -> Problem:
    hint = _HINTS.get(refused.error, "")
    return Problem(refused.error, refused.what, where=str(path), hint=hint)


def _size(path: Path) -> int:
    """Return how many bytes a file has; what cannot be looked at is told of when it is opened."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


async def _run(work: Callable[[], _Result], seconds: float, *, apart: bool) -> _Result:
    """Do some work in a worker process or in a thread, within its time."""
    try:
        if apart:
            return await run_in_worker(work, seconds)
        with fail_after(seconds):
            return await to_thread.run_sync(work, abandon_on_cancel=True)
    except TimeoutError:
        raise FileRefused(
            ErrorCode.FILE_TIMEOUT, f"reading it takes more than {seconds:g} seconds"
        ) from None
    except WorkerLost:
        raise FileRefused(ErrorCode.FILE_BROKEN, "its parser crashed") from None
