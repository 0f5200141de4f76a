"""How good a ranking is: recall, reciprocal rank, discounted gain, covered facts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

FIRST = 100
"""How far down a ranking is looked at."""

CUTS = (1, 2, 5, 10)


def scores(
    ranked: Sequence[str], gold: Collection[str], groups: Sequence[Collection[str]] = ()
) -> dict[str, float]:
    """Score one ranking; every score is between 0 and 1.

    Args:
        ranked: The ids that were found, best first, none twice.
        gold: The ids that should be; at least one.
        groups: Ids that say the same fact, one group for each fact that is asked for.

    Returns:
        `R@k`: the share of gold in the first k. `all@k`: whether all of it is there. `MRR`: 1 by
        the rank of the first. `nDCG@10`: with gains of 0 and 1. With groups, `group@k` is the share
        of them that have an id in the first k, and `all_groups@k` whether all have.
    """
    wanted = set(gold)
    tops = {cut: set(ranked[:cut]) for cut in CUTS}
    told = {f"R@{cut}": len(wanted & tops[cut]) / len(wanted) for cut in CUTS}
    told |= {f"all@{cut}": float(wanted <= tops[cut]) for cut in (5, 10)}
    told["MRR"] = next((1 / at for at, one in enumerate(ranked[:FIRST], 1) if one in wanted), 0.0)
    told["nDCG@10"] = _gain([one in wanted for one in ranked[:10]]) / _gain([True] * len(wanted))
    for cut in (5, 10) if groups else ():
        covered = [not tops[cut].isdisjoint(group) for group in groups]
        told[f"group@{cut}"] = sum(covered) / len(groups)
        told[f"all_groups@{cut}"] = float(all(covered))
    return told


def mean(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each score over the rows that have it."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in columns.items()}


def fused(rankings: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    """Join rankings by plain reciprocal rank fusion (Cormack et al., SIGIR 2009)."""
    worth: dict[str, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking[:FIRST], start=1):
            worth[one] = worth.get(one, 0.0) + 1 / (k + rank)
    return sorted(worth, key=lambda one: -worth[one])


def _gain(hits: Sequence[bool]) -> float:
    return sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits[:10], start=1) if hit)
