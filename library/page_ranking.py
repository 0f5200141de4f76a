"""Rank pages for a question by all signals, and drop pages that repeat others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from library import page_scoring as scoring
from library import signals
from library.page_scoring import PageCollection, PageRow, Scores, SignalWeights
from text.boilerplate import asks_for_navigation, is_navigation_page
from text.regex import regex
from text.words import query_terms, search_words

SAME = 0.9
"""The Jaccard index of the words of two pages from which one repeats the other."""

FEW = 8
"""A page with fewer distinct words is too short to be a repetition."""


def find_distinct_rows(rows: Sequence[PageRow]) -> list[int]:
    """Return the indexes of the rows that repeat no earlier row.

    A row repeats another if the Jaccard index of their search words is `SAME` or more and their
    numbers are equal.
    """
    distinct: dict[int, frozenset[str]] = {}
    for at, row in enumerate(rows):
        words = frozenset(row.words.split())
        if len(words) < FEW or not any(_repeats(words, other) for other in distinct.values()):
            distinct[at] = words
    return list(distinct)


def _repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    if len(one & other) < SAME * len(one | other):
        return False
    return not any(char.isdigit() for word in one ^ other for char in word)


CANDIDATES = 200
"""The fewest pages taken from the keyword index, and as many from the vectors."""
LED_TO = 100
"""The most pages added because the best candidates mention them."""
EVERYWHERE = 0.2
"""A word in a larger share of the pages is not used to find candidates."""
LIKE = 0.25
"""The least cosine of a page that is found although the store has no word of the question."""
SAYS_LITTLE = 0.2
"""A word with less than this share of the question's highest IDF is not embedded."""

_SPELLED_WORD = regex(r"[^\W_]+(?:['’]s\b)?")


class ScoredPage(NamedTuple):
    """A page and its score."""

    row: PageRow
    score: float
    parts: dict[str, float]
    """What each signal adds to the score."""


class _CandidatePool:
    """The rows that are compared, with the words of the question in each."""

    def __init__(
        self,
        store: PageCollection,
        asked: scoring.WeightedQuery,
        names: signals.NamedPages,
        weights: SignalWeights,
    ) -> None:
        self.store = store
        self.asked = asked
        self.rest = asked.without(names.words, weights.answered)
        self.names = names
        self.weights = weights
        self.rows: list[PageRow] = []
        self.at: dict[int, int] = {}
        self.counted: list[scoring.QueryCounts] = []
        self.words: list[float] = []
        self.close: list[float] = []

    def add(self, rows: Iterable[PageRow]) -> None:
        """Add rows that are not in the pool yet."""
        for row in rows:
            if row.number not in self.at:
                self.at[row.number] = len(self.rows)
                self.rows.append(row)
                counted = scoring.count_query_words(self.asked, row)
                self.counted.append(counted)
                asked = self.asked if row.number in self.names.pages else self.rest
                self.words.append(scoring.score_bm25(asked, counted.times, counted.length))
                order = scoring.score_word_order(self.asked, counted.places)
                near = scoring.score_proximity(self.asked, counted.places)
                self.close.append(self.weights.in_order * order + self.weights.together * near)

    def fetch(self, numbers: Iterable[int]) -> None:
        """Add the rows with these numbers."""
        if new := [number for number in dict.fromkeys(numbers) if number not in self.at]:
            self.add(self.store.rows(new))

    def column(self, values: dict[int, float]) -> Scores:
        """Return the value of each row, 0 for a row without one, given values by page number."""
        return [values.get(row.number, 0.0) for row in self.rows]


def drop_common_words(question: str, store: PageCollection) -> str:
    """Return a question without the words that are common in a store, to be embedded.

    In a dialogue of two people, their names occur in every question and distinguish no pages.
    """
    terms = query_terms(question)
    idf = scoring.weigh_query(terms, store.counts(terms), store.stats()).idf
    least = SAYS_LITTLE * max(idf.values(), default=0.0)

    def drop_common(word: re.Match[str]) -> str:
        """Return a word as it is, or nothing if each part of it is common."""
        parts = search_words(word[0])
        return "" if parts and all(idf.get(part, least) < least for part in parts) else word[0]

    return " ".join(_SPELLED_WORD.sub(drop_common, question).split()) or question


def rank_pages(
    question: str,
    store: PageCollection,
    limit: int = 10,
    *,
    vectors: scoring.VectorCollection | None = None,
    vector: scoring.Vector | None = None,
    trust: float = scoring.UNKNOWN_TRUST,
    weights: SignalWeights = scoring.SIGNAL_WEIGHTS,
) -> list[ScoredPage]:
    """Return the pages that match a question best, best first.

    Args:
        question: The question.
        store: The pages.
        limit: The most pages returned.
        vectors: The vectors of the pages, if there are any.
        vector: The vector of `drop_common_words` of the question.
        trust: The weight of vectors in this store, in 0..1 (`library.vector_upkeep`). If the store
            has no word of the question, they are used whatever the weight.
        weights: The weight of each signal.
    """
    asked, selective = _query(question, store)
    names = signals.find_named_pages(question, store, weights.namesake)
    pool = _CandidatePool(store, asked, names, weights)
    size = max(CANDIDATES, limit)
    near: dict[int, float] = {}
    if vectors is not None and vector is not None and (trust > 0 or not asked.idf):
        near = dict(vectors.nearest(vector, size))
    floor = min(near.values(), default=0.0) if asked.idf else LIKE
    pool.fetch([*store.matching(selective, size), *near, *names.pages])
    if spoken := [row.number for row in pool.rows if row.session and row.speaker]:
        pool.add(store.beside(spoken))
    if not pool.rows:
        return []
    parts = _score(question, pool, _Meaning(vectors, vector, near, floor, trust), limit)
    total = _sum(parts)
    best = scoring.sort_by_score(total)[:limit]
    return [ScoredPage(pool.rows[n], total[n], {k: v[n] for k, v in parts.items()}) for n in best]


