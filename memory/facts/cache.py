"""Cache an owner's facts, ready to be compared and searched; only what has changed is read."""

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
from memory.protocol import Note
from memory.tables import facts
from memory.token_budget import render_note
from storage.engine import run_read
from storage.events import current_revision, read_revision
from text.tfidf import RowNumbers, TfidfMatrix, best_rows, build_tfidf_matrix
from text.tokens import estimate_tokens

Column = NDArray[Any]

MAX_CHURN = 0.1
"""The part of the facts that may be added or removed before the snapshot is compacted."""

MAX_OWNERS, MAX_FACTS = 64, 200_000
"""The most owners, and the most facts of all of them, in the cache; one owner is always in it."""

ALWAYS_RELEVANT = ("preference", "correction")
"""The categories of facts that matter to any answer."""

UNREAD = -1
"""The revision of a snapshot before anything was read."""


class FactEntry(NamedTuple):
    """What a call is given of a fact."""

    id: str
    content: str
    category: str
    revision: int


class _Columns(NamedTuple):
    """The fields of all facts as arrays, in the order of the entries."""

    confidence: Column
    begins: Column
    ends: Column
    live: Column
    trusted: Column
    size: Column
    """The bytes of its content."""
    tokens: Column
    """The tokens of a correction in a call; 0 for other facts."""
    always: Column
    """Whether it matters whatever is talked about."""


class FactSnapshot(NamedTuple):
    """The facts of an owner at one revision; it is immutable, so any thread may read it."""

    revision: int
    entries: list[FactEntry]
    """Also those that are no longer live; later revisions append to this list."""
    columns: _Columns
    tfidf: TfidfMatrix
    churn: int
    """How many entries were added or removed since the snapshot was compacted."""

    def matching(self, fits: Callable[[str], object]) -> list[str]:
        """Return the ids of the live facts whose content fits."""
        entries = zip(self.entries, self.columns.live, strict=False)
        return [one.id for one, live in entries if live and fits(one.content)]

    def most_similar(self, text: str, limit: int, least: float = 0.0) -> list[tuple[str, float]]:
        """Return the ids of the facts most similar to a text with their cosines, best first."""
        cosines = self.tfidf.similarity(text)
        if cosines is None:
            return []
        cosines = np.where(self.columns.live & (cosines > least), cosines, -np.inf)
        return [(self.entries[at].id, float(cosines[at])) for at in best_rows(cosines, limit)]


def _columns(rows: Sequence[Any]) -> _Columns:
    ends = [np.inf if row.valid_to is None else row.valid_to for row in rows]
    return _Columns(
        np.array([row.confidence for row in rows], dtype=np.float32),
        np.array([row.valid_from for row in rows], dtype=np.float64),
        np.array(ends, dtype=np.float64),
        np.ones(len(rows), dtype=np.bool_),
        np.array([row.provenance in TRUSTED_PROVENANCE for row in rows], dtype=np.bool_),
        np.array([len(row.content.encode()) for row in rows], dtype=np.int32),
        np.array([_tokens(row) for row in rows], dtype=np.int32),
        np.array([row.category in ALWAYS_RELEVANT for row in rows], dtype=np.bool_),
    )


def _tokens(row: Any) -> int:
    if row.category != "correction":
        return 0
    return estimate_tokens(render_note(Note(row.category, row.content))) + 1


