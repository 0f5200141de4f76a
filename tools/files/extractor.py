"""Read a document of any supported format without risk to the calling process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import fail_after, to_thread

from config.errors import ErrorCode, Problem
from tools.files.file_reader import load_file, read_grids, read_path
from tools.files.formats import FILE_READERS, READABLE_SUFFIXES, FileLimits, FileRefused, is_heavy
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
"""How fast a long file is read at least, in seconds of the processor."""


async def extract_document(
    path: Path, limits: FileLimits = _DEFAULT, *, in_worker: bool = False
) -> ParsedDocument:
    """Read a document into sections of 1,500 to 6,000 characters, each with its place.

    Args:
        path: The file.
        limits: What it may cost.
        in_worker: Whether to read a light file in a worker process, too.

    Raises:
        Problem: `file_…`, with a code that says why the file is not read; see `_HINTS`.
    """
    try:
        size = await to_thread.run_sync(_size, path)
        work = partial(read_path, FILE_READERS.get(path.suffix.lower(), ""), path, limits)
        heavy = in_worker or is_heavy(path.suffix, size)
        document = await _run(work, size, limits, in_worker=heavy)
    except FileRefused as refused:
        raise _problem(refused, path) from refused
    return {**document, "title": find_document_title(document, path)}


async def extract_cells(path: Path, sha256: str, limits: FileLimits = _DEFAULT) -> list[CellGrid]:
    """Read the cells of the tables of a file; none if its content no longer has this hash.

    Raises:
        Problem: `file_…`, as `extract_document`.
    """
    try:
        file = await to_thread.run_sync(load_file, path, limits)
        size = len(file.data)
        if (await to_thread.run_sync(hashlib.sha256, file.data)).hexdigest() != sha256:
            return []
        heavy = is_heavy(file.suffix, size)
        return await _run(partial(read_grids, file), size, limits, in_worker=heavy)
    except FileRefused as refused:
        raise _problem(refused, path) from refused


def _problem(refused: FileRefused, path: Path) -> Problem:
    hint = _HINTS.get(refused.error, "")
    return Problem(refused.error, refused.what, where=str(path), hint=hint)


def _size(path: Path) -> int:
    """Return the number of bytes of a file; opening it reports why that is not possible."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


async def run_apart(work: Callable[..., _Result], seconds: float, *, in_worker: bool) -> _Result:
    """Do some work in a worker process, or in a thread that is abandoned if it takes too long.

    Args:
        work: It is told with `in_worker` where it is done.
        seconds: How long it may take.
        in_worker: Whether to do it in a worker process.

    Raises:
        TimeoutError: If it takes longer.
        WorkerLost: If the process ended before it had answered.
    """
    call = partial(work, in_worker=in_worker)
    if in_worker:
        return await run_in_worker(call, seconds)
    with fail_after(seconds):
        return await to_thread.run_sync(call, abandon_on_cancel=True)


async def _run(
    work: Callable[..., _Result], size: int, limits: FileLimits, *, in_worker: bool
) -> _Result:
    """Do some work in the time that a file of a size has."""
    seconds = limits.seconds + size / SLOWEST_BYTES_PER_SECOND
    try:
        return await run_apart(work, seconds, in_worker=in_worker)
    except TimeoutError:
        what = f"reading it takes more than {seconds:g} seconds"
        raise FileRefused(ErrorCode.FILE_TIMEOUT, what) from None
    except WorkerLost:
        raise FileRefused(ErrorCode.FILE_BROKEN, "its parser crashed") from None
