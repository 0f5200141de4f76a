"""What a run says of its progress: one form of event for terminal, Studio, chat and HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from typing_extensions import TypedDict

from config.key_masking import mask_keys
from prompts.loader import render_prompt
from text.secret_masking import mask_secrets

ProgressKind = Literal[
    "stage", "step", "search", "found", "read", "check", "removed", "cost", "ask", "report"
]
"""What an event is about."""

EVENT_KINDS: dict[str, ProgressKind] = {
    "answered": "report",
    "called": "cost",
    "checked": "check",
    "checking": "check",
    "comparing": "check",
    "completing": "stage",
    "correcting": "stage",
    "earlier_answer": "stage",
    "earlier_waits": "ask",
    "found": "found",
    "found_nothing": "found",
    "judging": "stage",
    "knowledge": "search",
    "outlining": "stage",
    "plan": "stage",
    "plan_waits": "ask",
    "planning": "stage",
    "reading": "read",
    "recomputing": "check",
    "remembering": "stage",
    "removed": "removed",
    "rereading": "stage",
    "researched": "stage",
    "researching": "step",
    "rewriting": "stage",
    "searching": "search",
    "sections": "report",
    "sending": "stage",
    "step_done": "step",
    "steps_wait": "ask",
    "understanding": "stage",
    "writing": "report",
}
"""The kind of each event; its words are `progress_<event>` in `prompts/messages.toml`."""

DETAIL_KINDS = ("search", "found", "read", "cost")
"""The kinds of which a run may have thousands of events."""

MAX_DETAILS = 1_500
"""How many events of these kinds a session tells; the others are always told."""

MAX_TEXT_CHARS = 240
MAX_DATA_CHARS = 160
MAX_DATA_ITEMS = 12
"""What one event holds at most: characters of its words and of a datum, items of a list."""

MINUTES_FROM = 90
"""From so many seconds on, times are told in minutes."""


class ProgressSpending(TypedDict):
    """What a run has used so far."""

    calls: int
    tokens: int
    cost: float
    """In US dollars."""


class ProgressEstimate(TypedDict):
    """What is left until the report, each as the least and the most; None while unknown."""

    calls: list[int] | None
    seconds: list[int] | None


class ProgressEvent(TypedDict):
    """One moment of a run."""

    kind: ProgressKind
    event: str
    """What happens, such as `searching`: a key of `EVENT_KINDS`."""
    run: str
    step: str
    """The id of the step of the plan; "" for the run as a whole."""
    text: str
    """The same in words, in the language of the run."""
    data: dict[str, Any]
    """What the words are made of: numbers, short texts, short lists of them."""
    seconds: float
    """How long the run has worked."""
    spent: ProgressSpending
    left: ProgressEstimate


NOTHING_SPENT = ProgressSpending(calls=0, tokens=0, cost=0.0)
UNKNOWN_LEFT = ProgressEstimate(calls=None, seconds=None)
NOTHING_LEFT = ProgressEstimate(calls=[0, 0], seconds=[0, 0])


def describe_progress(name: str, language: str, values: Mapping[str, object]) -> str:
    """Return what an event says in words, in one short line without keys and secrets."""
    text = render_prompt(f"progress_{name}", language=language, **values)
    return _shorten(text, MAX_TEXT_CHARS)


def limit_data(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the data of an event, short enough for it and without keys and secrets."""
    return {name: _limit(value) for name, value in values.items()}


def _limit(value: object) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_limit(one) for one in value[:MAX_DATA_ITEMS]]
    return _shorten(str(value), MAX_DATA_CHARS)


# Events of a page repeat its title and its address.
@lru_cache(maxsize=1024)
def _shorten(text: str, most: int) -> str:
    # What is cut off is not searched for secrets, but a secret is not cut in two.
    line = mask_keys(mask_secrets(" ".join(text[: 2 * most].split())).text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def describe_left(left: ProgressEstimate, language: str) -> str:
    """Return how long a run still takes, in words; "" while that is unknown or nothing is left."""
    if not left["seconds"] or not left["seconds"][1]:
        return ""
    least, most = left["seconds"]
    # Nobody believes 67 seconds.
    unit, size = ("minutes", 60) if most >= MINUTES_FROM else ("seconds", 5)
    low, high = least // size, -(-most // size)
    if unit == "seconds":
        low, high = low * size, high * size
    span = f"{low}–{high}" if 0 < low < high else str(high)
    time = render_prompt(f"progress_{unit}", language=language, span=span).strip()
    name = "progress_left" if low else "progress_left_at_most"
    return render_prompt(name, language=language, time=time).strip()


def describe_spending(spent: ProgressSpending, language: str) -> str:
    """Return what a run has used so far, in words; "" before the first call."""
    if not spent["calls"]:
        return ""
    cost = f"${spent['cost']:.2f}" if spent["cost"] >= 0.005 else ""
    if spent["cost"] and not cost:
        cost = "< $0.01"
    values = {"calls": spent["calls"], "tokens": f"{spent['tokens']:,}"}
    name = "progress_spent_one" if spent["calls"] == 1 else "progress_spent"
    told = render_prompt(name, language=language, **values).strip()
    return f"{told} · {cost}" if cost else told