class FactCache:
    """Keeps the snapshot of one owner up to date."""

    def __init__(self) -> None:
        self.snapshot = FactSnapshot(UNREAD, [], _columns([]), build_tfidf_matrix([]), 0)
        self._rows: dict[str, int] = {}
        self._lock = threading.Lock()

    def refresh(self, connection: Connection, owner: str) -> FactSnapshot:
        """Read what has changed, and return the current snapshot.

        Args:
            connection: Of a transaction that has changed no fact: a rollback must not leave
                anything in the cache.
            owner: Whose facts.
        """
        with self._lock:
            revision = current_revision(connection, owner)
            if revision > self.snapshot.revision:
                values = {"its_owner": owner, "last": self.snapshot.revision}
                rows = connection.execute(CHANGED, values).all()
                self.snapshot = self._with(rows)._replace(revision=revision)
            return self.snapshot

    def _with(self, rows: Sequence[Any]) -> FactSnapshot:
        known = self.snapshot
        new = [row for row in rows if row.live]
        gone = [self._rows[row.id] for row in rows if row.id in self._rows]
        if not new and not gone:
            return known
        live = known.columns.live.copy()
        live[gone] = False
        both = zip(known.columns._replace(live=live), _columns(new), strict=True)
        columns = _Columns(*(np.concatenate(pair) for pair in both))
        tfidf = known.tfidf.without_rows(np.array(gone)) if gone else known.tfidf
        tfidf = tfidf.with_texts([row.content for row in new]) if new else tfidf
        for row in rows:
            self._rows.pop(row.id, None)
        self._rows |= {row.id: at for at, row in enumerate(new, start=len(known.entries))}
        known.entries.extend(
            FactEntry(row.id, row.content, row.category, row.revision) for row in new
        )
        churn = known.churn + len(new) + len(gone)
        grown = FactSnapshot(known.revision, known.entries, columns, tfidf, churn)
        return self._compacted(grown) if churn > MAX_CHURN * len(self._rows) else grown

    def _compacted(self, known: FactSnapshot) -> FactSnapshot:
        """Leave out what is no longer live."""
        rows: RowNumbers = np.flatnonzero(known.columns.live)
        entries = [known.entries[at] for at in rows]
        self._rows = {entry.id: at for at, entry in enumerate(entries)}
        columns = _Columns(*(column[rows] for column in known.columns))
        return FactSnapshot(known.revision, entries, columns, known.tfidf.select_rows(rows), 0)


_FIELDS = ("id", "content", "category", "confidence", "provenance", "valid_from", "valid_to")

CHANGED = (
    select(*(facts.c[name] for name in (*_FIELDS, "live", "revision")))
    .where(facts.c.owner == bindparam("its_owner"), facts.c.revision > bindparam("last"))
    .order_by(facts.c.revision, facts.c.id)
)

_caches = Resource(OrderedDict[tuple[str, str], FactCache])
_caches_lock = threading.Lock()


def get_fact_cache(owner: str) -> FactCache:
    """Return the cache of an owner's facts; the least recently used ones are dropped."""
    with _caches_lock:
        key, caches = (settings().database, owner), _caches.get()
        if key not in caches:
            caches[key] = FactCache()
        caches.move_to_end(key)
        facts_cached = sum(len(one.snapshot.entries) for one in caches.values())
        while len(caches) > 1 and (len(caches) > MAX_OWNERS or facts_cached > MAX_FACTS):
            facts_cached -= len(caches.popitem(last=False)[1].snapshot.entries)
        return caches[key]


async def load_fact_snapshot(owner: str, revision: int) -> FactSnapshot:
    """Return an owner's facts as they are at a revision, or later."""
    cached = get_fact_cache(owner)
    if cached.snapshot.revision >= max(revision, 0):
        return cached.snapshot
    return await run_read(lambda connection: cached.refresh(connection, owner))


async def find_similar_facts(owner: str, text: str, limit: int = 10) -> list[tuple[Fact, float]]:
    """Return the live facts most similar to a text, each with its similarity, in 0..1.

    Those that share no word with it are left out. The similarity is the cosine of TF-IDF vectors
    (`text.tfidf.TfidfMatrix`).
    """
    known = await load_fact_snapshot(owner, await read_revision(owner))
    cosines = dict(known.most_similar(text, limit))
    found = await run_read(lambda c: queries.select_facts(c, owner, list(cosines)))
    return [(fact, cosines[fact.id]) for fact in found if fact.live]


async def filter_facts(owner: str, fits: Callable[[str], object]) -> list[Fact]:
    """Return the live facts whose content fits; each of them is tested."""
    known = await load_fact_snapshot(owner, await read_revision(owner))
    found = await run_read(lambda c: queries.select_facts(c, owner, known.matching(fits)))
    return [fact for fact in found if fact.live]


async def search_facts(owner: str, query: str, limit: int = 10) -> list[Fact]:
    """Return the facts that match what a person types: those that contain it literally first."""
    known = await load_fact_snapshot(owner, await read_revision(owner))
    typed = query.casefold().strip()
    literal = dict.fromkeys(known.matching(lambda text: typed in text.casefold()) if typed else [])
    similar = [id for id, _ in known.most_similar(query, limit + len(literal))]
    ids = dict.fromkeys([*(id for id in similar if id in literal), *literal, *similar])
    return await run_read(lambda c: queries.select_facts(c, owner, list(ids)[:limit]))
