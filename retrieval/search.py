"""Find the pages that answer a question: candidates, a pool of rows, and what each is worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from retrieval.bm25 import Asked, Counted, bm25, count, in_order, together, weigh
from retrieval.dialogue import Turns, context, dated, speaker, turns, windows
from retrieval.fusion import Scores, above, agreement, best_first, plus, times, top
from retrieval.hops import SEEDS, Seed, gains
from retrieval.leading import asks_way, leads_on
from retrieval.named import Named, named
from retrieval.pool import Row, Store, Vector, Vectors
from retrieval.regex import regex
from retrieval.weights import UNKNOWN, WEIGHTS, Weights
from retrieval.words import terms, words

CANDIDATES = 200
"""So many pages at least are taken from the keyword index, and as many from the vectors."""
LED_TO = 100
"""So many pages join that the best candidates lead to."""
EVERYWHERE = 0.2
"""A word in a larger part of the pages finds no candidates."""
LIKE = 0.25
"""Where the store knows no word of a question, a page is found that is at least so like it."""
SAYS_LITTLE = 0.2
"""A word worth less than this part of the question's best word is not embedded."""

_SPELT = regex(r"[^\W_]+(?:['’]s\b)?")


class Hit(NamedTuple):
    """A page that was found."""

    row: Row
    score: float
    parts: dict[str, float]
    """What each sign adds to the score."""


