"""Hold an owner's facts in memory, ready to be compared and searched.

What has changed is read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select

from config.resources import Resource
from config.settings import settings
from memory.facts import queries
from memory.facts.fact import TRUSTED_PROVENANCE, Fact
from memory.facts.tables import facts
from memory.protocol import Note
from memory.token_budget import render_note
from storage.engine import run_read
from storage.events import current_revision, read_revision
from text.tfidf import RowNumbers, TfidfMatrix, best_rows, build_tfidf_matrix
from text.tokens import count_tokens

Column = NDArray[Any]

LOOSE = 0.1
"""The part of the facts that may have come or gone before all of them are put in order again."""

OWNERS, FACTS = 64, 200_000
"""How many owners, and how many facts of all of them, are held at the most; one owner always is."""

ALWAYS = ("preference", "correction")
"""The categories of facts that any answer keeps to."""

UNREAD = -1
"""The revision before anything was read."""


class FactEntry(NamedTuple):
    """What is told of a fact."""

    id: str
    content: str
    category: str
    revision: int


class _Columns(NamedTuple):
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


class FactSnapshot(NamedTuple):
    """The facts of an owner at one revision; they are never changed, so anyone may read them."""

    revision: int
    entries: list[FactEntry]
    """Those that are not live any more among them; later revisions have others behind these."""
    columns: _Columns
    tfidf: TfidfMatrix
    churn: int
    """How many entries have come or gone since all were put in order."""

    def most_similar(self, text: str, many: int, least: float = 0.0) -> list[tuple[str, float]]:
        """Return the ids of the facts most like a text and their cosines, most alike first."""
        cosines = self.tfidf.similarity(text)
        if cosines is None:
            return []
        cosines = np.where(self.columns.live & (cosines > least), cosines, -np.inf)
        return [(self.entries[at].id, float(cosines[at])) for at in best_rows(cosines, many)]


def _columns(rows: Sequence[Any]) -> _Columns:
    return _Columns(
        np.array([row.confidence for row in rows], dtype=np.float32),
        np.array([row.valid_from for row in rows], dtype=np.float64),
        np.array([_end(row.valid_to) for row in rows], dtype=np.float64),
        np.ones(len(rows), dtype=np.bool_),
        np.array([row.provenance in TRUSTED_PROVENANCE for row in rows], dtype=np.bool_),
        np.array([len(row.content.encode()) for row in rows], dtype=np.int32),
        np.array([_tokens(row) for row in rows], dtype=np.int32),
        np.array([row.category in ALWAYS for row in rows], dtype=np.bool_),
    )


def _tokens(row: Any) -> int:
    if row.category != "correction":
        return 0
    return count_tokens(render_note(Note(row.category, row.content))) + 1


def _end(moment: float | None) -> float:
    return float("inf") if moment is None else moment


class FactCache:
    """Keeps what is known of one owner up to date."""

    def __init__(self) -> None:
        self.snapshot = FactSnapshot(UNREAD, [], _columns([]), build_tfidf_matrix([]), 0)
        self._places: dict[str, int] = {}
        self._turns = threading.Lock()

    def refresh(self, connection: Connection, owner: str) -> FactSnapshot:
        """Read what has changed, and return what is known now.

        Args:
            connection: Of a transaction that has changed no fact: what it may still take back must
                not be held.
            owner: Whose facts.
        """
        with self._turns:
            revision = current_revision(connection, owner)
            if revision > self.snapshot.revision:
                values = {"its_owner": owner, "last": self.snapshot.revision}
                rows = connection.execute(CHANGED, values).all()
                self.snapshot = self._with(rows)._replace(revision=revision)
            return self.snapshot

    def _with(self, rows: Sequence[Any]) -> FactSnapshot:
        known = self.snapshot
        new = [row for row in rows if row.live]
        gone = [self._places[row.id] for row in rows if row.id in self._places]
        if not new and not gone:
            return known
        live = known.columns.live.copy()
        live[gone] = False
        both = zip(known.columns._replace(live=live), _columns(new), strict=True)
        columns = _Columns(*(np.concatenate(pair) for pair in both))
        shelf = known.tfidf.without_rows(np.array(gone)) if gone else known.tfidf
        shelf = shelf.with_texts([row.content for row in new]) if new else shelf
        for row in rows:
            self._places.pop(row.id, None)
        self._places |= {row.id: at for at, row in enumerate(new, start=len(known.entries))}
        known.entries.extend(
            FactEntry(row.id, row.content, row.category, row.revision) for row in new
        )
        loose = known.churn + len(new) + len(gone)
        grown = FactSnapshot(known.revision, known.entries, columns, shelf, loose)
        return self._ordered(grown) if loose > LOOSE * len(self._places) else grown

    def _ordered(self, known: FactSnapshot) -> FactSnapshot:
        """Leave out what is not live any more."""
        rows: RowNumbers = np.flatnonzero(known.columns.live)
        entries = [known.entries[at] for at in rows]
        self._places = {entry.id: at for at, entry in enumerate(entries)}
        columns = _Columns(*(column[rows] for column in known.columns))
        return FactSnapshot(known.revision, entries, columns, known.tfidf.select_rows(rows), 0)


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

_caches = Resource(OrderedDict[tuple[str, str], FactCache])
_turns = threading.Lock()


def get_fact_cache(owner: str) -> FactCache:
    """Return who holds an owner's facts in this process; who was not asked for longest goes."""
    with _turns:
        name, caches = (settings().database, owner), _caches.get()
        if name not in caches:
            caches[name] = FactCache()
        caches.move_to_end(name)
        found = caches[name]
        held = sum(len(one.snapshot.entries) for one in caches.values())
        while len(caches) > 1 and (len(caches) > OWNERS or held > FACTS):
            held -= len(caches.popitem(last=False)[1].snapshot.entries)
        return found


