"""Hold an owner's facts in memory, ready to be compared; what has changed is read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select

from config.settings import settings
from memory.base import Note
from memory.budget import line
from memory.facts.fact import TRUSTED
from retrieval.tfidf import Places, Shelf, best, shelved
from retrieval.tokens import count
from storage.engine import read
from storage.events import newest
from storage.tables import facts

Column = NDArray[Any]

LOOSE = 0.1
"""The part of the facts that may have come or gone before all of them are put in order again."""

OWNERS, FACTS = 64, 200_000
"""How many owners, and how many facts of all of them, are held at the most; one owner always is."""


ALWAYS = ("preference", "correction")
"""The categories of facts that any answer keeps to."""

UNREAD = -1
"""The revision before anything was read."""


class Entry(NamedTuple):
    """What is told of a fact."""

    id: str
    content: str
    category: str
    revision: int


class Columns(NamedTuple):
    """What is asked of all facts at once: one value for each, in the order of the entries."""

    confidence: Column
    begins: Column
    ends: Column
    live: Column
    trusted: Column
    size: Column
    """The bytes of its content."""
    tokens: Column
    """What a correction takes of the budget; 0 for other facts."""
    always: Column
    """Whether it is told whatever is talked about."""


class Known(NamedTuple):
    """The facts of an owner at one revision; they are never changed, so anyone may read them."""

    revision: int
    entries: list[Entry]
    """Those that are not live any more among them; later revisions have others behind these."""
    columns: Columns
    shelf: Shelf
    loose: int
    """How many entries have come or gone since all were put in order."""

    def alike(self, text: str, many: int, least: float = 0.0) -> list[tuple[str, float]]:
        """Return the ids of the facts most like a text and their cosines, most alike first."""
        cosines = self.shelf.likeness(text)
        if cosines is None:
            return []
        cosines = np.where(self.columns.live & (cosines > least), cosines, -np.inf)
        return [(self.entries[at].id, float(cosines[at])) for at in best(cosines, many)]


def _columns(rows: Sequence[Any]) -> Columns:
    return Columns(
        np.array([row.confidence for row in rows], dtype=np.float32),
        np.array([row.valid_from for row in rows], dtype=np.float64),
        np.array([_end(row.valid_to) for row in rows], dtype=np.float64),
        np.ones(len(rows), dtype=np.bool_),
        np.array([row.provenance in TRUSTED for row in rows], dtype=np.bool_),
        np.array([len(row.content.encode()) for row in rows], dtype=np.int32),
        np.array([_tokens(row) for row in rows], dtype=np.int32),
        np.array([row.category in ALWAYS for row in rows], dtype=np.bool_),
    )


def _tokens(row: Any) -> int:
    if row.category != "correction":
        return 0
    return count(line(Note(row.category, row.content))) + 1


def _end(moment: float | None) -> float:
    return float("inf") if moment is None else moment


class Holder:
    """Keeps what is known of one owner up to date."""

    def __init__(self) -> None:
        self.known = Known(UNREAD, [], _columns([]), shelved([]), 0)
        self._places: dict[str, int] = {}
        self._turns = threading.Lock()

    def refresh(self, connection: Connection, owner: str) -> Known:
        """Read what has changed, and return what is known now.

        Args:
            connection: Of a transaction that has changed no fact: what it may still take back must
                not be held.
            owner: Whose facts.
        """
        with self._turns:
            revision = newest(connection, owner)
            if revision > self.known.revision:
                values = {"its_owner": owner, "last": self.known.revision}
                rows = connection.execute(CHANGED, values).all()
                self.known = self._with(rows)._replace(revision=revision)
            return self.known

    def _with(self, rows: Sequence[Any]) -> Known:
        known = self.known
        new = [row for row in rows if row.live]
        gone = [self._places[row.id] for row in rows if row.id in self._places]
        if not new and not gone:
            return known
        live = known.columns.live.copy()
        live[gone] = False
        both = zip(known.columns._replace(live=live), _columns(new), strict=True)
        columns = Columns(*(np.concatenate(pair) for pair in both))
        shelf = known.shelf.less(np.array(gone)) if gone else known.shelf
        shelf = shelf.more([row.content for row in new]) if new else shelf
        for row in rows:
            self._places.pop(row.id, None)
        self._places |= {row.id: at for at, row in enumerate(new, start=len(known.entries))}
        known.entries.extend(Entry(row.id, row.content, row.category, row.revision) for row in new)
        loose = known.loose + len(new) + len(gone)
        grown = Known(known.revision, known.entries, columns, shelf, loose)
        return self._ordered(grown) if loose > LOOSE * len(self._places) else grown

    def _ordered(self, known: Known) -> Known:
        """Leave out what is not live any more."""
        rows: Places = np.flatnonzero(known.columns.live)
        entries = [known.entries[at] for at in rows]
        self._places = {entry.id: at for at, entry in enumerate(entries)}
        columns = Columns(*(column[rows] for column in known.columns))
        return Known(known.revision, entries, columns, known.shelf.only(rows), 0)


CHANGED = (
    select(
        facts.c.id,
        facts.c.content,
        facts.c.category,
        facts.c.confidence,
        facts.c.provenance,
        facts.c.valid_from,
        facts.c.valid_to,
        facts.c.live,
        facts.c.revision,
    )
    .where(facts.c.owner == bindparam("its_owner"), facts.c.revision > bindparam("last"))
    .order_by(facts.c.revision, facts.c.id)
)

_holders: OrderedDict[tuple[str, str], Holder] = OrderedDict()
_turns = threading.Lock()


def holder(owner: str) -> Holder:
    """Return who holds an owner's facts in this process; who was not asked for longest goes."""
    with _turns:
        name = (settings().database, owner)
        if name not in _holders:
            _holders[name] = Holder()
        _holders.move_to_end(name)
        found = _holders[name]
        held = sum(len(one.known.entries) for one in _holders.values())
        while len(_holders) > 1 and (len(_holders) > OWNERS or held > FACTS):
            held -= len(_holders.popitem(last=False)[1].known.entries)
        return found


async def known(owner: str, revision: int) -> Known:
    """Return an owner's facts as they are at a revision, or later."""
    its = holder(owner)
    if its.known.revision >= max(revision, 0):
        return its.known
    return await read(lambda connection: its.refresh(connection, owner))