class Pool:
    """The rows that are compared, with what each holds of the question."""

    def __init__(self, store: Store, asked: Asked, names: Named, weights: Weights) -> None:
        self.store = store
        self.asked = asked
        self.rest = asked.without(names.words, weights.answered)
        self.names = names
        self.weights = weights
        self.rows: list[Row] = []
        self.at: dict[int, int] = {}
        self.counted: list[Counted] = []
        self.words: list[float] = []
        self.close: list[float] = []

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows that are not there yet."""
        for row in rows:
            if row.number not in self.at:
                self.at[row.number] = len(self.rows)
                self.rows.append(row)
                self._count(row)

    def _count(self, row: Row) -> None:
        counted = count(self.asked, row)
        asked = self.asked if row.number in self.names.pages else self.rest
        self.counted.append(counted)
        self.words.append(bm25(asked, counted.times, counted.length))
        close = self.weights.in_order * in_order(self.asked, counted.places)
        self.close.append(close + self.weights.together * together(self.asked, counted.places))

    def fetch(self, numbers: Iterable[int]) -> None:
        """Add the rows with these numbers."""
        new = [number for number in dict.fromkeys(numbers) if number not in self.at]
        if new:
            self.add(self.store.rows(new))

    def column(self, values: dict[int, float]) -> Scores:
        """Return values by number as one for each row, 0 where there is none."""
        return [values.get(row.number, 0.0) for row in self.rows]


def gist(question: str, store: Store) -> str:
    """Return a question without the words that say little in this store, to be embedded.

    In a dialogue of two people their names stand in every question and tell no page from another.
    """
    wanted = terms(question)
    worth = weigh(wanted, store.counts(wanted), store.stats()).idf
    least = SAYS_LITTLE * max(worth.values(), default=0.0)

    def kept(word: re.Match[str]) -> str:
        parts = words(word[0])
        return "" if parts and all(worth.get(part, least) < least for part in parts) else word[0]

    return " ".join(_SPELT.sub(kept, question).split()) or question


def search(
    question: str,
    store: Store,
    limit: int = 10,
    *,
    vectors: Vectors | None = None,
    vector: Vector | None = None,
    trust: float = UNKNOWN,
    weights: Weights = WEIGHTS,
) -> list[Hit]:
    """Return the pages that fit a question best, best first.

    Args:
        question: What is asked.
        store: The pages.
        limit: How many at most.
        vectors: Their vectors, if there are any.
        vector: That of the question's `gist`.
        trust: What the vectors are worth in this store, in 0..1 (`retrieval.trust`). They are asked
            in any case when the store knows no word of the question.
        weights: What each sign is worth.
    """
    asked, selective = _query(question, store)
    pool = Pool(store, asked, named(question, store, weights.namesake), weights)
    many = max(CANDIDATES, limit)
    meant = _meaning(vectors, vector, asked, trust, many)
    _retrieve(pool, selective, meant, many)
    return _ranked(pool, _scored(question, pool, meant, limit), limit) if pool.rows else []


def _query(question: str, store: Store) -> tuple[Asked, list[str]]:
    """Return the weighted terms of a question, and those that few enough pages of a store have."""
    wanted = terms(question)
    counts, stats = store.counts(wanted), store.stats()
    asked = weigh(wanted, counts, stats)
    enough = max(EVERYWHERE * stats.pages, CANDIDATES)
    selective = [term for term in asked.idf if counts[term] <= enough]
    return asked, selective or list(asked.idf)


def _meaning(
    vectors: Vectors | None, vector: Vector | None, asked: Asked, trust: float, many: int
) -> _Meaning:
    """Return the nearest neighbours of a question, where vectors are to be asked at all."""
    near: dict[int, float] = {}
    if vectors is not None and vector is not None and (trust > 0 or not asked.idf):
        near = dict(vectors.nearest(vector, many))
    floor = min(near.values(), default=0.0) if asked.idf else LIKE
    return _Meaning(vectors, vector, near, floor, trust)


def _retrieve(pool: Pool, selective: Sequence[str], meant: _Meaning, many: int) -> None:
    """Fill a pool with candidates: by term, by vector, by name, and what is said beside them."""
    pool.fetch([*pool.store.matching(selective, many), *meant.near, *pool.names.pages])
    spoken = [row.number for row in pool.rows if row.session and row.speaker]
    if spoken:
        pool.add(pool.store.beside(spoken))


def _scored(question: str, pool: Pool, meant: _Meaning, limit: int) -> dict[str, Scores]:
    """Return the score of each candidate by its features, those added that the best link to."""
    place = turns(pool.rows)
    parts = _base(question, pool, place, meant)
    if led := _led(pool, _sum(parts)):
        pool.fetch(sorted(set(led) - set(pool.at), key=lambda number: -led[number])[:LED_TO])
        place = turns(pool.rows)
        parts = _base(question, pool, place, meant)
        parts["links"] = pool.column(led)
    if place.names:
        parts |= context(pool.asked, pool.rows, pool.counted, place, _sum(parts), pool.weights)
    parts["date"] = times(pool.weights.date, dated(question, pool.rows))
    parts["leads on"] = _leading(question, pool, _sum(parts), limit)
    return parts


def _ranked(pool: Pool, parts: Mapping[str, Scores], limit: int) -> list[Hit]:
    """Return the best candidates with the features that their scores are made of, best first."""
    total = _sum(parts)
    best = best_first(total)[:limit]
    return [Hit(pool.rows[n], total[n], {k: v[n] for k, v in parts.items()}) for n in best]


class _Meaning(NamedTuple):
    vectors: Vectors | None
    vector: Vector | None
    near: dict[int, float]
    floor: float
    trust: float

    def column(self, pool: Pool) -> Scores:
        missing = [row.number for row in pool.rows if row.number not in self.near]
        if missing and self.vectors is not None and self.vector is not None:
            self.near.update(
                dict.fromkeys(missing, self.floor)
                | dict(self.vectors.likeness(self.vector, missing))
            )
        return pool.column(self.near)


def _base(question: str, pool: Pool, place: Turns, meant: _Meaning) -> dict[str, Scores]:
    weights = pool.weights
    lexical = top(pool.words)
    if place.names:
        wide = times(weights.window, top(windows(pool.rest, pool.counted, place)))
        lexical = plus(times(1 - weights.window, lexical), wide)
    parts = {"words": lexical, "close": pool.close}
    if meant.near:
        cosines = meant.column(pool)
        share = weights.meaning * meant.trust * agreement(lexical, cosines) if any(lexical) else 1
        parts = {name: times(1 - share, part) for name, part in parts.items()}
        parts["meaning"] = times(share, above(cosines, meant.floor))
    parts["title"] = times(weights.titled, pool.column(pool.names.pages))
    if place.names:
        parts["speaker"] = times(weights.speaker, speaker(question, pool.rows))
    return parts


def _led(pool: Pool, base: Scores) -> dict[int, float]:
    """Return what pages gain from the best ones, by number."""
    best = best_first(base)[:SEEDS]
    most = base[best[0]]
    if most <= 0:
        return {}
    sure = pool.names.pages
    seeds = [
        Seed(pool.rows[n], max((base[n] / most) ** 2, sure.get(pool.rows[n].number, 0.0)))
        for n in best
    ]
    return gains(pool.asked, pool.store, seeds, pool.weights)


def _leading(question: str, pool: Pool, total: Scores, limit: int) -> Scores:
    """Return what the best pages lose that only lead to others."""
    lost = [0.0] * len(pool.rows)
    if asks_way(question):
        return lost
    for at in best_first(total)[: 2 * limit]:
        row = pool.rows[at]
        if total[at] > 0 and leads_on(row.title, row.text):
            lost[at] = -pool.weights.leading * total[at]
    return lost


def _sum(parts: Mapping[str, Scores]) -> Scores:
    return reduce(plus, parts.values())
