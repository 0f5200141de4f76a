"""The memory of AGENTS.md files: what people write for their agents, and what agents may add."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete

from config.errors import Problem
from memory.agents_md import content
from memory.agents_md.backends import change_file
from memory.agents_md.edits import NOTHING_READ, EditRequester, FileEdit, ReadHistory, propose_edit
from memory.agents_md.file_sources import (
    FileSource,
    FileSources,
    disk_sources,
    list_exportable_files,
    read_on_disk,
)
from memory.agents_md.project_trust import undo_trust
from memory.agents_md.proposals import ITEM_CHARS, Proposal, undo_file_edit
from memory.protocol import Erase, ErasureRequest, Export, Memory, MemoryItem, Note, Query
from memory.tables import proposals
from storage.events import Event, LoggedEvent, Reverse, empty_events, log_event
from text.tokens import bytes_fit, count_tokens, estimate_tokens
from text.words import search_words

LEARNED = "#learned"
"""Follows the path of a file in the title of the note of the agents' section."""

UNREADABLE = "unreadable"
"""The state of a file that no call can be given; its text says why."""


class AgentsMdMemory(Memory):
    """What memory files say: the person's, and those of the project."""

    name = "instructions"
    share = 0.3
    event_names = ("file", "project")
    not_editable = "it is your own file", "open it in an editor; calls see it at once"

    def __init__(self, sources: FileSources = disk_sources) -> None:
        """Set where the files are: `disk_sources`, `state_sources`, `store_sources` and others."""
        self.sources = sources

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return a note for each file that has text, in the order of the sources.

        The section that agents write is a note of its own.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        files = await self._read(query)
        notes = [note for path, data in files for note in file_notes(path, data or b"")]
        if sum(estimate_tokens(note.text) for note in notes) <= budget * self.share:
            return notes
        # Not all of it may fit: the lines about this call come first.
        ordered = partial(asyncio.to_thread, content.order_by_relevance, about=query.context)
        return [note._replace(line_order=await ordered(note.text)) for note in notes]

    async def _read(self, query: Query) -> list[tuple[str, bytes | None]]:
        if self.sources is disk_sources:
            return await read_on_disk(query)
        sources = await self.sources(query)
        contents = await asyncio.gather(*(source.files.read(source.path) for source in sources))
        return list(zip((source.path for source in sources), contents, strict=True))

    async def record(
        self,
        owner: str,
        new: FileEdit,
        *,
        run: str = "",
        why: str = "",
        step: str = "",
        sources: Sequence[FileSource] | None = None,
        read: ReadHistory = NOTHING_READ,
    ) -> Proposal:
        """Propose an edit of the agents' section; `memory.agents_md.edits.propose_edit` says how.

        Args:
            owner: Whose file.
            new: The edit.
            run: The run that asks for it.
            why: The reason, where the edit has none.
            step: The step of the run.
            sources: The files there are; those of this memory by default.
            read: What the agent has read.

        Raises:
            Problem: `edit_refused`, or what is wrong with the file.
        """
        places = await self.sources(Query(owner, "", "")) if sources is None else sources
        edit = new if new.why else new._replace(why=why)
        return await propose_edit(EditRequester(owner, run, step), places, edit, read)

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the files, in the order of their notes in a call."""
        del every
        return (await _items(owner))[:limit]

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the file of a path; after an `@` the id may have a revision."""
        path = (id.rpartition("@")[0] or id).removesuffix(LEARNED)
        return [item for item in await _items(owner) if item.id == path]

    async def find_revision(
        self, owner: str, id: str, revision: int
    ) -> tuple[str | None, MemoryItem | None]:
        """Return what a file said, if it still says that: the hash in the id tells."""
        _, item = await super().find_revision(owner, id, revision)
        if item is None or item.state:
            return None, item
        files = await list_memory_files(owner)
        notes = [note for one in files if one.source.path == item.id for note in one.notes]
        said = next((note.text for note in notes if note.id == id), None)
        now = next((note.text for note in notes if note.title == id.rpartition("@")[0]), "")
        return said, item._replace(text=now, state="changed since" if said is None else "")

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the files that share a word with the query, and those that cannot be read."""
        words = set(search_words(query))
        items = await _items(owner)
        return [one for one in items if one.state or words & set(search_words(one.text))][:limit]

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Take an edit out of its file; or take back that a folder was trusted.

        Raises:
            Problem: What `memory.agents_md.proposals.undo_file_edit` raises.
        """
        if logged.event.name.startswith("project."):
            return partial(undo_trust, logged=logged)
        return await undo_file_edit(logged)

    async def export(self, owner: str) -> Export:
        """Return the files by the names that they have in any home, without unreadable ones."""
        names = {one.path: name for name, one in (await list_exportable_files(owner)).items()}
        known = [one for one in await list_memory_files(owner) if one.problem is None]
        files = [{"name": names[one.source.path], "text": one.text} for one in known]
        return lambda _: {"files": files}

    async def erase(self, request: ErasureRequest) -> Erase:
        """Erase lines of the agents' sections: all of the named files, else what repeats.

        The person's own lines stay, and a file that cannot be read stays as it is.

        Raises:
            Problem: What keeps a file from being written.
        """
        for one in await list_memory_files(request.owner):
            if one.sections.learned:
                await _erase_section(one.source, request)
        return partial(_erase, request=request)


