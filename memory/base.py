"""What a memory is, and what it hands to a model call."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Query(NamedTuple):
    """What a memory is asked: for whom, by which role, about which text."""

    owner: str
    role: str
    text: str


class Note(NamedTuple):
    """One thing remembered: where it is from, and what it says."""

    title: str
    text: str


class Memory(Protocol):
    """Something that is kept between runs."""

    async def recall(self, query: Query) -> list[Note]:
        """Return what fits the query, most important first; no model is called."""
        ...
