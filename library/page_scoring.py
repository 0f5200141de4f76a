"""What the scorer sees of pages, and how it scores them.

BM25, the weights of its signals, the fusion of scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

Vector = Sequence[float]


class PageRow(NamedTuple):
    """What the scorer knows of a page."""

    number: int
    """Row number in the database; never given to another page."""
    id: str
    title: str
    text: str
    words: str
    """The search words of the text as they were cut at writing, joined by spaces."""
    title_words: str
    """The search words of the title, likewise."""
    session: str
    """The dialogue or document the page is a part of; empty when it stands alone."""
    turn: int
    """Its place in that session."""
    speaker: str
    said: str
    """ISO date or date and time; empty when unknown."""


class PageCounts(NamedTuple):
    """What a namespace knows of itself."""

    pages: int
    words: float
    """Search words of a text, on average."""
    title_words: float
    """Search words of a title, on average."""


class PageCollection(Protocol):
    """One namespace of pages, as the scorer sees it."""

    def stats(self) -> PageCounts:
        """Return what the namespace knows of itself."""

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return how many pages hold each word, in the text or the title."""

    def sample(self, limit: int) -> list[PageRow]:
        """Return up to `limit` pages from all over the namespace, each time much the same ones."""

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the numbers of the pages that fit the words best, by the index's own rank."""

    def rows(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return pages by their numbers, in any order; unknown numbers are left out."""

    def beside(self, numbers: Sequence[int], reach: int = 1) -> list[PageRow]:
        """Return the pages up to `reach` turns before and after these, in the same session."""

    def holding(self, names: Sequence[str], limit: int) -> Mapping[str, Mapping[int, bool]]:
        """Return the pages that hold the words of a name next to each other, by name.

        A name is search words joined by spaces. Each page's number comes with whether the title
        holds the name. A name found in more than `limit` pages is left out.
        """

    def titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the pages whose title has one of these keys, by key."""


class VectorCollection(Protocol):
    """The vector index of the same namespace."""

    def nearest(self, vector: Vector, limit: int) -> Mapping[int, float]:
        """Return the cosines of the nearest pages, by page number."""

    def likeness(self, vector: Vector, numbers: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of given pages, by page number; none for one without a vector."""


UNKNOWN_TRUST = 0.5
"""How far vectors are trusted of which nothing is known."""


class SignalWeights(NamedTuple):
    """The best page by words alone has 1 point; the other signs add to that.

    Chosen on the questions of `evals/retrieval.py`'s sets together, and flat around these values.
    """

    in_order: float = 0.4
    """Words follow each other as in the question."""
    together: float = 0.3
    """Words of the question stand close to each other."""
    meaning: float = 0.4
    """The share of vectors in fusion with words, where they are to be trusted."""
    titled: float = 0.8
    """The question names the page's title."""
    namesake: float = 0.6
    """The part of that for a page whose title says more than the question does."""
    answered: float = 0.4
    """What the words of a title that the question names are worth in all other pages."""
    leading: float = 0.6
    """The part that a page loses that only leads to others: a redirect, an index."""
    mention: float = 0.7
    """A good page mentions the page's title."""
    name: float = 0.5
    """A good page and this one share a name that is found nowhere else."""
    name_in_title: float = 1.6
    """How many times more that is when the name stands in the title."""
    window: float = 0.7
    """The words of a turn and its neighbours, against those of the turn alone."""
    speaker: float = 0.25
    """The question names the speaker, and nobody else who speaks."""
    beside: float = 0.15
    """The turn before or after is good."""
    reply: float = 0.4
    """The turn before is good and a question."""
    question: float = 0.15
    """The turn is itself a question; this is subtracted."""
    session: float = 0.1
    """The session as a whole holds the words."""
    best_turn: float = 0.3
    """The session has a good turn."""
    date: float = 0.2
    """It was said when the question says."""


SIGNAL_WEIGHTS = SignalWeights()

Scores = list[float]
"""What some pages are worth, in their order; of a few hundred, numpy takes longer to load."""

COMPARED = 20
"""So many of the best pages of both lists are compared."""
AGREED = 0.3
"""Lists that share this part of them agree wholly; measured, good ones share about twice that."""


def add_scores(one: Scores, other: Scores) -> Scores:
    """Return the sums of scores, page by page."""
    return [a + b for a, b in zip(one, other, strict=True)]


def scale_scores(factor: float, scores: Scores) -> Scores:
    """Return scores that are worth so many times as much."""
    return [factor * score for score in scores]


def normalize_scores(scores: Scores) -> Scores:
    """Return scores as parts of the best one, which becomes 1; all 0 when none is above 0."""
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def sort_by_score(scores: Scores) -> list[int]:
    """Return the places of scores, the best first; of equal ones the first."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def normalize_above(cosines: Scores, floor: float) -> Scores:
    """Return cosines as parts of the way from `floor` up to the best one, in 0..1.

    Cosines of unlike texts differ from embedder to embedder; the floor is that of the last of the
    nearest pages, so what is not among those has none of the way.
    """
    return normalize_scores([max(cosine - floor, 0.0) for cosine in cosines])


def measure_agreement(one: Scores, other: Scores) -> float:
    """Return how far two lists of scores agree on the best pages, in 0..1.

    Chance lets 5 % of the best pages be shared; a list below that adds nothing but noise.
    """
    size = min(COMPARED, len(one) // 2)
    if not size:
        return 1.0
    shared = len({*sort_by_score(one)[:size]} & {*sort_by_score(other)[:size]}) / size
    return min(1.0, max(0.0, (shared - 0.05) / (AGREED - 0.05)))


K1, B = 1.2, 0.5
TITLE_TIMES = 3
"""How many times a word of the title counts."""
SPAN = 20
"""So many words on end are looked at together."""


class WeightedQuery(NamedTuple):
    """The words of a question and what each is worth in a namespace."""

    idf: dict[str, float]
    total: float
    """What all of them are worth; never 0."""
    after: dict[str, str]
    """Which word follows which."""
    average: float
    """The average length of a page, the words of the title counted `TITLE_TIMES` times."""

    def without(self, words: frozenset[str], share: float) -> WeightedQuery:
        """Return the question with some words worth only a share of what they are worth."""
        idf = {word: worth * (share if word in words else 1) for word, worth in self.idf.items()}
        return self._replace(idf=idf)


class QueryCounts(NamedTuple):
    """What a page holds of a question."""

    times: dict[str, int]
    """How often each word occurs, in the title `TITLE_TIMES` times."""
    length: int
    places: list[tuple[int, str]]
    """Where the words stand, in order; the title stands before the text."""


def weigh_query(
    terms: Sequence[str], counts: Mapping[str, int], stats: PageCounts
) -> WeightedQuery:
    """Return those words of a question that the namespace knows, with their worth.

    That is ln(1 + (N - n + 0.5) / (n + 0.5)) for a word in n of N pages, as in Lucene: never
    negative, however many pages hold the word.
    """
    found = {term: min(counts[term], stats.pages) for term in terms if counts.get(term)}
    idf = {t: math.log(1 + (stats.pages - n + 0.5) / (n + 0.5)) for t, n in found.items()}
    after = dict(zip(idf, list(idf)[1:], strict=False))
    average = max(stats.words + TITLE_TIMES * stats.title_words, 1.0)
    return WeightedQuery(idf, sum(idf.values()) or 1.0, after, average)


def count_query_words(asked: WeightedQuery, row: PageRow) -> QueryCounts:
    """Count the words of a question in a page."""
    title, text = row.title_words.split(), row.words.split()
    idf = asked.idf
    places = [(at, word) for at, word in enumerate(title + text) if word in idf]
    times: dict[str, int] = {}
    for at, word in places:
        times[word] = times.get(word, 0) + (TITLE_TIMES if at < len(title) else 1)
    return QueryCounts(times, len(text) + TITLE_TIMES * len(title), places)


def score_bm25(asked: WeightedQuery, times: Mapping[str, float], length: float) -> float:
    """Return the BM25 score of a page (Robertson and Zaragoza 2009) from what it holds."""
    damped = K1 * (1 - B + B * length / asked.average)
    return sum(asked.idf[word] * n * (K1 + 1) / (n + damped) for word, n in times.items())


def score_proximity(asked: WeightedQuery, places: Sequence[tuple[int, str]]) -> float:
    """Return the largest part of a question's worth that stands within `SPAN` words, in 0..1."""
    inside: dict[str, int] = {}
    first = 0
    worth = best = 0.0
    for at, word in places:
        inside[word] = inside.get(word, 0) + 1
        if inside[word] == 1:
            worth += asked.idf[word]
        while places[first][0] <= at - SPAN:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                worth -= asked.idf[gone]
            first += 1
        best = max(best, worth)
    return best / asked.total


def score_word_order(asked: WeightedQuery, places: Sequence[tuple[int, str]]) -> float:
    """Return the part of a question's worth in pairs of words that follow each other, in 0..1.

    One other word may stand between them in the page.
    """
    found = {
        one
        for (a, one), (b, two) in itertools.pairwise(places)
        if b - a <= 2 and asked.after.get(one) == two
    }
    worth = sum(min(asked.idf[one], asked.idf[asked.after[one]]) for one in found)
    return worth / asked.total
