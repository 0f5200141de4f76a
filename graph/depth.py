"""How deep a run researches, and what that allows it by default."""

from __future__ import annotations

from typing import Literal, NamedTuple

Depth = Literal["quick", "standard", "deep"]
"""`quick` answers from one search, without a plan; `deep` has more steps, and reads on in them."""


class RunLimits(NamedTuple):
    """What one run may do at most."""

    max_steps: int
    """Steps of a plan."""
    max_rounds: int
    """How often steps are added because something is missing."""
    follow_ups: int
    """Steps that one round adds."""
    tool_rounds: int
    """Model calls of a step that works with tools, the last of which must write."""
    tool_calls: int
    """Tool calls of a step."""
    max_cost: float
    """US dollars."""
    max_tokens: int
    max_calls: int
    """Calls of models and remote embedders."""
    max_minutes: float


LIMITS: dict[Depth, RunLimits] = {
    "quick": RunLimits(1, 0, 0, 6, 12, 0.5, 200_000, 50, 10.0),
    "standard": RunLimits(4, 1, 2, 6, 12, 0.5, 1_000_000, 150, 20.0),
    "deep": RunLimits(8, 3, 4, 13, 36, 2.0, 5_000_000, 600, 60.0),
}
"""What each depth allows unless the caller chooses otherwise."""

DEPTHS: tuple[Depth, ...] = ("quick", "standard", "deep")

LENGTHS = ("brief", "standard", "long")
"""How long a report is to be."""

ADJUSTABLE = ("max_steps", "max_rounds", "max_cost", "max_tokens", "max_calls", "max_minutes")
"""The limits that a caller may set for one run."""