async def load_fact_snapshot(owner: str, revision: int) -> FactSnapshot:
    """Return an owner's facts as they are at a revision, or later."""
    its = get_fact_cache(owner)
    if its.snapshot.revision >= max(revision, 0):
        return its.snapshot
    return await run_read(lambda connection: its.refresh(connection, owner))


async def find_similar_facts(owner: str, text: str, limit: int = 10) -> list[tuple[Fact, float]]:
    """Return the live facts most like a text, each with its similarity, in 0..1.

    Those that share no word with it are left out. The similarity is the cosine of TF-IDF vectors
    (`text.tfidf.TfidfMatrix`).
    """
    held = await load_fact_snapshot(owner, await read_revision(owner))
    alike = held.most_similar(text, limit)
    found = await run_read(lambda c: queries.select_facts(c, owner, [id for id, _ in alike]))
    likeness = dict(alike)
    return [(fact, likeness[fact.id]) for fact in found if fact.live]


async def filter_facts(owner: str, fits: Callable[[str], object]) -> list[Fact]:
    """Return the live facts whose content fits; each of them is asked."""
    held = await load_fact_snapshot(owner, await read_revision(owner))
    entries = zip(held.entries, held.columns.live, strict=False)
    ids = [one.id for one, live in entries if live and fits(one.content)]
    found = await run_read(lambda connection: queries.select_facts(connection, owner, ids))
    return [fact for fact in found if fact.live]


async def search_facts(owner: str, query: str, limit: int = 10) -> list[Fact]:
    """Return the facts that hold what a person types: it as it is first, then its words."""
    held = await load_fact_snapshot(owner, await read_revision(owner))
    typed = query.casefold().strip()
    entries = zip(held.entries, held.columns.live, strict=False)
    literal = [
        one.id for one, live in entries if live and typed and typed in one.content.casefold()
    ]
    alike = [id for id, _ in held.most_similar(query, limit + len(literal))]
    exact = set(literal)
    ids = dict.fromkeys([*(id for id in alike if id in exact), *literal, *alike])
    return await run_read(
        lambda connection: queries.select_facts(connection, owner, list(ids)[:limit])
    )
