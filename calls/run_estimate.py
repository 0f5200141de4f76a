"""Estimate what is left of a run from what its stages, and those of earlier runs, took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import select

from calls.attempts import EMBEDDER, INDEXER
from graph.context import Context
from models.chat_models import model_for_role
from runs.progress_events import UNKNOWN_LEFT, ProgressEstimate
from runs.tables import attempts, runs
from storage.engine import read_rows

RunStage = Literal["preparing", "researching", "reporting"]
"""A part of a run: until there is a plan, while steps are done, until there is a report."""

STAGES: tuple[RunStage, ...] = ("preparing", "researching", "reporting")

EARLIER_RUNS = 8
"""How many earlier runs an estimate rests on at most."""

FINISHED = ("succeeded", "partial")
"""The statuses of runs whose times are believed."""

SPREAD = (0.6, 1.6)
"""How far a time may be off that was measured only once."""

REPORT_CALLS = (1, 4)
"""How many calls a report takes, as far as no earlier run tells."""

_UNTIMED = (EMBEDDER, INDEXER, "memorizer")


@dataclass
class StagePace:
    """What one stage of a run took."""

    seconds: float = 0.0
    calls: int = 0


@dataclass
class RunPace:
    """What an earlier run took."""

    steps: int = 1
    stages: dict[RunStage, StagePace] = field(
        default_factory=lambda: {name: StagePace() for name in STAGES}
    )


@dataclass
class RunMoment:
    """Where a run stands."""

    stage: RunStage = "preparing"
    seconds: float = 0.0
    """How long its stage has taken."""
    calls: int = 0
    """How many calls its stage has made."""
    steps: int = 0
    """How many steps it has; 0 while that is unknown."""
    done: int = 0
    """How many of them have ended."""


async def load_run_paces(owner: str, context: Context) -> list[RunPace]:
    """Return what the newest runs of an owner took that had the same depth and writer."""
    recent = (
        select(runs.c.id, runs.c.context)
        .where(runs.c.owner == owner, runs.c.status.in_(FINISHED))
        .order_by(runs.c.created.desc())
        .limit(3 * EARLIER_RUNS)
    )
    alike = [row.id for row in await read_rows(recent) if _depth(row.context) == context.depth]
    names = ("run", "session", "role", "step", "model", "started", "ended")
    columns = [attempts.c[name] for name in names]
    made: dict[str, list[Any]] = {}
    for row in await read_rows(select(*columns).where(attempts.c.run.in_(alike[:EARLIER_RUNS]))):
        if row.role not in _UNTIMED:
            made.setdefault(row.run, []).append(row)
    writer = model_for_role("reporter", context)
    return [measure_pace(rows) for rows in made.values() if _writer(rows) == writer]


def _depth(context: str) -> str:
    return str(json.loads(context).get("depth", Context().depth))


def _writer(rows: Iterable[Any]) -> str:
    return next((str(row.model) for row in rows if row.role == "reporter"), "")


def _stage(role: str, step: str) -> RunStage:
    if role in ("reporter", "checker"):
        return "reporting"
    return "researching" if step or role == "judge" else "preparing"


def measure_pace(rows: Iterable[Any]) -> RunPace:
    """Return what a run took by its attempts; the time between its sessions is not counted."""
    pace, spans = RunPace(), dict[tuple[RunStage, str], tuple[float, float]]()
    steps = set[str]()
    for row in rows:
        stage = _stage(row.role, row.step)
        pace.stages[stage].calls += 1
        steps |= {row.step} if stage == "researching" and row.step else set()
        first, last = spans.get((stage, row.session), (row.started, row.ended))
        spans[stage, row.session] = min(first, row.started), max(last, row.ended)
    for (stage, _), (first, last) in spans.items():
        pace.stages[stage].seconds += last - first
    pace.steps = max(len(steps), 1)
    return pace


def estimate_left(now: RunMoment, paces: Sequence[RunPace]) -> ProgressEstimate:
    """Return what is left of a run as the least and the most; unknown where nothing tells it.

    Args:
        now: Where the run stands.
        paces: What earlier runs took.
    """
    if not paces:
        return _estimate_alone(now)
    left = [_left_at_pace(now, pace) for pace in paces]
    low, high = (1.0, 1.0) if len(left) > 1 else SPREAD
    seconds = [one.seconds for one in left]
    calls = [one.calls for one in left]
    return ProgressEstimate(
        calls=[round(min(calls) * low), round(max(calls) * high)],
        seconds=[round(min(seconds) * low), round(max(seconds) * high)],
    )


def _left_at_pace(now: RunMoment, pace: RunPace) -> StagePace:
    """Return what is left if a run goes on as an earlier one did."""
    at = STAGES.index(now.stage)
    left = StagePace()
    for name in STAGES[at:]:
        took, share = pace.stages[name], 1.0
        if name == "researching" and now.steps:
            share = (now.steps - now.done) / pace.steps
        elapsed = now.seconds if name == now.stage and name != "researching" else 0.0
        made = now.calls if name == now.stage and name != "researching" else 0
        left.seconds += max(took.seconds * share - elapsed, 0.0)
        left.calls += max(round(took.calls * share) - made, 0)
    return left


def _estimate_alone(now: RunMoment) -> ProgressEstimate:
    """Return what is left by the steps that this run has done."""
    if now.stage != "researching" or not now.done or not now.calls:
        return UNKNOWN_LEFT
    share, each = (now.steps - now.done) / now.done, now.seconds / now.calls
    calls, seconds = now.calls * share, now.seconds * share
    return ProgressEstimate(
        calls=[
            round(calls * SPREAD[0]) + REPORT_CALLS[0],
            round(calls * SPREAD[1]) + REPORT_CALLS[1],
        ],
        seconds=[
            round(seconds * SPREAD[0] + each * REPORT_CALLS[0]),
            round(seconds * SPREAD[1] + each * REPORT_CALLS[1]),
        ],
    )
