"""What a memory must tell of itself, so that people can see all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from config.errors import Problem
from memory.base import NOTHING


class Item(NamedTuple):
    """One thing that is kept, of whatever memory."""

    memory: str
    """Which memory, by the name of its shelf."""
    id: str
    text: str
    """What it says, whole where one thing is shown; its beginning may do in a list."""
    title: str = ""
    kind: str = ""
    """What kind of thing of this memory: the category of a fact, the kind of a page."""
    state: str = ""
    """Empty for what is known now; else why it is only history, such as `replaced`."""
    at: float = 0.0
    """When it came to be known, in seconds since 1970; 0 where nobody knows."""
    provenance: str = ""
    run: str = ""
    more: Mapping[str, Any] = NOTHING
    """What else is known of it, as plain data."""


class Shelf(Protocol):
    """What one memory keeps of an owner, to be looked at and corrected."""

    name: str
    """The memory's name, as model calls, the trace and the command line have it."""

    async def listed(self, owner: str, limit: int, *, every: bool = False) -> list[Item]:
        """Return what is kept, the newest first.

        Args:
            owner: Whose.
            limit: How many at most.
            every: Also what is only history.
        """
        ...

    async def named(self, owner: str, id: str) -> list[Item]:
        """Return what has this id, or an id that begins so; nothing of another owner."""
        ...

    async def search(self, owner: str, query: str, limit: int) -> list[Item]:
        """Return what fits some words best, best first."""
        ...

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Let a thing say something else.

        Raises:
            Problem: `not_editable`, or why this text will not do.
        """
        ...


def not_editable(item: str, what: str, hint: str) -> Problem:
    """Return the problem of a thing that is not edited here."""
    return Problem("not_editable", what, where=item, hint=hint)
