"""Fuse the ranks of words with those of vectors, by what the vectors are worth here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

COMPARED = 20
"""So many of the best pages of both lists are compared."""
AGREED = 0.3
"""Lists that share this part of them agree wholly; measured, good ones share about twice that."""


def top(scores: Scores) -> Scores:
    """Return scores as parts of the best one, which becomes 1; all 0 when none is above 0."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros_like(scores)


def above(cosines: Scores, floor: float) -> Scores:
    """Return cosines as parts of the way from `floor` up to the best one, in 0..1.

    Cosines of unlike texts differ from embedder to embedder; the floor is that of the last of the
    nearest pages, so what is not among those has none of the way.
    """
    return top(np.maximum(cosines - floor, 0.0))


def agreement(one: Scores, other: Scores) -> float:
    """Return how far two lists of scores agree on the best pages, in 0..1.

    Chance lets 5 % of the best pages be shared; a list below that adds nothing but noise.
    """
    size = min(COMPARED, len(one) // 2)
    if not size:
        return 1.0
    best = (set(np.argsort(-each, kind="stable")[:size].tolist()) for each in (one, other))
    shared = len(set.intersection(*best)) / size
    return min(1.0, max(0.0, (shared - 0.05) / (AGREED - 0.05)))


def rrf(lists: Iterable[Sequence[int]], k: int = 60) -> dict[int, float]:
    """Return the reciprocal rank fusion of lists of numbers (Cormack and others, SIGIR 2009)."""
    fused: dict[int, float] = {}
    for ranked in lists:
        for rank, number in enumerate(ranked, start=1):
            fused[number] = fused.get(number, 0.0) + 1 / (k + rank)
    return fused
