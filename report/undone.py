"""Find the parts of a run that failed, so that a resume can repeat them."""

from __future__ import annotations

from typing import Any, cast

from config.errors import Problem
from graph.records import Finding, key, of_turn
from graph.state import State


def undone(state: State) -> list[Finding]:
    """Return the findings of this turn whose steps failed."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state.get("turn", 0))
    return [one for one in findings.values() if one.get("error")]


def first_error(state: State) -> Problem | None:
    """Return the first problem because of which a part was not done."""
    told = [one["error"] for one in undone(state)]
    told += [error] if (error := _of_report(state)) else []
    return Problem.of(told[0]) if told else None


ROLES = {"rewriter": "coordinator", "planner": "background"}
"""Roles without which nothing may be found, and the nodes after which they are asked."""


def stands_before(state: State) -> str:
    """Return the node after which a finished run repeats its failed parts; "" without any."""
    error = _of_report(state)
    if error and error.get("role") in ROLES:
        return ROLES[error["role"]]
    if undone(state):
        return "human_feedback"
    return "knowledge" if error else ""


def begins_again(state: State, node: str) -> State:
    """Return the update with which a finished run continues after a node."""
    if node not in ROLES.values():
        return State(status="running")
    names = of_turn(state.get("findings"), state["turn"])
    again = {key(state["turn"], name): None for name in names}
    return State(status="running", findings=cast("Any", again), rounds=0, follow_ups=[])


def _of_report(state: State) -> dict[str, str] | None:
    report = state.get("report")
    return report.get("error") if report else None
