"""What a memory is, and what it hands to a model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import Connection

from storage.events import Event, Logged

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
    """The number of the owner's newest event; what was read at this revision is still true."""
    state: Mapping[str, Any] = NOTHING
    """The state of the agent that makes the call."""
    store: BaseStore | None = None
    """The store of the server or graph, where there is one."""
    run: str = ""
    """The run that the call is made in, where there is one."""
    without: frozenset[str] = frozenset()
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
    must: bool = False
    """Whether it has a part of the budget that nothing else may take."""
    says: frozenset[str] = frozenset()
    """What it says, in words that tell where another memory says the same (`memory/repeats.py`)."""
    order: tuple[int, ...] = ()
    """The numbers of its lines in the order in which they are kept where not all of them fit."""
    cut: tuple[int, int] = (0, 0)
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


class Reversal(NamedTuple):
    """What undoing an event comes to in one memory."""

    event: Event
    """What is logged of it (`storage.events.undoing`)."""
    write: Callable[[int], object] = lambda _: None
    """Writes what has to know the number of that event."""


Reverse = Callable[[Connection], Reversal | None]
"""Undoes an event in a transaction, apart from logging that; `None` if there is nothing to undo.

It raises `undo_conflict` if more was done since.
"""

Undo = Callable[[Logged], Awaitable[Reverse]]
"""Gets the undo of an event ready; what no transaction can do, such as writing a file, it does."""


def in_database(reverse: Callable[[Connection, Logged], Reversal | None]) -> Undo:
    """Return the way to undo an event of a memory that is in the database alone."""

    async def undo(logged: Logged) -> Reverse:
        return lambda connection: reverse(connection, logged)

    return undo
