"""Rank pages for a question by all their signals, without those that repeat others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from library.page_scoring import (
    SIGNAL_WEIGHTS,
    UNKNOWN_TRUST,
    PageCollection,
    PageRow,
    QueryCounts,
    Scores,
    SignalWeights,
    Vector,
    VectorCollection,
    WeightedQuery,
    add_scores,
    count_query_words,
    measure_agreement,
    normalize_above,
    normalize_scores,
    scale_scores,
    score_bm25,
    score_proximity,
    score_word_order,
    sort_by_score,
    weigh_query,
)
from library.signals import (
    SEED_COUNT,
    DialogueTurns,
    NamedPages,
    Seed,
    find_named_pages,
    find_turns,
    score_dates,
    score_mentions,
    score_speaker,
    score_turn_context,
    score_windows,
)
from text.boilerplate import asks_for_navigation, is_navigation_page
from text.regex import regex
from text.words import query_terms, search_words

SAME = 0.9
"""Two pages say the same if they share this part of all their different words."""

FEW = 8
"""A page of fewer different words says too little to be a repetition."""


def find_distinct_rows(rows: Sequence[PageRow]) -> list[int]:
    """Return the places of the rows that repeat none before them.

    Words are compared as they were cut (Jaccard index, SAME or more); numbers must be the same.
    """
    kept: dict[int, frozenset[str]] = {}
    for at, row in enumerate(rows):
        words = frozenset(row.words.split())
        if len(words) < FEW or not any(_same(words, before) for before in kept.values()):
            kept[at] = words
    return list(kept)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if len(one & other) < SAME * len(one | other):
        return False
    return not any(char.isdigit() for word in one ^ other for char in word)


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


class ScoredPage(NamedTuple):
    """A page that was found."""

    row: PageRow
    score: float
    parts: dict[str, float]
    """What each sign adds to the score."""


class _CandidatePool:
    """The rows that are compared, with what each holds of the question."""

    def __init__(
        self, store: PageCollection, asked: WeightedQuery, names: NamedPages, weights: SignalWeights
    ) -> None:
        self.store = store
        self.asked = asked
        self.rest = asked.without(names.words, weights.answered)
        self.names = names
        self.weights = weights
        self.rows: list[PageRow] = []
        self.at: dict[int, int] = {}
        self.counted: list[QueryCounts] = []
        self.words: list[float] = []
        self.close: list[float] = []

    def add(self, rows: Iterable[PageRow]) -> None:
        """Add rows that are not there yet."""
        for row in rows:
            if row.number not in self.at:
                self.at[row.number] = len(self.rows)
                self.rows.append(row)
                self._count(row)

    def _count(self, row: PageRow) -> None:
        counted = count_query_words(self.asked, row)
        asked = self.asked if row.number in self.names.pages else self.rest
        self.counted.append(counted)
        self.words.append(score_bm25(asked, counted.times, counted.length))
        close = self.weights.in_order * score_word_order(self.asked, counted.places)
        self.close.append(
            close + self.weights.together * score_proximity(self.asked, counted.places)
        )

    def fetch(self, numbers: Iterable[int]) -> None:
        """Add the rows with these numbers."""
        new = [number for number in dict.fromkeys(numbers) if number not in self.at]
        if new:
            self.add(self.store.rows(new))

    def column(self, values: dict[int, float]) -> Scores:
        """Return values by number as one for each row, 0 where there is none."""
        return [values.get(row.number, 0.0) for row in self.rows]


def drop_common_words(question: str, store: PageCollection) -> str:
    """Return a question without the words that say little in this store, to be embedded.

    In a dialogue of two people their names stand in every question and tell no page from another.
    """
    wanted = query_terms(question)
    worth = weigh_query(wanted, store.counts(wanted), store.stats()).idf
    least = SAYS_LITTLE * max(worth.values(), default=0.0)

    def kept(word: re.Match[str]) -> str:
        parts = search_words(word[0])
        return "" if parts and all(worth.get(part, least) < least for part in parts) else word[0]

    return " ".join(_SPELT.sub(kept, question).split()) or question


def rank_pages(
    question: str,
    store: PageCollection,
    limit: int = 10,
    *,
    vectors: VectorCollection | None = None,
    vector: Vector | None = None,
    trust: float = UNKNOWN_TRUST,
    weights: SignalWeights = SIGNAL_WEIGHTS,
) -> list[ScoredPage]:
    """Return the pages that fit a question best, best first.

    Args:
        question: What is asked.
        store: The pages.
        limit: How many at most.
        vectors: Their vectors, if there are any.
        vector: That of the question's `drop_common_words`.
        trust: What the vectors are worth in this store, in 0..1 (`library.vector_upkeep`). They are
            asked in any case when the store knows no word of the question.
        weights: What each sign is worth.
    """
    asked, selective = _query(question, store)
    pool = _CandidatePool(
        store, asked, find_named_pages(question, store, weights.namesake), weights
    )
    many = max(CANDIDATES, limit)
    meant = _meaning(vectors, vector, asked, trust, many)
    _retrieve(pool, selective, meant, many)
    return _ranked(pool, _scored(question, pool, meant, limit), limit) if pool.rows else []


def _query(question: str, store: PageCollection) -> tuple[WeightedQuery, list[str]]:
    """Return the weighted terms of a question, and those that few enough pages of a store have."""
    wanted = query_terms(question)
    counts, stats = store.counts(wanted), store.stats()
    asked = weigh_query(wanted, counts, stats)
    enough = max(EVERYWHERE * stats.pages, CANDIDATES)
    selective = [term for term in asked.idf if counts[term] <= enough]
    return asked, selective or list(asked.idf)


def _meaning(
    vectors: VectorCollection | None,
    vector: Vector | None,
    asked: WeightedQuery,
    trust: float,
    many: int,
) -> _Meaning:
    """Return the nearest neighbours of a question, where vectors are to be asked at all."""
    near: dict[int, float] = {}
    if vectors is not None and vector is not None and (trust > 0 or not asked.idf):
        near = dict(vectors.nearest(vector, many))
    floor = min(near.values(), default=0.0) if asked.idf else LIKE
    return _Meaning(vectors, vector, near, floor, trust)


def _retrieve(pool: _CandidatePool, selective: Sequence[str], meant: _Meaning, many: int) -> None:
    """Fill a pool with candidates: by term, by vector, by name, and what is said beside them."""
    pool.fetch([*pool.store.matching(selective, many), *meant.near, *pool.names.pages])
    spoken = [row.number for row in pool.rows if row.session and row.speaker]
    if spoken:
        pool.add(pool.store.beside(spoken))


def _scored(question: str, pool: _CandidatePool, meant: _Meaning, limit: int) -> dict[str, Scores]:
    """Return the score of each candidate by its features, those added that the best link to."""
    place = find_turns(pool.rows)
    parts = _base(question, pool, place, meant)
    if led := _led(pool, _sum(parts)):
        pool.fetch(sorted(set(led) - set(pool.at), key=lambda number: -led[number])[:LED_TO])
        place = find_turns(pool.rows)
        parts = _base(question, pool, place, meant)
        parts["links"] = pool.column(led)
    if place.names:
        parts |= score_turn_context(
            pool.asked, pool.rows, pool.counted, place, _sum(parts), pool.weights
        )
    parts["date"] = scale_scores(pool.weights.date, score_dates(question, pool.rows))
    parts["leads on"] = _leading(question, pool, _sum(parts), limit)
    return parts


def _ranked(pool: _CandidatePool, parts: Mapping[str, Scores], limit: int) -> list[ScoredPage]:
    """Return the best candidates with the features that their scores are made of, best first."""
    total = _sum(parts)
    best = sort_by_score(total)[:limit]
    return [ScoredPage(pool.rows[n], total[n], {k: v[n] for k, v in parts.items()}) for n in best]


class _Meaning(NamedTuple):
    vectors: VectorCollection | None
    vector: Vector | None
    near: dict[int, float]
    floor: float
    trust: float

    def column(self, pool: _CandidatePool) -> Scores:
        missing = [row.number for row in pool.rows if row.number not in self.near]
        if missing and self.vectors is not None and self.vector is not None:
            self.near.update(
                dict.fromkeys(missing, self.floor)
                | dict(self.vectors.likeness(self.vector, missing))
            )
        return pool.column(self.near)


def _base(
    question: str, pool: _CandidatePool, place: DialogueTurns, meant: _Meaning
) -> dict[str, Scores]:
    weights = pool.weights
    lexical = normalize_scores(pool.words)
    if place.names:
        wide = scale_scores(
            weights.window, normalize_scores(score_windows(pool.rest, pool.counted, place))
        )
        lexical = add_scores(scale_scores(1 - weights.window, lexical), wide)
    parts = {"words": lexical, "close": pool.close}
    if meant.near:
        cosines = meant.column(pool)
        share = (
            weights.meaning * meant.trust * measure_agreement(lexical, cosines)
            if any(lexical)
            else 1
        )
        parts = {name: scale_scores(1 - share, part) for name, part in parts.items()}
        parts["meaning"] = scale_scores(share, normalize_above(cosines, meant.floor))
    parts["title"] = scale_scores(weights.titled, pool.column(pool.names.pages))
    if place.names:
        parts["speaker"] = scale_scores(weights.speaker, score_speaker(question, pool.rows))
    return parts


def _led(pool: _CandidatePool, base: Scores) -> dict[int, float]:
    """Return what pages gain from the best ones, by number."""
    best = sort_by_score(base)[:SEED_COUNT]
    most = base[best[0]]
    if most <= 0:
        return {}
    sure = pool.names.pages
    seeds = [
        Seed(pool.rows[n], max((base[n] / most) ** 2, sure.get(pool.rows[n].number, 0.0)))
        for n in best
    ]
    return score_mentions(pool.asked, pool.store, seeds, pool.weights)


def _leading(question: str, pool: _CandidatePool, total: Scores, limit: int) -> Scores:
    """Return what the best pages lose that only lead to others."""
    lost = [0.0] * len(pool.rows)
    if asks_for_navigation(question):
        return lost
    for at in sort_by_score(total)[: 2 * limit]:
        row = pool.rows[at]
        if total[at] > 0 and is_navigation_page(row.title, row.text):
            lost[at] = -pool.weights.leading * total[at]
    return lost


def _sum(parts: Mapping[str, Scores]) -> Scores:
    return reduce(add_scores, parts.values())
