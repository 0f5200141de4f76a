"""Read all memory files of an owner, those too that no call could be told."""

from __future__ import annotations

from typing import NamedTuple

from config.errors import Problem
from memory.base import Query
from memory.files.sources import Source, on_disk
from memory.files.text import decoded


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


async def _held(source: Source) -> Held | None:
    try:
        data = await source.files.read(source.path)
        return None if data is None else Held(source, decoded(data, source.path), data)
    except Problem as problem:
        return Held(source, "", problem=problem)
