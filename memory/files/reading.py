"""Read all memory files of an owner, those too that no call could be told."""

from __future__ import annotations

from typing import NamedTuple

from config.errors import Problem
from memory.base import Note, Query
from memory.files.memory import notes_of
from memory.files.sources import Source, on_disk
from memory.files.text import decoded
from retrieval.tokens import count


class Held(NamedTuple):
    """A memory file that is there: what it holds, or why that cannot be read."""

    source: Source
    text: str
    data: bytes = b""
    problem: Problem | None = None


async def held(owner: str) -> list[Held]:
    """Return an owner's memory files, in the order in which calls are told of them."""
    every = [await _held(source) for source in await on_disk(Query(owner, "", ""))]
    return [one for one in every if one is not None]


async def unreadable(owner: str) -> list[Problem]:
    """Return why some of an owner's memory files cannot be read, each with its path."""
    return [one.problem for one in await held(owner) if one.problem is not None]


async def above(owner: str, most: int) -> list[tuple[str, int]]:
    """Return the memory files that are too long together, each with its tokens; else none.

    Args:
        owner: Whose.
        most: How many tokens all of them may have.
    """
    every = [(note.title, count(note.text)) for one in await held(owner) for note in _notes(one)]
    return every if sum(tokens for _, tokens in every) > most else []


def _notes(one: Held) -> list[Note]:
    return [] if one.problem else list(notes_of(one.source.path, one.data))


async def _held(source: Source) -> Held | None:
    try:
        data = await source.files.read(source.path)
        return None if data is None else Held(source, decoded(data, source.path), data)
    except Problem as problem:
        return Held(source, "", problem=problem)