def _query(question: str, store: PageCollection) -> tuple[scoring.WeightedQuery, list[str]]:
    """Return the weighted terms of a question, and those that few enough pages of a store have."""
    terms = query_terms(question)
    counts, stats = store.counts(terms), store.stats()
    asked = scoring.weigh_query(terms, counts, stats)
    most = max(EVERYWHERE * stats.pages, CANDIDATES)
    selective = [term for term in asked.idf if counts[term] <= most]
    return asked, selective or list(asked.idf)


def _score(question: str, pool: _CandidatePool, meaning: _Meaning, limit: int) -> dict[str, Scores]:
    """Return the scores of all candidates by signal; add the pages that the best ones mention."""
    turns = signals.find_turns(pool.rows)
    parts = _score_base(question, pool, turns, meaning)
    if links := _score_links(pool, _sum(parts)):
        pool.fetch(sorted(set(links) - set(pool.at), key=lambda number: -links[number])[:LED_TO])
        turns = signals.find_turns(pool.rows)
        parts = _score_base(question, pool, turns, meaning)
        parts["links"] = pool.column(links)
    if turns.names:
        base, weights = _sum(parts), pool.weights
        asked, rows, counted = pool.asked, pool.rows, pool.counted
        parts |= signals.score_turn_context(asked, rows, counted, turns, base, weights)
    dates = signals.score_dates(question, pool.rows)
    parts["date"] = scoring.scale_scores(pool.weights.date, dates)
    parts["leads on"] = _penalize_navigation(question, pool, _sum(parts), limit)
    return parts


class _Meaning(NamedTuple):
    vectors: scoring.VectorCollection | None
    vector: scoring.Vector | None
    near: dict[int, float]
    floor: float
    trust: float

    def column(self, pool: _CandidatePool) -> Scores:
        """Return the likeness of each row of a pool; rows without a vector have the floor."""
        missing = [row.number for row in pool.rows if row.number not in self.near]
        if missing and self.vectors is not None and self.vector is not None:
            self.near.update(dict.fromkeys(missing, self.floor))
            self.near.update(self.vectors.likeness(self.vector, missing))
        return pool.column(self.near)


def _score_base(
    question: str, pool: _CandidatePool, turns: signals.DialogueTurns, meaning: _Meaning
) -> dict[str, Scores]:
    """Return the scores by the signals that need no other scores."""
    weights = pool.weights
    lexical = scoring.normalize_scores(pool.words)
    if turns.names:
        windows = scoring.normalize_scores(signals.score_windows(pool.rest, pool.counted, turns))
        alone = scoring.scale_scores(1 - weights.window, lexical)
        lexical = scoring.add_scores(alone, scoring.scale_scores(weights.window, windows))
    parts = {"words": lexical, "close": pool.close}
    if meaning.near:
        cosines = meaning.column(pool)
        share = 1.0
        if any(lexical):
            share = weights.meaning * meaning.trust * scoring.measure_agreement(lexical, cosines)
        parts = {name: scoring.scale_scores(1 - share, part) for name, part in parts.items()}
        near = scoring.normalize_above(cosines, meaning.floor)
        parts["meaning"] = scoring.scale_scores(share, near)
    parts["title"] = scoring.scale_scores(weights.titled, pool.column(pool.names.pages))
    if turns.names:
        spoken = signals.score_speaker(question, pool.rows)
        parts["speaker"] = scoring.scale_scores(weights.speaker, spoken)
    return parts


def _score_links(pool: _CandidatePool, base: Scores) -> dict[int, float]:
    """Return what pages gain because the best candidates mention them, by page number."""
    best = scoring.sort_by_score(base)[: signals.SEED_COUNT]
    highest = base[best[0]]
    if highest <= 0:
        return {}
    named = pool.names.pages
    rows = {n: pool.rows[n] for n in best}
    forces = {n: max((base[n] / highest) ** 2, named.get(rows[n].number, 0.0)) for n in best}
    seeds = [signals.Seed(rows[n], force) for n, force in forces.items()]
    return signals.score_mentions(pool.asked, pool.store, seeds, pool.weights)


def _penalize_navigation(question: str, pool: _CandidatePool, total: Scores, limit: int) -> Scores:
    """Return the negative scores of the best pages that only link to others."""
    penalties = [0.0] * len(pool.rows)
    if asks_for_navigation(question):
        return penalties
    for at in scoring.sort_by_score(total)[: 2 * limit]:
        row = pool.rows[at]
        if total[at] > 0 and is_navigation_page(row.title, row.text):
            penalties[at] = -pool.weights.leading * total[at]
    return penalties


def _sum(parts: Mapping[str, Scores]) -> Scores:
    return reduce(scoring.add_scores, parts.values())
