"""Tell every model call what memory files say, and show people all of them, unreadable ones too."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from config.errors import Problem
from memory.agents_md.content import FileSections, decode_file, split_sections, visible_text
from memory.agents_md.file_sources import FileSource, FileSources, disk_sources, read_on_disk
from memory.protocol import CatalogItem, Note, Query, not_editable_problem
from text.keyword_ranking import rank_texts
from text.regex import regex
from text.tokens import count_tokens, estimate_tokens
from text.words import search_words

BEGINNING = 150
"""How many tokens of the beginning every call is told: it says what the file is about."""

_FENCE = regex(r"[ ]{0,3}(?:`{3,}|~{3,})")
_ITEM = regex(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = regex(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")


class _Rule(NamedTuple):
    """Lines that belong together, such as an item of a list, and the heading above them."""

    lines: range
    heading: int | None


@lru_cache(maxsize=64)
def order_by_relevance(text: str, about: str) -> tuple[int, ...]:
    """Return the numbers of the lines of a text, those that matter most for something first.

    The beginning always comes first, then the rules that are about it, each with its heading, then
    all others in their order.
    """
    lines = text.split("\n")
    rules = list(_rules(lines))
    ranked = rank_texts(about, ["\n".join(_told(lines, rule)) for rule in rules])
    order = dict.fromkeys(range(_beginning(lines)))
    for at, _ in ranked:
        heading = rules[at].heading
        order |= dict.fromkeys([*([] if heading is None else [heading]), *rules[at].lines])
    return tuple(order | dict.fromkeys(range(len(lines))))


def _beginning(lines: list[str]) -> int:
    """Return how many lines the beginning has; the first one at least."""
    room = BEGINNING
    for at, line in enumerate(lines):
        room -= estimate_tokens(line) + 1
        if room < 0:
            return max(at, 1)
    return len(lines)


def _told(lines: list[str], rule: _Rule) -> list[str]:
    heading = [] if rule.heading is None else [lines[rule.heading]]
    return [*heading, *(lines[at] for at in rule.lines)]


def _rules(lines: list[str]) -> Iterator[_Rule]:
    """Yield the paragraphs, items of lists and blocks of code of a text."""
    heading, start, fenced = None, 0, False
    for at, line in enumerate(lines):
        fence = bool(_FENCE.match(line))
        begins = not fenced and (not line.strip() or _ITEM.match(line) or _HEADING.match(line))
        if begins:
            yield from _rule(start, at, heading)
            start = at
        if begins and _HEADING.match(line):
            heading = start = at
            start += 1
        elif begins and not line.strip():
            start += 1
        fenced = fenced != fence
    yield from _rule(start, len(lines), heading)


def _rule(start: int, end: int, heading: int | None) -> Iterator[_Rule]:
    if start < end:
        yield _Rule(range(start, end), heading)


LEARNED = "#learned"
"""What stands behind the path of a file in the title of what agents wrote into it."""


class AgentsMdMemory:
    """What memory files say: the person's, and those of the project."""

    name = "instructions"
    share = 0.3

    def __init__(self, sources: FileSources = disk_sources) -> None:
        """Say where the files are: `disk_sources`, `state_sources`, `store_sources` and others."""
        self.sources = sources

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return a note for each file that says something, in the order of the sources.

        What agents wrote into a file is a note of its own.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        held = await self._read(query)
        notes = [note for path, data in held for note in file_notes(path, data or b"")]
        if sum(estimate_tokens(note.text) for note in notes) <= budget * self.share:
            return notes
        # Not all of it may fit: what is about this call is told before the rest.
        about = query.context
        return [
            note._replace(line_order=await asyncio.to_thread(order_by_relevance, note.text, about))
            for note in notes
        ]

    async def _read(self, query: Query) -> list[tuple[str, bytes | None]]:
        if self.sources is disk_sources:
            return await read_on_disk(query)
        sources = await self.sources(query)
        held = await asyncio.gather(*(source.files.read(source.path) for source in sources))
        return [(source.path, data) for source, data in zip(sources, held, strict=True)]


def file_notes(path: str, data: bytes) -> Iterator[Note]:
    """Yield what a file says; its id holds the hash of its content, so it names one revision.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    before, inside, after = _divided(decode_file(data, path), path)
    revision = hashlib.sha256(data).hexdigest()[:12]
    for title, text in ((path, before + after), (f"{path}{LEARNED}", inside)):
        if said := visible_text(text.removeprefix("\ufeff")):
            yield Note(title, said, f"{title}@{revision}")


def _divided(text: str, path: str) -> FileSections:
    """Return a file's text in parts; one whose marks are broken is all the person's."""
    try:
        return split_sections(text, path)
    except Problem:
        return FileSections(text, "", "")


class MemoryFile(NamedTuple):
    """A memory file that is there: what it holds, or why that cannot be read."""

    source: FileSource
    text: str
    data: bytes = b""
    problem: Problem | None = None


async def list_memory_files(owner: str) -> list[MemoryFile]:
    """Return an owner's memory files, in the order in which calls are told of them."""
    every = [await _read_file(source) for source in await disk_sources(Query(owner, "", ""))]
    return [one for one in every if one is not None]


async def unreadable_files(owner: str) -> list[Problem]:
    """Return why some of an owner's memory files cannot be read, each with its path."""
    return [one.problem for one in await list_memory_files(owner) if one.problem is not None]


async def files_over_budget(owner: str, most: int) -> list[tuple[str, int]]:
    """Return the memory files that are too long together, each with its tokens; else none.

    Args:
        owner: Whose.
        most: How many tokens all of them may have.
    """
    every = [
        (note.title, count_tokens(note.text))
        for one in await list_memory_files(owner)
        for note in _notes(one)
    ]
    return every if sum(tokens for _, tokens in every) > most else []


def _notes(one: MemoryFile) -> list[Note]:
    return [] if one.problem else list(file_notes(one.source.path, one.data))


async def _read_file(source: FileSource) -> MemoryFile | None:
    try:
        data = await source.files.read(source.path)
        return None if data is None else MemoryFile(source, decode_file(data, source.path), data)
    except Problem as problem:
        return MemoryFile(source, "", problem=problem)


UNREADABLE = "unreadable"
"""The state of a file that no call can be told; its text says why."""


class AgentsMdView:
    """What memory files on this machine say."""

    name = "instructions"

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return the files that are there, in the order in which calls are told of them."""
        del every
        return (await _items(owner))[:limit]

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return the file of this path; what stands behind `@` is the revision somebody saw."""
        path = id.rpartition("@")[0] or id
        return [item for item in await _items(owner) if item.id == path.removesuffix(LEARNED)]

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return the files that have one of the words, and those that may have it."""
        asked = set(search_words(query))
        items = await _items(owner)
        return [one for one in items if one.state or asked & set(search_words(one.text))][:limit]

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Refuse: the file is the person's own."""
        del owner, text
        raise not_editable_problem(
            id, "it is your own file", "open it in an editor; calls see it at once"
        )


async def _items(owner: str) -> list[CatalogItem]:
    return [_item(one) for one in await list_memory_files(owner)]


def _item(one: MemoryFile) -> CatalogItem:
    path = one.source.path
    if one.problem is not None:
        why = " — ".join(filter(None, [one.problem.what, one.problem.hint]))
        return CatalogItem("instructions", path, why, state=UNREADABLE)
    return CatalogItem("instructions", path, one.text, title=path, more={"learned": _learned(one)})


def _learned(one: MemoryFile) -> str:
    try:
        return split_sections(one.text, one.source.path).learned
    except Problem:
        return ""
