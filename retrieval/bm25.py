"""Score pages by the words they share with a question, with the counts of the whole namespace."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrieval.pool import Row, Stats

K1, B = 1.2, 0.5
TITLE = 3
"""How many times a word of the title counts."""
SPAN = 20
"""So many words on end are looked at together."""


class Asked(NamedTuple):
    """The words of a question and what each is worth in a namespace."""

    idf: dict[str, float]
    total: float
    """What all of them are worth; never 0."""
    after: dict[str, str]
    """Which word follows which."""
    average: float
    """The average length of a page, the words of the title counted `TITLE` times."""

    def without(self, words: frozenset[str], share: float) -> Asked:
        """Return the question with some words worth only a share of what they are worth."""
        idf = {word: worth * (share if word in words else 1) for word, worth in self.idf.items()}
        return self._replace(idf=idf)


class Counted(NamedTuple):
    """What a page holds of a question."""

    times: dict[str, int]
    """How often each word occurs, in the title `TITLE` times."""
    length: int
    places: list[tuple[int, str]]
    """Where the words stand, in order; the title stands before the text."""


def weigh(terms: Sequence[str], counts: Mapping[str, int], stats: Stats) -> Asked:
    """Return those words of a question that the namespace knows, with their worth.

    That is ln(1 + (N - n + 0.5) / (n + 0.5)) for a word in n of N pages, as in Lucene: never
    negative, however many pages hold the word.
    """
    found = {term: min(counts[term], stats.pages) for term in terms if counts.get(term)}
    idf = {t: math.log(1 + (stats.pages - n + 0.5) / (n + 0.5)) for t, n in found.items()}
    after = dict(zip(idf, list(idf)[1:], strict=False))
    average = max(stats.words + TITLE * stats.title_words, 1.0)
    return Asked(idf, sum(idf.values()) or 1.0, after, average)


def count(asked: Asked, row: Row) -> Counted:
    """Count the words of a question in a page."""
    title, text = row.title_words.split(), row.words.split()
    idf = asked.idf
    places = [(at, word) for at, word in enumerate(title + text) if word in idf]
    times: dict[str, int] = {}
    for at, word in places:
        times[word] = times.get(word, 0) + (TITLE if at < len(title) else 1)
    return Counted(times, len(text) + TITLE * len(title), places)


def bm25(asked: Asked, times: Mapping[str, float], length: float) -> float:
    """Return the BM25 score of a page (Robertson and Zaragoza 2009) from what it holds."""
    damped = K1 * (1 - B + B * length / asked.average)
    return sum(asked.idf[word] * n * (K1 + 1) / (n + damped) for word, n in times.items())


def together(asked: Asked, places: Sequence[tuple[int, str]]) -> float:
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


def in_order(asked: Asked, places: Sequence[tuple[int, str]]) -> float:
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
