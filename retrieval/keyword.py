"""Rank a small set of texts by the words they share with a query, and keep the best apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from rank_bm25 import BM25Plus

from retrieval.words import terms
from retrieval.words import words as cut

SAME = 0.9
"""Texts that share this much of their words (Jaccard) say the same, if their numbers agree too."""

PART = 0.4
"""How much of a text's score is by the part of what is wanted that it fits best."""


@lru_cache(maxsize=4096)
def words(text: str) -> list[str]:
    """Return the search words of a text; passages come back with every query of a run."""
    return cut(text)


def rank(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the index and BM25 score of each text that shares a word with `query`, best first.

    The set is indexed for this one query. `BM25Okapi` of rank-bm25 gives a word found in more than
    half of the texts a negative weight, and in a set of ten texts the topic itself is such a word;
    the weight of `BM25Plus`, ln((N + 1) / n), is always positive. Its lower bound `delta` is
    added even to texts without the word, so it is 0 here: a text without any word scores 0.
    """
    wanted = terms(query)
    bags = [words(text) for text in texts]
    if not wanted or not any(bags):
        return []
    scores = BM25Plus(bags, k1=1.2, b=0.75, delta=0).get_scores(wanted).tolist()
    found = [(number, score) for number, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def rank_for(wanted: Sequence[str], texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the index and score in 0..1 of each text that shares a word with what is wanted.

    A text is scored by all lines of what is wanted together, and by the line that it fits best, so
    that one which answers a single part of it does not come behind those that touch on each.
    """
    lines = [line for text in wanted for line in text.split("\n") if line.strip()]
    best: dict[int, float] = {}
    for line in dict.fromkeys(lines):
        for number, score in _shares(rank(line, texts)):
            best[number] = max(best.get(number, 0.0), score)
    together = _shares(rank("\n".join(lines), texts))
    found = [(n, (1 - PART) * score + PART * best.get(n, 0.0)) for n, score in together]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def _shares(ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return scores as parts of the best one."""
    return [(number, score / ranked[0][1]) for number, score in ranked]


def spread(
    ranked: Iterable[tuple[int, float]], texts: Sequence[str], limit: int, weight: float = 0.7
) -> list[tuple[int, float]]:
    """Return up to `limit` of the ranked texts, each good and unlike those before it.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): `weight` times the score,
    as a part of the best one, less `1 - weight` times the share of words that a chosen text has.
    A text that says the same as a chosen one is left out.
    """
    return list(islice(one_by_one(ranked, texts, weight), limit))


def one_by_one(
    ranked: Iterable[tuple[int, float]], texts: Sequence[str], weight: float = 0.7
) -> Iterator[tuple[int, float]]:
    """Yield what `spread` returns, as long as more is wanted."""
    left = dict(ranked)
    at = {number: place for place, number in enumerate(left)}
    like = Likeness([texts[number] for number in left])
    worth = _scaled(list(left.items()))
    while left:
        best = max(left, key=lambda n: weight * worth[n] - (1 - weight) * like.most[at[n]])
        yield best, left.pop(best)
        same = like.add(at[best], {at[number] for number in left})
        left = {number: score for number, score in left.items() if at[number] not in same}


class Likeness:
    """How much of its words each of some texts shares with those that were added, at most."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.bags = [frozenset(words(text)) for text in texts]
        self.most = [0.0] * len(texts)

    def add(self, one: int, others: Iterable[int]) -> set[int]:
        """Compare a text with others, and return those that say the same."""
        same = set()
        for other in others:
            shared = len(self.bags[one] & self.bags[other])
            self.most[other] = max(self.most[other], self._contained(one, other, shared))
            if other != one and self._same(one, other, shared):
                same.add(other)
        return same

    def _contained(self, one: int, other: int, shared: int) -> float:
        return shared / min(len(self.bags[one]), len(self.bags[other])) if shared else 0.0

    def _same(self, one: int, other: int, shared: int) -> bool:
        together = len(self.bags[one]) + len(self.bags[other]) - shared
        if shared >= SAME * together > 0:
            return _numbers(self.texts[one]) == _numbers(self.texts[other])
        return self.texts[one] == self.texts[other]


def _scaled(ranked: Sequence[tuple[int, float]]) -> dict[int, float]:
    low = min(0.0, *(score for _, score in ranked)) if ranked else 0.0
    high = max((score for _, score in ranked), default=0.0)
    return {n: (score - low) / (high - low) if high > low else 1.0 for n, score in ranked}


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+", text))
