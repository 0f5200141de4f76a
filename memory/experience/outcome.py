"""Work out how a run ended, and what a record of wins is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

End = Literal["resolved", "partial", "failed"]

WEIGHTS: Mapping[str, float] = {"coverage": 0.4, "citations": 0.3, "reflection": 0.2, "budget": 0.1}
"""What each sign of an outcome weighs where no person has spoken."""

PERSON = 3.0
"""What a person's word weighs beside all other signs together, which weigh 1."""

RESOLVED, PARTIAL = 0.7, 0.35
"""From which outcome on a run is resolved, or partial."""

MOST: Mapping[float, float] = {1.0: 1.0, 0.5: 0.69, 0.0: 0.34}
"""The best outcome of a run that answered, answered in part, or did not answer at all."""

Z = 1.96
"""The two-sided 95 % quantile of the normal distribution."""


class Signs(NamedTuple):
    """What tells how a run ended, each in 0..1."""

    coverage: float
    """The share of the plan's steps that came out well."""
    citations: float
    """The share of the report's sentences that the checks let stand."""
    reflection: float
    """The share of findings that were reviewed and passed."""
    budget: float
    """1 if the run came to its own end, 0 if a limit ended it."""
    person: float | None = None
    """1 for a thumb up, 0 for a thumb down or a correction; none if nobody has spoken."""
    answered: float = 1.0
    """1 for an answer, 0.5 for a part of one or one that is not sure, 0 for none."""


def outcome(signs: Signs) -> float:
    """Return how well a run ended, in 0..1.

    The weighted mean of the automatic signs, `WEIGHTS`, at the most `MOST`: a run that did not
    answer is no success, however well it went about it. Where a person has spoken, the mean of that
    and of the person's word, which counts `PERSON` times as much. The signs are those that
    Reflexion (Shinn et al. 2023, arXiv 2303.11366) calls internal and external feedback.
    """
    automatic: float = sum(weight * getattr(signs, name) for name, weight in WEIGHTS.items())
    automatic = min(automatic, MOST[signs.answered])
    if signs.person is None:
        return automatic
    return (automatic + PERSON * signs.person) / (1 + PERSON)


def end(value: float) -> End:
    """Return how a run with an outcome ended."""
    return "resolved" if value >= RESOLVED else "partial" if value >= PARTIAL else "failed"


def least(wins: float, uses: float) -> float:
    """Return the lower bound of the share of wins that is likely behind a record, in 0..1.

    The Wilson score interval (Wilson 1927) at 95 %. One win and one use are added beforehand, so
    that what is new can show its worth: it begins at 0.21, and one failure leaves it 0.09.
    """
    return _wilson(wins + 1, uses + 1, -1)


def most(wins: float, uses: float) -> float:
    """Return the upper bound of the same interval, in 0..1."""
    return _wilson(wins + 1, uses + 1, 1)


def _wilson(wins: float, uses: float, side: int) -> float:
    share = wins / uses
    spread = Z * math.sqrt(share * (1 - share) / uses + Z * Z / (4 * uses * uses))
    return (share + Z * Z / (2 * uses) + side * spread) / (1 + Z * Z / uses)
