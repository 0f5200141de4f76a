"""Read a person's folder into the page store; unchanged files are not read again."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from itertools import filterfalse
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
from tools.files.extractor import extract_document, run_apart
from tools.files.formats import FileLimits, explain_unread_type, find_files, find_unreadable_files
from tools.files.parsed_document import DocumentSection, ParsedDocument
from tools.worker_pool import WorkerLost, run_in_worker

READER = 8
"""The version of the file readers; raising it makes known files be read again."""

READABLE_TYPES = "txt, md, html, pdf, docx, odt, rtf, pptx, xlsx, csv, epub, eml, msg, ipynb"
"""The readable types as listed in hints."""

SIDE_BY_SIDE = 2 * (os.cpu_count() or 1) + 2
"""How many batches are read at once: one on each core, while others are stored."""

MUCH = 1_000_000
"""More bytes than these are read in worker processes, fewer in this process."""

GENERATED = b'<meta name="generator" content="Dossier">'
"""The mark at the beginning of every HTML report by Dossier."""

BATCH = 125
"""How many sections are made into pages at once; longer documents use all cores."""

HASHED = 1_000_000
"""How many bytes of a file are hashed at once."""

SECONDS = 60.0
"""The time limit of a batch, a hundred times its usual duration."""


class SkippedFile(NamedTuple):
    """A file that could not be read, and the reason."""

    path: str
    code: str
    reason: str


class _ReadOptions(NamedTuple):
    """How files are read: their limits, the filter of their texts, and in which process."""

    limits: FileLimits
    clean: Callable[[str], str]
    in_worker: bool


NEVER_INGESTED = "it was not read in"
"""The reason given for a folder or file of a run that was never ingested."""


class IngestResult(NamedTuple):
    """The outcome of ingesting a folder."""

    root: str
    files: int
    """The number of files: read, known and skipped."""
    read: int
    skipped: list[SkippedFile]

    @property
    def known(self) -> int:
        """The number of files that were read before and have not changed."""
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
    """Read every file below a folder, or one file, and store its pages.

    Args:
        owner: The owner of the pages.
        folder: The folder or file.
        progress: Called with the path of each file that is done.
        limits: The limits of one file.
        expect: Called once with the number of files.
        clean: Maps every text to the text that is stored.

    Raises:
        Problem: `docs_not_found`, `docs_unreadable` or `docs_empty`.
    """
    root = await anyio.to_thread.run_sync(_real, folder)
    files = await anyio.to_thread.run_sync(_listed, root)
    expect(len(files))
    known = await _known(owner, str(root))
    gate = anyio.Semaphore(SIDE_BY_SIDE)
    due = await anyio.to_thread.run_sync(_due, files, known)
    options = _ReadOptions(limits or FileLimits(), clean, sum(file.size for file in due) > MUCH)
    changed = {str(file.path) for file in due}

    async def ingest(batch: Sequence[PendingFile]) -> None:
        """Read and store one batch; the gate says how many are read at once."""
        async with gate:
            await _ingest_batch(owner, str(root), batch, options)
            for file in batch:
                progress(str(file.path))

    for file in files:
        if str(file) not in changed:
            progress(str(file))
    await _run_all(list(batch_files(due)), ingest)
    for path in known.keys() - {str(file) for file in files}:
        await library_documents.unlist_document(owner, str(root), path)
    skipped = await _skipped(owner, str(root))
    if len(skipped) == len(files):
        what = f"nothing in {root} can be read"
        raise Problem(
            ErrorCode.DOCS_EMPTY, what, where=skipped[0].reason, hint="see the list of types"
        )
    read = changed - {file.path for file in skipped}
    return IngestResult(str(root), len(files), len(read), skipped)


class FileCopy(NamedTuple):
    """A file of another place: its path there, what it is like there, and a copy to read."""

    path: str
    size: int
    version: int
    """A number that is another one when the file has changed."""
    copy: Path | None = None
    failure: tuple[str, str] = ("", "")
    """The code and the reason why there is no copy."""


async def ingest_copy(
    owner: str,
    root: str,
    file: FileCopy,
    limits: FileLimits,
    clean: Callable[[str], str] = str,
) -> SkippedFile | None:
    """Read a copy of a file, and store its pages as those of the file; or say why not.

    `clean` maps every text to the text that is stored.
    """
    outcome, sha256 = FileOutcome([], *file.failure), ""
    if file.copy:
        sha256 = await anyio.to_thread.run_sync(_hash, file.copy, limits.size)
        options = _ReadOptions(limits, clean, in_worker=True)
        if problem := await _store_file(owner, root, file.copy, sha256, options):
            outcome = FileOutcome([], problem.code, problem.what)
    known = PendingFile(Path(file.path), file.size, file.version)
    row = _document(known, sha256, outcome).row
    await library_documents.record_document(owner, root, file.path, row)
    return SkippedFile(file.path, outcome.code, outcome.reason) if outcome.code else None


async def find_changed_copies(
    owner: str, root: str, files: Sequence[FileCopy]
) -> tuple[list[FileCopy], list[str]]:
    """Return the files that are new or have changed, and the paths of those that are gone."""
    known = await _known(owner, root)
    rows = {path: (row.size, row.modified, row.reader) for path, row in known.items()}
    due = [one for one in files if rows.get(one.path) != (one.size, one.version, READER)]
    return due, sorted(rows.keys() - {one.path for one in files})


def list_ignored_files(root: Path) -> list[SkippedFile]:
    """Return the files below a folder that `ingest_folder` does not open, with the reasons."""
    files, others = find_files(root), find_unreadable_files(root)
    nameless, reports = filterfalse(_is_text, map(str, files)), filter(_own_report, files)
    return [
        *(SkippedFile(str(one), "file_type", explain_unread_type(one.name)) for one in others),
        *(SkippedFile(repr(one), "file_name", "its name is no text") for one in nameless),
        *(SkippedFile(str(one), "own_report", "a report of dossier itself") for one in reports),
    ]


async def list_unread_files(owner: str, roots: Sequence[str]) -> list[SkippedFile]:
    """Return the files below folders that could not be read, with the reasons.

    A folder that was never ingested is returned itself, without its files.
    """
    known = [root for root in roots if await _known(owner, root)]
    unknown = [
        SkippedFile(root, "docs_unknown", NEVER_INGESTED) for root in roots if root not in known
    ]
    read = [await _skipped(owner, root) for root in known]
    folders = [Path(root) for root in known if await anyio.Path(root).is_dir()]
    ignored = [await anyio.to_thread.run_sync(list_ignored_files, root) for root in folders]
    found = [file for files in [*read, *ignored] for file in files if file.code != "own_report"]
    return unknown + sorted({file.path: file for file in found}.values())


async def _run_all(
    batches: Sequence[Sequence[PendingFile]],
    ingest: Callable[[Sequence[PendingFile]], Coroutine[Any, Any, None]],
) -> None:
    try:
        async with anyio.create_task_group() as tasks:
            for batch in batches:
                tasks.start_soon(ingest, batch)
    except ExceptionGroup as failures:
        # What stops one batch, such as a full disk, stops them all.
        raise failures.exceptions[0] from failures


def _is_text(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _own_report(file: Path) -> bool:
    """Return whether a file is a report by Dossier, which must not become a source itself."""
    both = ("report.md", "report.html")
    if file.name in both and all((file.parent / name).is_file() for name in both):
        return True
    if file.suffix.lower() not in (".html", ".htm"):
        return False
    try:
        with file.open("rb") as opened:
            return GENERATED in opened.read(2_000)
    except OSError:
        return False


def _real(folder: Path) -> Path:
    # The methods of Path raise on a link to itself, and on the home of an unknown user.
    return Path(os.path.realpath(os.path.expanduser(folder)))


def _listed(root: Path) -> list[Path]:
    # The methods of Path raise on a name that is too long.
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
    # A name that is no text can neither be stored nor shown.
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
    """Return the files that are new or have changed."""
    due = []
    for file in files:
        try:
            state = file.stat()
        except OSError as error:
            due.append(PendingFile(file, 0, 0, error.strerror or "cannot be read"))
            continue
        row, now = known.get(str(file)), (state.st_size, state.st_mtime_ns)
        if row is None or (row.size, row.modified) != now or row.reader != READER:
            due.append(PendingFile(file, *now))
    return due


async def _ingest_batch(
    owner: str, root: str, batch: Sequence[PendingFile], options: _ReadOptions
) -> None:
    """Read short files and store them together; if one of them fails, each alone."""
    if batch[0].is_short and options.clean is str:
        try:
            read = await _read_documents(owner, batch, options)
        except (OSError, WorkerLost):  # A `TimeoutError` is an `OSError`.
            pass  # Reading each file alone below finds the one that fails.
        else:
            await library_documents.store_files(owner, root, read)
            return
    for file in batch:
        await _ingest_file(owner, root, file, options)


async def _read_documents(
    owner: str, batch: Sequence[PendingFile], options: _ReadOptions
) -> list[library_documents.ReadDocument]:
    """Return files as documents to store; known contents are not read again."""
    size = options.limits.size
    hashes = await anyio.to_thread.run_sync(lambda: [_hash(file.path, size) for file in batch])
    known = await _known_hashes(owner, hashes)
    named = {file.path: sha256 for file, sha256 in zip(batch, hashes, strict=True)}
    new = [(path, sha256) for path, sha256 in named.items() if sha256 not in known]
    work, seconds = partial(read_batch, new, options.limits), options.limits.seconds
    outcomes = await run_apart(work, seconds, in_worker=options.in_worker) if new else []
    read = {path: outcome for (path, _), outcome in zip(new, outcomes, strict=True)}
    unread = FileOutcome([])
    return [_document(file, named[file.path], read.get(file.path, unread)) for file in batch]


def _document(
    file: PendingFile, sha256: str, outcome: FileOutcome
) -> library_documents.ReadDocument:
    row = {"sha256": sha256, "code": outcome.code, "reason": outcome.reason, "reader": READER}
    row |= {"size": file.size, "modified": file.modified}
    return library_documents.ReadDocument(str(file.path), outcome.pages, row)


async def _ingest_file(owner: str, root: str, file: PendingFile, options: _ReadOptions) -> None:
    """Read one file alone."""
    failure, sha256, outcome = file.failure, "", FileOutcome([])
    if not failure:
        try:
            sha256 = await anyio.to_thread.run_sync(_hash, file.path, options.limits.size)
        except OSError as error:
            failure = error.strerror or "cannot be read"
    if failure:
        file = PendingFile(file.path, 0, 0)
        outcome = FileOutcome([], ErrorCode.FILE_UNREADABLE.value, failure)
    elif problem := await _store_file(owner, root, file.path, sha256, options):
        outcome = FileOutcome([], problem.code, problem.what)
    document = _document(file, sha256, outcome)
    await library_documents.record_document(owner, root, document.path, document.row)


async def _store_file(
    owner: str, root: str, file: Path, sha256: str, options: _ReadOptions
) -> Problem | None:
    if await _known_hashes(owner, [sha256]):
        return None
    try:
        read = await extract_document(file, options.limits, in_worker=options.in_worker)
        document = await anyio.to_thread.run_sync(_cleaned, read, options.clean)
    except Problem as problem:
        return problem
    new = make_document_pages(document, sha256)
    # Pages that join the namespace of their folder later would be removed from the index for that.
    try:
        origin = PageOrigin(owner, "file", sha256, root)
        await pages.store_page_batches(origin, _prepared(options, new))
    except Problem as problem:
        if problem.code != ErrorCode.TEXT_TIMEOUT:
            raise
        return problem
    return None


def _cleaned(document: ParsedDocument, clean: Callable[[str], str]) -> ParsedDocument:
    """Return a document with cleaned texts."""
    if clean is str:
        return document
    sections = [
        DocumentSection(
            title=clean(section["title"]), place=section["place"], text=clean(section["text"])
        )
        for section in document["sections"]
    ]
    made: ParsedDocument = {**document, "title": clean(document["title"]), "sections": sections}
    if "metadata" in document:
        author = clean(document["metadata"].author)
        made["metadata"] = document["metadata"]._replace(author=author)
    return made


async def _prepared(
    options: _ReadOptions, new: Sequence[page_rows.NewPage]
) -> AsyncGenerator[list[page_rows.NewPage], None]:
    """Yield the pages of a document in batches; those of a long one are made on all cores."""
    batches = [new[at : at + BATCH] for at in range(0, len(new), BATCH)]
    if len(batches) < 2 and not options.in_worker:
        yield await run_abandonable(prepare_pages, new)
        return
    tasks = [asyncio.create_task(_prepare_in_worker(batch)) for batch in batches]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()


async def _prepare_in_worker(new: Sequence[page_rows.NewPage]) -> list[page_rows.NewPage]:
    """Make pages in a worker process, or in a thread if that fails or takes too long."""
    try:
        return await run_in_worker(partial(prepare_pages, new), SECONDS)
    except (TimeoutError, WorkerLost):
        return await run_abandonable(prepare_pages, new)


async def _known_hashes(owner: str, hashes: Sequence[str]) -> set[str]:
    """Return the hashes of contents that the current readers have read."""
    same = select(documents.c.sha256).where(
        documents.c.owner == owner,
        documents.c.sha256.in_(hashes),
        documents.c.reader == READER,
        documents.c.code == "",
    )
    return set((await read_rows(same)).scalars())


def _hash(file: Path, most: int) -> str:
    """Hash a file; of a file above the size limit, only its beginning."""
    digest, left = hashlib.sha256(), most + 1
    with file.open("rb") as opened:
        while data := opened.read(min(left, HASHED)):
            digest.update(data)
            left -= len(data)
    return digest.hexdigest()


async def _known(owner: str, root: str) -> dict[str, Any]:
    mine = select(documents).where(documents.c.owner == owner, documents.c.root == root)
    return {row.path: row for row in await read_rows(mine)}


async def _skipped(owner: str, root: str) -> list[SkippedFile]:
    rows = (await _known(owner, root)).values()
    return sorted(SkippedFile(row.path, row.code, row.reason) for row in rows if row.code)
