"""Leave out pages that say what a better one says already."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.pool import Row

SAME = 0.9
"""Two pages say the same if they share this part of all their different words."""

FEW = 8
"""A page of fewer different words says too little to be a repetition."""


def distinct(rows: Sequence[Row]) -> list[int]:
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
