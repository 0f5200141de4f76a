"""What a memory is.

What it is asked, the notes it hands to a model call, and the view of it that people have.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import Connection

from config.errors import ErrorCode, Problem
from storage.events import LoggedEvent, Reversal, Reverse

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Query(NamedTuple):
    """What a memory is asked: for whom, by which role, about which text."""

    owner: str
    role: str
    text: str
    """What the call is about: the question, and the step where there is one."""
    turns: tuple[str, ...] = ()
    """The last turns of the conversation, oldest first: what people said and final answers."""
    revision: int = 0
    """The number of the owner's newest event; what was read at this revision is still true.

    Where nobody has looked, or there is none, it is 0.
    """
    state: Mapping[str, Any] = NOTHING
    """The state of the agent that makes the call."""
    store: BaseStore | None = None
    """The store of the server or graph, where there is one."""
    run: str = ""
    """The run that the call is made in, where there is one."""
    excluded: frozenset[str] = frozenset()
    """The memories, by name, that are not asked this time."""
    files: tuple[str, ...] = ()
    """The folders and files under research: nothing in them is a memory."""
    question: str = ""
    """The question of that run, where the call is about a part of it."""

    @property
    def context(self) -> str:
        """What was said lately, and what the call is about."""
        return "\n".join(dict.fromkeys([*self.turns, self.text]))


class Note(NamedTuple):
    """One thing remembered: what it says, where it is from, and why it was chosen."""

    title: str
    text: str
    id: str = ""
    """Under which `dossier memory show` finds it."""
    revision: int = 0
    score: Mapping[str, float] = NOTHING
    """The parts of its score, by name; none where the order is given."""
    pinned: bool = False
    """Whether it has a part of the budget that nothing else may take."""
    dedup_keys: frozenset[str] = frozenset()
    """What it says, by which others are seen to say the same (`memory/profile/recall.py`)."""
    line_order: tuple[int, ...] = ()
    """The numbers of its lines in the order in which they are kept where not all of them fit."""
    shown_lines: tuple[int, int] = (0, 0)
    """Of a note that was cut, how many of its lines are told, and how many it has."""


class Memory(Protocol):
    """Something that is kept between runs."""

    name: str
    """What its notes stand under in a call, in the trace and on the command line."""
    share: float
    """Which part of the budget is its own; what it leaves is free for the others."""

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return what fits the query, most important first; no model is called.

        Args:
            query: For whom, and about what.
            budget: How many tokens all of it may have at the most.
        """
        ...


UndoHandler = Callable[[LoggedEvent], Awaitable[Reverse]]
"""Gets the undo of an event ready; what no transaction can do, such as writing a file, it does."""


def in_database(reverse: Callable[[Connection, LoggedEvent], Reversal | None]) -> UndoHandler:
    """Return the way to undo an event of a memory that is in the database alone."""

    async def undo(logged: LoggedEvent) -> Reverse:
        return lambda connection: reverse(connection, logged)

    return undo


class CatalogItem(NamedTuple):
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


class MemoryView(Protocol):
    """What one memory keeps of an owner, to be looked at and corrected."""

    name: str
    """The memory's name, as model calls, the trace and the command line have it."""

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return what is kept, the newest first.

        Args:
            owner: Whose.
            limit: How many at most.
            every: Also what is only history.
        """
        ...

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return what has this id, or an id that begins so; nothing of another owner."""
        ...

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return what fits some words best, best first."""
        ...

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Let a thing say something else.

        Raises:
            Problem: `not_editable_problem`, or why this text will not do.
        """
        ...


def not_editable_problem(item: str, what: str, hint: str) -> Problem:
    """Return the problem of a thing that is not edited here."""
    return Problem(ErrorCode.NOT_EDITABLE, what, where=item, hint=hint)