INSTRUCTIONS = AgentsMdMemory()


def file_notes(path: str, data: bytes) -> Iterator[Note]:
    """Yield what a file says; its id holds the hash of its content, so it names one revision.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    before, learned, after = _sections(content.decode_file(data, path), path)
    revision = hashlib.sha256(data).hexdigest()[:12]
    for title, text in ((path, before + after), (f"{path}{LEARNED}", learned)):
        if visible := content.visible_text(text.removeprefix("\ufeff")):
            yield Note(title, visible, f"{title}@{revision}")


def _sections(text: str, path: str) -> content.FileSections:
    """Return a file's text in parts; one whose marks are broken is all the person's."""
    try:
        return content.split_sections(text, path)
    except Problem:
        return content.FileSections(text, "", "")


class MemoryFile(NamedTuple):
    """A memory file that exists: what it says, or why that cannot be read."""

    source: FileSource
    text: str
    data: bytes = b""
    problem: Problem | None = None

    @property
    def sections(self) -> content.FileSections:
        """Its text in parts."""
        return _sections(self.text, self.source.path)

    @property
    def notes(self) -> list[Note]:
        """What a call is given of it."""
        return [] if self.problem else list(file_notes(self.source.path, self.data))


async def list_memory_files(owner: str) -> list[MemoryFile]:
    """Return an owner's memory files, in the order of their notes in a call."""
    files = [await _read_file(source) for source in await disk_sources(Query(owner, "", ""))]
    return [one for one in files if one is not None]


async def _read_file(source: FileSource) -> MemoryFile | None:
    try:
        data = await source.files.read(source.path)
        if data is None:
            return None
        return MemoryFile(source, content.decode_file(data, source.path), data)
    except Problem as problem:
        return MemoryFile(source, "", problem=problem)


async def unreadable_files(owner: str) -> list[Problem]:
    """Return why some of an owner's memory files cannot be read, each with its path."""
    return [one.problem for one in await list_memory_files(owner) if one.problem is not None]


async def files_over_budget(owner: str, most: int) -> list[tuple[str, int]]:
    """Return the memory files if they are too long together, each with its tokens.

    Args:
        owner: Whose.
        most: How many tokens all of them may have.
    """
    notes = [note for one in await list_memory_files(owner) for note in one.notes]
    if bytes_fit((note.text for note in notes), most):
        return []
    sizes = [(note.title, count_tokens(note.text)) for note in notes]
    return sizes if sum(tokens for _, tokens in sizes) > most else []


async def _items(owner: str) -> list[MemoryItem]:
    return [_item(one) for one in await list_memory_files(owner)]


def _item(one: MemoryFile) -> MemoryItem:
    path = one.source.path
    if one.problem is not None:
        why = " — ".join(filter(None, [one.problem.what, one.problem.hint]))
        return MemoryItem("instructions", path, why, state=UNREADABLE)
    more = {"learned": one.sections.learned}
    return MemoryItem("instructions", path, one.text, title=path, more=more)


async def find_affected_memory_files(request: ErasureRequest) -> list[str]:
    """Return the paths of the memory files of which lines that agents wrote are erased."""
    learned = {
        one.source.path: one.sections.learned for one in await list_memory_files(request.owner)
    }
    return [
        path
        for path, text in learned.items()
        if text and (path in request.ids or request.redact(text) != text)
    ]


async def find_personal_mentions(request: ErasureRequest) -> list[str]:
    """Return the paths of the memory files whose own lines repeat what is erased."""
    own = {
        one.source.path: f"{one.sections.before}\n{one.sections.after}"
        for one in await list_memory_files(request.owner)
    }
    return [path for path, text in own.items() if request.redact(text) != text]


async def _erase_section(source: FileSource, request: ErasureRequest) -> None:
    path = source.path

    def without(data: bytes | None) -> bytes:
        """Return the file without the learned lines to erase, or without all if it is named."""
        text = content.decode_file(data or b"", path)
        lines = _sections(text, path).learned.splitlines(keepends=True)
        kept = [] if path in request.ids else [one for one in lines if request.redact(one) == one]
        return content.replace_learned(text, "".join(kept), path).encode()

    await change_file(source.files, path, without)


def _erase(connection: Connection, request: ErasureRequest) -> None:
    owner, paths = request.owner, request.ids
    items = [path[-ITEM_CHARS:] for path in paths]
    empty_events(connection, owner, items)
    mine = delete(proposals).filter_by(owner=owner)
    connection.execute(mine.where(proposals.c.path.in_(paths)))
    for item in items:
        log_event(connection, Event(owner, "file.forget", item, why=request.why))
