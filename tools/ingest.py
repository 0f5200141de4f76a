"""Read a person's folder into the page store, again only what has changed."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from sqlalchemy import select

from config.errors import Problem
from memory.pages import store as pages
from memory.pages.rows import Origin
from memory.pages.sizing import prepared
from report.citations import SECTION
from storage.engine import read_rows
from storage.tables import documents
from tools.apart import WorkerLost, run_apart
from tools.files.folder import find_files, others
from tools.files.kinds import unread_type
from tools.files.reading import extract
from tools.files.shapes import Document, Limits, Section

READER = 4
"""Raised when the reading of files changes, so that known files are read again."""

KINDS = "txt, md, html, pdf, docx, odt, rtf, pptx, xlsx, csv, epub, eml, msg, ipynb"
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


class Skipped(NamedTuple):
    """A file that could not be read, and why."""

    path: str
    code: str
    reason: str


class Way(NamedTuple):
    """How files are read: what one may cost, what of a text may be kept, and in which process."""

    limits: Limits
    clean: Callable[[str], str]
    apart: bool


UNKNOWN = "it was not read in"
"""What is said of a folder or file that a run is to search and that nobody had read."""


class Library(NamedTuple):
    """What is known of a folder after it was read."""

    root: str
    files: int
    """How many there are: read, known and skipped."""
    read: int
    skipped: list[Skipped]

    @property
    def known(self) -> int:
        """How many were read before and have not changed."""
        return self.files - self.read - len(self.skipped)


async def ingest(
    owner: str,
    folder: Path,
    progress: Callable[[str], None],
    limits: Limits | None = None,
    *,
    expect: Callable[[int], None] = lambda _: None,
    clean: Callable[[str], str] = str,
) -> Library:
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
    much = await anyio.to_thread.run_sync(_due, files, known) > MUCH
    way = Way(limits or Limits(), clean, much)
    changed: list[str] = []

    async def one(file: Path) -> None:
        async with gate:
            if await _ingest_file(owner, str(root), file, known.get(str(file)), way):
                changed.append(str(file))
            progress(str(file))

    await _each(files, one)
    for path in known.keys() - {str(file) for file in files}:
        await pages.forget_document(owner, str(root), path)
    skipped = await _skipped(owner, str(root))
    if len(skipped) == len(files):
        what = f"nothing in {root} can be read"
        raise Problem("docs_empty", what, where=skipped[0].reason, hint="see the list of types")
    read = {*changed} - {one.path for one in skipped}
    return Library(str(root), len(files), len(read), skipped)


def passed_over(root: Path) -> list[Skipped]:
    """Return the files below a folder that `ingest` does not even open, and why."""
    found = find_files(root)
    strange = [Skipped(str(file), "file_type", unread_type(file.name)) for file in others(root)]
    unnamed = [
        Skipped(repr(str(file)), "file_name", "its name is no text")
        for file in found
        if not _is_text(str(file))
    ]
    own = [
        Skipped(str(file), "own_report", "a report of dossier itself")
        for file in found
        if _own_report(file)
    ]
    return strange + unnamed + own


async def left_out(owner: str, roots: Sequence[str]) -> list[Skipped]:
    """Return the files below some folders that could not be read, and why.

    A folder that was never read in is one of them itself, and is not looked into.
    """
    known = [root for root in roots if await _known(owner, root)]
    strange = [Skipped(root, "docs_unknown", UNKNOWN) for root in roots if root not in known]
    read = [await _skipped(owner, root) for root in known]
    there = [Path(root) for root in known if await anyio.Path(root).is_dir()]
    passed = [await anyio.to_thread.run_sync(passed_over, root) for root in there]
    found = [one for some in [*read, *passed] for one in some if one.code != "own_report"]
    return strange + sorted({one.path: one for one in found}.values())


async def _each(files: list[Path], do: Callable[[Path], Coroutine[Any, Any, None]]) -> None:
    try:
        async with anyio.create_task_group() as tasks:
            for file in files:
                tasks.start_soon(do, file)
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
        raise Problem("docs_not_found", what, where=str(root), hint=hint)
    try:
        files = find_files(root)
    except PermissionError as error:
        raise Problem("docs_unreadable", "it may not be read", where=str(root)) from error
    # A name that is no text can neither be kept nor shown.
    files = [file for file in files if _is_text(str(file)) and not _own_report(file)]
    if not files:
        hint = f"what can be read: {KINDS}"
        raise Problem("docs_empty", "there is no file to read", where=str(root), hint=hint)
    return files


async def _ingest_file(owner: str, root: str, file: Path, known: Any | None, way: Way) -> bool:
    """Read one file unless it is known; say whether it was read."""
    try:
        state = await anyio.Path(file).stat()
        seen = (state.st_size, state.st_mtime_ns, READER)
        if known is not None and (known.size, known.modified, known.reader) == seen:
            return False
        sha256 = await anyio.to_thread.run_sync(_hash, file, way.limits.size)
    except OSError as error:
        seen, sha256 = (0, 0, READER), ""
        problem: Problem | None = Problem("file_unreadable", error.strerror or "cannot be read")
    else:
        problem = await _keep(owner, root, file, sha256, way)
    code, reason = (problem.code, problem.what) if problem else ("", "")
    row: dict[str, Any] = {"sha256": sha256, "code": code, "reason": reason}
    row |= dict(zip(("size", "modified", "reader"), seen, strict=True))
    await pages.note_document(owner, root, str(file), row)
    return True


def _due(files: Sequence[Path], known: Mapping[str, Any]) -> int:
    """Return how many bytes the files have that are not known as they are."""
    due = 0
    for file in files:
        with suppress(OSError):  # It is told of when it is read.
            state, seen = file.stat(), known.get(str(file))
            same = seen and (seen.size, seen.modified) == (state.st_size, state.st_mtime_ns)
            due += 0 if same else state.st_size
    return due


async def _keep(owner: str, root: str, file: Path, sha256: str, way: Way) -> Problem | None:
    if await _is_read(owner, sha256):
        return None
    try:
        document = await anyio.to_thread.run_sync(
            _cleaned, await extract(file, way.limits, apart=way.apart), way
        )
    except Problem as problem:
        return problem
    # A dash like this parts the title of a document from that of a section.
    title = document["title"].replace(SECTION, " – ")
    new = [
        pages.NewPage(
            title=title
            if one["title"] in ("", document["title"])
            else f"{title}{SECTION}{one['title']}",
            place=one["place"],
            text=one["text"],
            session=sha256,
        )
        for one in document["sections"]
    ]
    # Pages that come into the namespace of their folder later are taken out of the index for that.
    await pages.keep_each(Origin(owner, "file", sha256, root), _prepared(way, new))
    return None


def _cleaned(document: Document, way: Way) -> Document:
    """Return a document of which every text is what may be kept."""
    if way.clean is str:
        return document
    sections = [
        Section(title=way.clean(one["title"]), place=one["place"], text=way.clean(one["text"]))
        for one in document["sections"]
    ]
    return Document(title=way.clean(document["title"]), sections=sections)


async def _prepared(
    way: Way, new: Sequence[pages.NewPage]
) -> AsyncGenerator[list[pages.NewPage], None]:
    """Make the pages of a document; those of a long one on every core, while some are written."""
    batches = [new[at : at + BATCH] for at in range(0, len(new), BATCH)]
    if len(batches) < 2 and not way.apart:
        yield await anyio.to_thread.run_sync(prepared, new)
        return
    tasks = [asyncio.create_task(_apart(batch)) for batch in batches]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()


async def _apart(new: Sequence[pages.NewPage]) -> list[pages.NewPage]:
    """Make pages in a worker process, or here where it is lost or has no time."""
    try:
        return await run_apart(partial(prepared, new), SECONDS)
    except (TimeoutError, WorkerLost):
        return await anyio.to_thread.run_sync(prepared, new)


async def _is_read(owner: str, sha256: str) -> bool:
    """Say whether a file with this very content was read as it would be read today."""
    same = select(documents.c.path).where(
        documents.c.owner == owner,
        documents.c.sha256 == sha256,
        documents.c.reader == READER,
        documents.c.code == "",
    )
    return (await read_rows(same.limit(1))).first() is not None


def _hash(file: Path, most: int) -> str:
    """Hash a file; of one that is too large to be read, only as much as could be."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        digest.update(opened.read(most + 1))
    return digest.hexdigest()


async def _known(owner: str, root: str) -> dict[str, Any]:
    mine = select(documents).where(documents.c.owner == owner, documents.c.root == root)
    return {row.path: row for row in await read_rows(mine)}


async def _skipped(owner: str, root: str) -> list[Skipped]:
    rows = (await _known(owner, root)).values()
    return sorted(Skipped(row.path, row.code, row.reason) for row in rows if row.code)
