"""Read a person's folder into the page store, again only what has changed."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from sqlalchemy import select

from config.errors import ErrorCode, Problem
from library import documents as library_documents
from library import page_rows
from library import store as pages
from library.page_rows import PageOrigin
from library.page_sizing import prepare_pages
from library.tables import documents
from storage.engine import read_rows
from text.background_threads import run_abandonable
from tools.file_batches import (
    FileOutcome,
    PendingFile,
    batch_files,
    make_document_pages,
    read_batch,
)
from tools.files.extractor import extract_document
from tools.files.formats import FileLimits, explain_unread_type, find_files, find_unreadable_files
from tools.files.parsed_document import DocumentSection, ParsedDocument
from tools.worker_pool import WorkerLost, run_in_worker

READER = 5
"""Raised when the reading of files changes, so that known files are read again."""

READABLE_TYPES = "txt, md, html, pdf, docx, odt, rtf, pptx, xlsx, csv, epub, eml, msg, ipynb"
"""The types that a person is told of."""

SIDE_BY_SIDE = 2 * (os.cpu_count() or 1) + 2
"""How many files are read at once: one on each core, while some others are written together."""

MUCH = 1_000_000
"""So many bytes are worth the start of worker processes; less is read in this one."""

GENERATED = b'<meta name="generator" content="Dossier">'
"""What stands at the beginning of every report page of ours, whatever its file is called."""

BATCH = 125
"""How many sections are made pages at a time; those of a longer document on every core."""

SECONDS = 60.0
"""How long a batch may take: a hundred times what it takes."""


class SkippedFile(NamedTuple):
    """A file that could not be read, and why."""

    path: str
    code: str
    reason: str


class _ReadOptions(NamedTuple):
    """How files are read: what one may cost, what of a text may be kept, and in which process."""

    limits: FileLimits
    clean: Callable[[str], str]
    in_worker: bool


NEVER_INGESTED = "it was not read in"
"""What is said of a folder or file that a run is to search and that nobody had read."""


class IngestResult(NamedTuple):
    """What is known of a folder after it was read."""

    root: str
    files: int
    """How many there are: read, known and skipped."""
    read: int
    skipped: list[SkippedFile]

    @property
    def known(self) -> int:
        """How many were read before and have not changed."""
        return self.files - self.read - len(self.skipped)


async def ingest_folder(
    owner: str,
    folder: Path,
    progress: Callable[[str], None],
    limits: FileLimits | None = None,
    *,
    expect: Callable[[int], None] = lambda _: None,
    clean: Callable[[str], str] = str,
) -> IngestResult:
    """Read every file below a folder, or one file, and keep its pages.

    Args:
        owner: Who the pages belong to.
        folder: What to read.
        progress: Is told the path of every file when it is done.
        limits: What one file may cost.
        expect: Is told at the start how many files there are.
        clean: Is given every text before it is kept, and returns what may be.

    Raises:
        Problem: `docs_not_found`, `docs_unreadable` or `docs_empty`.
    """
    root = await anyio.to_thread.run_sync(_real, folder)
    files = await anyio.to_thread.run_sync(_listed, root)
    expect(len(files))
    known = await _known(owner, str(root))
    gate = anyio.Semaphore(SIDE_BY_SIDE)
    due = await anyio.to_thread.run_sync(_due, files, known)
    way = _ReadOptions(limits or FileLimits(), clean, sum(one.size for one in due) > MUCH)
    changed = {str(one.path) for one in due}

    async def some(bunch: Sequence[PendingFile]) -> None:
        async with gate:
            await _ingest_bunch(owner, str(root), bunch, way)
            for one in bunch:
                progress(str(one.path))

    for file in files:
        if str(file) not in changed:
            progress(str(file))
    await _each(list(batch_files(due)), some)
    for path in known.keys() - {str(file) for file in files}:
        await library_documents.unlist_document(owner, str(root), path)
    skipped = await _skipped(owner, str(root))
    if len(skipped) == len(files):
        what = f"nothing in {root} can be read"
        raise Problem(
            ErrorCode.DOCS_EMPTY, what, where=skipped[0].reason, hint="see the list of types"
        )
    read = changed - {one.path for one in skipped}
    return IngestResult(str(root), len(files), len(read), skipped)


def list_ignored_files(root: Path) -> list[SkippedFile]:
    """Return the files below a folder that `ingest_folder` does not even open, and why."""
    found = find_files(root)
    strange = [
        SkippedFile(str(file), "file_type", explain_unread_type(file.name))
        for file in find_unreadable_files(root)
    ]
    unnamed = [
        SkippedFile(repr(str(file)), "file_name", "its name is no text")
        for file in found
        if not _is_text(str(file))
    ]
    own = [
        SkippedFile(str(file), "own_report", "a report of dossier itself")
        for file in found
        if _own_report(file)
    ]
    return strange + unnamed + own


async def list_unread_files(owner: str, roots: Sequence[str]) -> list[SkippedFile]:
    """Return the files below some folders that could not be read, and why.

    A folder that was never read in is one of them itself, and is not looked into.
    """
    known = [root for root in roots if await _known(owner, root)]
    strange = [
        SkippedFile(root, "docs_unknown", NEVER_INGESTED) for root in roots if root not in known
    ]
    read = [await _skipped(owner, root) for root in known]
    there = [Path(root) for root in known if await anyio.Path(root).is_dir()]
    passed = [await anyio.to_thread.run_sync(list_ignored_files, root) for root in there]
    found = [one for some in [*read, *passed] for one in some if one.code != "own_report"]
    return strange + sorted({one.path: one for one in found}.values())


async def _each(
    bunches: Sequence[Sequence[PendingFile]],
    do: Callable[[Sequence[PendingFile]], Coroutine[Any, Any, None]],
) -> None:
    try:
        async with anyio.create_task_group() as tasks:
            for bunch in bunches:
                tasks.start_soon(do, bunch)
    except ExceptionGroup as failures:
        # What stops one file, such as a full disk, stops them all; the first tells enough.
        raise failures.exceptions[0] from failures


def _is_text(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _own_report(file: Path) -> bool:
    """Say whether a file is a report of ours, which must not become a source of the next one."""
    both = ("report.md", "report.html")
    if file.name in both and all((file.parent / name).is_file() for name in both):
        return True
    return file.suffix.lower() in (".html", ".htm") and GENERATED in _beginning(file)


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(2_000)
    except OSError:
        return b""


def _real(folder: Path) -> Path:
    # Those of Path raise on a link that leads to itself, and on a home that nobody has.
    return Path(os.path.realpath(os.path.expanduser(folder)))


def _listed(root: Path) -> list[Path]:
    # Those of Path raise on a name that is too long.
    if not (os.path.isfile(root) or os.path.isdir(root)):
        what, hint = "there is no such folder or file", "check the path"
        raise Problem(ErrorCode.DOCS_NOT_FOUND, what, where=str(root), hint=hint)
    if not _is_text(str(root)):
        what, hint = "its name, or that of a folder around it, is no text", "rename it"
        raise Problem(ErrorCode.DOCS_UNREADABLE, what, where=repr(str(root)), hint=hint)
    try:
        found = find_files(root)
    except PermissionError as error:
        raise Problem(ErrorCode.DOCS_UNREADABLE, "it may not be read", where=str(root)) from error
    # A name that is no text can neither be kept nor shown.
    files = [file for file in found if _is_text(str(file)) and not _own_report(file)]
    unnamed = [repr(str(file)) for file in found if not _is_text(str(file))]
    if unnamed and not files:
        what, hint = "the path of every file in it has a name that is no text", "rename it"
        raise Problem(ErrorCode.DOCS_UNREADABLE, what, where=unnamed[0], hint=hint)
    if not files:
        hint = f"what can be read: {READABLE_TYPES}"
        raise Problem(ErrorCode.DOCS_EMPTY, "there is no file to read", where=str(root), hint=hint)
    return files


def _due(files: Sequence[Path], known: Mapping[str, Any]) -> list[PendingFile]:
    """Return the files that are not known as they are."""
    due = []
    for file in files:
        try:
            state = file.stat()
        except OSError as error:
            due.append(PendingFile(file, 0, 0, error.strerror or "cannot be read"))
            continue
        one, seen = PendingFile(file, state.st_size, state.st_mtime_ns), known.get(str(file))
        if seen is None or (seen.size, seen.modified, seen.reader) != _seen(one):
            due.append(one)
    return due


def _seen(one: PendingFile) -> tuple[int, int, int]:
    """Return what is written down of a file, by which it is known the next time."""
    return one.size, one.modified, READER


async def _ingest_bunch(
    owner: str, root: str, bunch: Sequence[PendingFile], way: _ReadOptions
) -> None:
    """Read short files and keep them together; each alone where one of them is in the way."""
    if bunch[0].is_short and way.clean is str:
        try:
            found = await _looked_at(owner, bunch, way)
        except (OSError, WorkerLost):  # A `TimeoutError` is an `OSError`.
            pass  # Each is read alone below, which tells whose fault it is.
        else:
            await library_documents.store_files(owner, root, found)
            return
    for one in bunch:
        await _ingest_file(owner, root, one, way)


async def _looked_at(
    owner: str, bunch: Sequence[PendingFile], way: _ReadOptions
) -> list[library_documents.ReadDocument]:
    """Read some files as far as what is in them is not known, and return what is to be kept."""
    size = way.limits.size
    hashes = await anyio.to_thread.run_sync(lambda: [_hash(one.path, size) for one in bunch])
    there = await _are_read(owner, hashes)
    new = [
        (one.path, sha256) for one, sha256 in zip(bunch, hashes, strict=True) if sha256 not in there
    ]
    outcomes = dict(zip(new, await _read_bunch(new, way), strict=True)) if new else {}
    return [
        _read(one, sha256, outcomes.get((one.path, sha256), FileOutcome([])))
        for one, sha256 in zip(bunch, hashes, strict=True)
    ]


async def _read_bunch(files: Sequence[tuple[Path, str]], way: _ReadOptions) -> list[FileOutcome]:
    """Read some files where much is read in a worker process, else in a thread."""
    work = partial(read_batch, files, way.limits, in_worker=way.in_worker)
    if way.in_worker:
        return await run_in_worker(work, way.limits.seconds)
    with anyio.fail_after(way.limits.seconds):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _read(one: PendingFile, sha256: str, outcome: FileOutcome) -> library_documents.ReadDocument:
    """Return what the store is told of a file."""
    seen = dict(zip(("size", "modified", "reader"), _seen(one), strict=True))
    row = {"sha256": sha256, "code": outcome.code, "reason": outcome.reason, **seen}
    return library_documents.ReadDocument(str(one.path), outcome.pages, row)


async def _ingest_file(owner: str, root: str, one: PendingFile, way: _ReadOptions) -> None:
    """Read one file alone."""
    failure, sha256 = one.failure, ""
    problem: Problem | None
    if not failure:
        try:
            sha256 = await anyio.to_thread.run_sync(_hash, one.path, way.limits.size)
        except OSError as error:
            failure = error.strerror or "cannot be read"
    if failure:
        one, problem = PendingFile(one.path, 0, 0), Problem(ErrorCode.FILE_UNREADABLE, failure)
    else:
        problem = await _keep(owner, root, one.path, sha256, way)
    code, reason = (problem.code, problem.what) if problem else ("", "")
    read = _read(one, sha256, FileOutcome([], code, reason))
    await library_documents.record_document(owner, root, read.path, read.row)


async def _keep(
    owner: str, root: str, file: Path, sha256: str, way: _ReadOptions
) -> Problem | None:
    if await _are_read(owner, [sha256]):
        return None
    try:
        document = await anyio.to_thread.run_sync(
            _cleaned, await extract_document(file, way.limits, in_worker=way.in_worker), way
        )
    except Problem as problem:
        return problem
    new = make_document_pages(document, sha256)
    # Pages that come into the namespace of their folder later are taken out of the index for that.
    try:
        await pages.store_page_batches(PageOrigin(owner, "file", sha256, root), _prepared(way, new))
    except Problem as problem:
        if problem.code != ErrorCode.TEXT_TIMEOUT:
            raise
        return problem
    return None


def _cleaned(document: ParsedDocument, way: _ReadOptions) -> ParsedDocument:
    """Return a document of which every text is what may be kept."""
    if way.clean is str:
        return document
    sections = [
        DocumentSection(
            title=way.clean(one["title"]), place=one["place"], text=way.clean(one["text"])
        )
        for one in document["sections"]
    ]
    return ParsedDocument(title=way.clean(document["title"]), sections=sections)


async def _prepared(
    way: _ReadOptions, new: Sequence[page_rows.NewPage]
) -> AsyncGenerator[list[page_rows.NewPage], None]:
    """Make the pages of a document; those of a long one on every core, while some are written."""
    batches = [new[at : at + BATCH] for at in range(0, len(new), BATCH)]
    if len(batches) < 2 and not way.in_worker:
        yield await run_abandonable(prepare_pages, new)
        return
    tasks = [asyncio.create_task(_apart(batch)) for batch in batches]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()


async def _apart(new: Sequence[page_rows.NewPage]) -> list[page_rows.NewPage]:
    """Make pages in a worker process, or here where it is lost or has no time."""
    try:
        return await run_in_worker(partial(prepare_pages, new), SECONDS)
    except (TimeoutError, WorkerLost):
        return await run_abandonable(prepare_pages, new)


async def _are_read(owner: str, hashes: Sequence[str]) -> set[str]:
    """Return those contents that some file has that was read as it would be read today."""
    same = select(documents.c.sha256).where(
        documents.c.owner == owner,
        documents.c.sha256.in_(hashes),
        documents.c.reader == READER,
        documents.c.code == "",
    )
    return set((await read_rows(same)).scalars())


def _hash(file: Path, most: int) -> str:
    """Hash a file; of one that is too large to be read, only as much as could be."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        digest.update(opened.read(most + 1))
    return digest.hexdigest()


async def _known(owner: str, root: str) -> dict[str, Any]:
    mine = select(documents).where(documents.c.owner == owner, documents.c.root == root)
    return {row.path: row for row in await read_rows(mine)}


async def _skipped(owner: str, root: str) -> list[SkippedFile]:
    rows = (await _known(owner, root)).values()
    return sorted(SkippedFile(row.path, row.code, row.reason) for row in rows if row.code)
