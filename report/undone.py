"""What of a run was not done since something failed, so that it can be done once that is mended."""

from __future__ import annotations

from typing import Any, cast

from config.errors import Problem
from graph.records import Finding, key, of_turn
from graph.state import State


def undone(state: State) -> list[Finding]:
    """Return the findings of this turn whose steps something kept from being done."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state.get("turn", 0))
    return [one for one in findings.values() if one.get("error")]


def first_error(state: State) -> Problem | None:
    """Return the problem that is told first of those that kept something from being done."""
    told = [one["error"] for one in undone(state)]
    told += [error] if (error := _of_report(state)) else []
    return Problem.of(told[0]) if told else None


ROLES = {"rewriter": "coordinator", "planner": "background"}
"""Roles without whom nothing may be found, and the nodes behind which they are asked."""


def stands_before(state: State) -> str:
    """Return the node behind which a finished run goes on with what is undone; none if nothing."""
    error = _of_report(state)
    if error and error.get("role") in ROLES:
        return ROLES[error["role"]]
    if undone(state):
        return "human_feedback"
    return "knowledge" if error else ""


def begins_again(state: State, node: str) -> State:
    """Return the update with which a finished run goes on behind a node."""
    if node not in ROLES.values():
        return State(status="running")
    names = of_turn(state.get("findings"), state["turn"])
    again = {key(state["turn"], name): None for name in names}
    return State(status="running", findings=cast("Any", again), rounds=0, follow_ups=[])


def _of_report(state: State) -> dict[str, str] | None:
    report = state.get("report")
    return report.get("error") if report else None
