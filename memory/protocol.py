"""What a memory is: what it is asked, the notes it gives a model call, and the items people see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from config.errors import ErrorCode, Problem
from storage.events import LoggedEvent, Reverse

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Query(NamedTuple):
    """What a memory is asked: for which owner, by which role, about which text."""

    owner: str
    role: str
    text: str
    """What the call is about: the question, and the step if there is one."""
    turns: tuple[str, ...] = ()
    """The last turns of the conversation, oldest first: messages of people and final answers."""
    revision: int = 0
    """The number of the owner's newest event: what was read at it still holds. 0 if unknown."""
    state: Mapping[str, Any] = NOTHING
    """The state of the agent that makes the call."""
    store: BaseStore | None = None
    """The store of the server or graph, if any."""
    run: str = ""
    """The run that makes the call, if any."""
    excluded: frozenset[str] = frozenset()
    """The names of the memories that are not asked."""
    files: tuple[str, ...] = ()
    """The folders and files under research: nothing in them is a memory."""
    question: str = ""
    """The question of the run, where the call is about a part of it."""
    language: str = "en"
    """The language of what the role is told."""

    @property
    def context(self) -> str:
        """The last turns and what the call is about."""
        return "\n".join(dict.fromkeys([*self.turns, self.text]))


class Note(NamedTuple):
    """One piece of memory that a call is given: its text, its origin, and its score."""

    title: str
    text: str
    id: str = ""
    """The id under which `dossier memory show` finds it."""
    revision: int = 0
    score: Mapping[str, float] = NOTHING
    """The parts of its score, by name; empty where the order is fixed."""
    pinned: bool = False
    """Whether it has a part of the budget that nothing else may take."""
    dedup_keys: frozenset[str] = frozenset()
    """Keys of what it says: notes that share them say the same (`memory/profile/memory.py`)."""
    line_order: tuple[int, ...] = ()
    """The numbers of its lines, most important first, for when not all of them fit."""
    shown_lines: tuple[int, int] = (0, 0)
    """For a note that was cut, how many of its lines are shown, and how many it has."""


class MemoryItem(NamedTuple):
    """One thing that a memory stores, as people see it."""

    memory: str
    """The name of its memory."""
    id: str
    text: str
    """Its whole text; in a list possibly only the beginning."""
    title: str = ""
    kind: str = ""
    """Its kind within the memory: the category of a fact, the kind of a page."""
    state: str = ""
    """Empty while it is current; else why it is only history, such as `replaced`."""
    at: float = 0.0
    """When it was stored, in seconds since 1970; 0 if unknown."""
    provenance: str = ""
    run: str = ""
    more: Mapping[str, Any] = NOTHING
    """Further fields, as plain data."""


class ErasureRequest(NamedTuple):
    """What one memory must erase for good."""

    owner: str
    ids: Sequence[str]
    """The named items of this memory."""
    redact: Callable[[str], str]
    """Takes out of a text every sentence that repeats what is erased."""
    mark: str
    """Replaces such a sentence."""
    why: str


Export = Callable[[Connection], Mapping[str, Any]]
"""Reads the parts of an export document, by their names, in the transaction of the export."""

Erase = Callable[[Connection], None]
"""Erases rows in the transaction of the erasure."""


class Memory:
    """Something that is remembered between runs.

    A subclass answers what it has an answer to; the defaults store nothing and know nothing. What
    `undo`, `export` and `erase` must do outside of a transaction, such as writing a file, they do
    when they are awaited; what they return does the rest inside the caller's transaction.
    """

    name: str
    """What its notes stand under in a call, in the trace and on the command line."""
    share: float = 0.0
    """Its own part of the budget; what it leaves is free for the others."""
    event_names: tuple[str, ...] = ()
    """The first words of the names of its events, such as `fact` of `fact.add`."""
    not_editable: tuple[str, str] = ("it cannot be edited", "")
    """Why an item is not edited here, and what to do instead."""

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the notes that fit a query, most important first; no model is called.

        Args:
            query: For which owner, and about what.
            budget: The most tokens that all notes may have.
        """
        del query, budget
        return []

    async def record(self, owner: str, new: Any, *, run: str = "", why: str = "") -> Any:
        """Store something new; subclasses say what, and return what is stored now."""
        raise NotImplementedError

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the newest items, the newest first.

        Args:
            owner: Whose.
            limit: How many at most.
            every: Also those that are only history.
        """
        del owner, limit, every
        return []

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the owner's items whose id is this one or begins with it."""
        del owner, id
        return []

    async def find_revision(
        self, owner: str, id: str, revision: int
    ) -> tuple[str | None, MemoryItem | None]:
        """Return what a note said at a revision, `None` if unknown, and the item as it is now."""
        del revision
        return None, next(iter(await self.find_by_id(owner, id)), None) if id else None

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the items that match some words best, the best first."""
        del owner, query, limit
        return []

    async def edit(self, owner: str, id: str, text: str) -> MemoryItem:
        """Replace the text of an item.

        Raises:
            Problem: `not_editable`, or why the text is refused.
        """
        del owner, text
        raise not_editable_problem(id, *self.not_editable)

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Prepare the undo of one of its events.

        Raises:
            Problem: `undo_impossible`, `undo_conflict`, or what keeps a file from being written.
        """
        what = f"nothing takes back {logged.event.name}"
        raise Problem(ErrorCode.UNDO_IMPOSSIBLE, what, where=f"event {logged.id}")

    async def export(self, owner: str) -> Export:
        """Prepare the export of everything it stores for an owner."""
        del owner
        return lambda _: {}

    async def erase(self, request: ErasureRequest) -> Erase:
        """Erase the named items, and what repeats them."""
        del request
        return lambda _: None


def not_editable_problem(item: str, what: str, hint: str) -> Problem:
    """Return the problem of an item that cannot be edited."""
    return Problem(ErrorCode.NOT_EDITABLE, what, where=item, hint=hint)
