"""Fuse the ranks of words with those of vectors, by what the vectors are worth here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Scores = list[float]
"""What some pages are worth, in their order; of a few hundred, numpy takes longer to load."""

COMPARED = 20
"""So many of the best pages of both lists are compared."""
AGREED = 0.3
"""Lists that share this part of them agree wholly; measured, good ones share about twice that."""


def plus(one: Scores, other: Scores) -> Scores:
    """Return the sums of scores, page by page."""
    return [a + b for a, b in zip(one, other, strict=True)]


def times(factor: float, scores: Scores) -> Scores:
    """Return scores that are worth so many times as much."""
    return [factor * score for score in scores]


def top(scores: Scores) -> Scores:
    """Return scores as parts of the best one, which becomes 1; all 0 when none is above 0."""
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def best_first(scores: Scores) -> list[int]:
    """Return the places of scores, the best first; of equal ones the first."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def above(cosines: Scores, floor: float) -> Scores:
    """Return cosines as parts of the way from `floor` up to the best one, in 0..1.

    Cosines of unlike texts differ from embedder to embedder; the floor is that of the last of the
    nearest pages, so what is not among those has none of the way.
    """
    return top([max(cosine - floor, 0.0) for cosine in cosines])


def agreement(one: Scores, other: Scores) -> float:
    """Return how far two lists of scores agree on the best pages, in 0..1.

    Chance lets 5 % of the best pages be shared; a list below that adds nothing but noise.
    """
    size = min(COMPARED, len(one) // 2)
    if not size:
        return 1.0
    shared = len({*best_first(one)[:size]} & {*best_first(other)[:size]}) / size
    return min(1.0, max(0.0, (shared - 0.05) / (AGREED - 0.05)))


def rrf(lists: Iterable[Sequence[int]], k: int = 60) -> dict[int, float]:
    """Return the reciprocal rank fusion of lists of numbers (Cormack and others, SIGIR 2009)."""
    fused: dict[int, float] = {}
    for ranked in lists:
        for rank, number in enumerate(ranked, start=1):
            fused[number] = fused.get(number, 0.0) + 1 / (k + rank)
    return fused
