"""The pages as the scorer sees them, and the scores of single pages.

BM25, proximity and word order, the weights of all signals, and the fusion of scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

Vector = Sequence[float]


class PageRow(NamedTuple):
    """A page as the scorer sees it."""

    number: int
    """The row number in the database, never reused."""
    id: str
    title: str
    text: str
    words: str
    """The search words of the text when it was written, joined by spaces."""
    title_words: str
    """The search words of the title, likewise."""
    session: str
    """The dialogue or document that the page is a part of; empty without one."""
    turn: int
    """Its position in the session."""
    speaker: str
    said: str
    """When it was said, as an ISO date or time; empty if unknown."""
    cited: str = "[]"
    """The ids of the pages that a report cites, as a JSON list; other pages cite none."""


class PageCounts(NamedTuple):
    """The size of a namespace."""

    pages: int
    words: float
    """The average number of search words in a text."""
    title_words: float
    """The average number of search words in a title."""


class PageCollection(Protocol):
    """One namespace of pages, as the scorer sees it."""

    def stats(self) -> PageCounts:
        """Return the size of the namespace."""

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return how many pages contain each word, in the text or the title."""

    def sample(self, limit: int) -> list[PageRow]:
        """Return up to `limit` pages from the whole namespace, nearly the same at each call."""

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the numbers of the pages that match the words best, by the index's own rank."""

    def beginning(self, start: str) -> list[str]:
        """Return words with a prefix, in any order."""

    def rows(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return pages by number, in any order; unknown numbers are omitted."""

    def beside(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return the turns before and after these pages, in the same session."""

    def holding(self, names: Sequence[str], limit: int) -> Mapping[str, Mapping[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and page number.

        A name is search words joined by spaces. The value tells whether the title contains the
        name. A name in more than `limit` pages is omitted.
        """

    def titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the pages whose title has one of these keys, by key."""


class VectorCollection(Protocol):
    """The vector index of the same namespace."""

    def nearest(self, vector: Vector, limit: int) -> Mapping[int, float]:
        """Return the cosines of the nearest pages, by page number."""

    def likeness(self, vector: Vector, numbers: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of given pages that have vectors, by page number."""


UNKNOWN_TRUST = 0.5
"""The trust in vectors that were not measured."""


class SignalWeights(NamedTuple):
    """The weights of the signals; the best page by words alone scores 1, and others add to it.

    They were tuned on all question sets of `evals/retrieval.py` together; results change little
    around these values.
    """

    in_order: float = 0.4
    """Words follow each other as in the question."""
    together: float = 0.3
    """Words of the question are close to each other."""
    meaning: float = 0.4
    """The share of fully trusted vectors in the fusion with words."""
    titled: float = 0.8
    """The question names the page's title."""
    namesake: float = 0.6
    """The share of `titled` for a page whose title has more words than the question names."""
    answered: float = 0.4
    """The share of their IDF that words of a named title have in all other pages."""
    leading: float = 0.6
    """The share of its score that a page loses if it only links to others: a redirect, an index."""
    mention: float = 0.7
    """A good page mentions the page's title."""
    name: float = 0.5
    """A good page and this one share a name found nowhere else."""
    name_in_title: float = 1.6
    """The factor of `name` if the title contains the name."""
    window: float = 0.7
    """The share of the words of a turn and its neighbours, against those of the turn alone."""
    speaker: float = 0.25
    """The question names the speaker and no other speaker."""
    beside: float = 0.15
    """The previous or next turn is good."""
    reply: float = 0.4
    """The previous turn is good and a question."""
    question: float = 0.15
    """The turn is itself a question; this is subtracted."""
    session: float = 0.1
    """The session as a whole contains the words."""
    best_turn: float = 0.3
    """The session has a good turn."""
    date: float = 0.2
    """It was said on a date in the question."""


SIGNAL_WEIGHTS = SignalWeights()

Scores = list[float]
"""The scores of pages, in their order; a list, since numpy takes longer to import than a sum."""

COMPARED = 20
"""How many of the best pages of both lists are compared."""
AGREED = 0.3
"""The shared part from which lists agree fully; good lists share about twice as much."""


def add_scores(one: Scores, other: Scores) -> Scores:
    """Return the sums of scores, page by page."""
    return [a + b for a, b in zip(one, other, strict=True)]


def scale_scores(factor: float, scores: Scores) -> Scores:
    """Return scores multiplied by a factor."""
    return [factor * score for score in scores]


def normalize_scores(scores: Scores) -> Scores:
    """Divide scores by the best one; all are 0 if none is above 0."""
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def sort_by_score(scores: Scores) -> list[int]:
    """Return the indexes of scores, best first, equal scores in their order."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def normalize_above(cosines: Scores, floor: float) -> Scores:
    """Scale cosines linearly so that `floor` becomes 0 and the best one 1.

    Cosines of unrelated texts differ between embedders; the floor is the cosine of the last of the
    nearest pages, so pages that are not among these have 0.
    """
    return normalize_scores([max(cosine - floor, 0.0) for cosine in cosines])


def measure_agreement(one: Scores, other: Scores) -> float:
    """Return how far two lists of scores agree on the best pages, in 0..1.

    By chance, lists share 5 % of the best pages; a list that shares less adds only noise.
    """
    size = min(COMPARED, len(one) // 2)
    if not size:
        return 1.0
    shared = len({*sort_by_score(one)[:size]} & {*sort_by_score(other)[:size]}) / size
    return min(1.0, max(0.0, (shared - 0.05) / (AGREED - 0.05)))


K1, B = 1.2, 0.5
TITLE_TIMES = 3
"""How many times a title word counts."""
SPAN = 20
"""The length of the window of proximity, in words."""


class WeightedQuery(NamedTuple):
    """The words of a question with their inverse document frequencies in a namespace."""

    idf: dict[str, float]
    total: float
    """The sum of the frequencies in `idf`; never 0."""
    after: dict[str, str]
    """The next word of each word but the last."""
    average: float
    """The average length of a page in words, title words counted `TITLE_TIMES` times."""

    def without(self, words: frozenset[str], share: float) -> WeightedQuery:
        """Return the question with the frequencies of some words multiplied by a share."""
        idf = {word: worth * (share if word in words else 1) for word, worth in self.idf.items()}
        return self._replace(idf=idf)


class QueryCounts(NamedTuple):
    """The words of a question in a page."""

    times: dict[str, int]
    """How often each word occurs, title words counted `TITLE_TIMES` times."""
    length: int
    places: list[tuple[int, str]]
    """The positions of the words, in order; the title comes before the text."""


def weigh_query(
    terms: Sequence[str], counts: Mapping[str, int], stats: PageCounts
) -> WeightedQuery:
    """Return the words of a question that the namespace contains, with their IDF.

    A word in n of N pages has ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene, which is never
    negative.
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
    """Return the BM25 score of a page (Robertson and Zaragoza 2009)."""
    damped = K1 * (1 - B + B * length / asked.average)
    return sum(asked.idf[word] * n * (K1 + 1) / (n + damped) for word, n in times.items())


def score_proximity(asked: WeightedQuery, places: Sequence[tuple[int, str]]) -> float:
    """Return the largest share of a question's IDF within `SPAN` words of a page, in 0..1."""
    window: dict[str, int] = {}
    first = 0
    total = best = 0.0
    for at, word in places:
        window[word] = window.get(word, 0) + 1
        if window[word] == 1:
            total += asked.idf[word]
        while places[first][0] <= at - SPAN:
            dropped = places[first][1]
            window[dropped] -= 1
            if not window[dropped]:
                total -= asked.idf[dropped]
            first += 1
        best = max(best, total)
    return best / asked.total


def score_word_order(asked: WeightedQuery, places: Sequence[tuple[int, str]]) -> float:
    """Return the share of a question's IDF in pairs of consecutive words, in 0..1.

    In the page, one other word may come between the words of a pair.
    """
    found = {
        first
        for (a, first), (b, second) in itertools.pairwise(places)
        if b - a <= 2 and asked.after.get(first) == second
    }
    return sum(min(asked.idf[word], asked.idf[asked.after[word]]) for word in found) / asked.total
