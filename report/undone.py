"""Find the parts of a run that failed or that a limit prevented, so that a resume repeats them."""

from __future__ import annotations

from typing import Any, cast

from config.errors import Problem
from graph.context import Context
from graph.records import Finding, key, of_steps, of_turn
from graph.state import State


def undone(state: State) -> list[Finding]:
    """Return the findings of this turn whose steps failed."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state.get("turn", 0))
    return [one for one in findings.values() if one.get("error")]


def capped(state: State) -> list[Finding]:
    """Return the findings of this turn that a limit of the run prevented or cut short."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state.get("turn", 0))
    return [one for one in findings.values() if one["reason"].startswith(CAPPED)]


def limit(state: State) -> str:
    """Return the limit because of which a finished run is not whole, as `max_calls = 10`."""
    report = state.get("report")
    told = [report.get("limit", "")] if report else []
    told += [one["reason"].removeprefix(CAPPED) for one in capped(state)]
    return next(filter(None, told), "")


def limit_kept(state: State, choices: Context) -> str:
    """Return the limit that ended a run and still is what it was; "" if more can be done now."""
    reached = "" if first_error(state) else limit(state)
    name = reached.partition(" = ")[0]
    return reached if reached == f"{name} = {getattr(choices, name, None)}" else ""


def first_error(state: State) -> Problem | None:
    """Return the first problem because of which a part was not done."""
    told = [one["error"] for one in undone(state)]
    told += [error] if (error := _of_report(state)) else []
    return Problem.of(told[0]) if told else None


CAPPED = "budget_spent: "
"""How the reason of a finding begins that a limit prevented; the limit follows."""

UNUSABLE = "answer_unusable"
"""The code of a refusal, an error sent as text, or an answer that names no source."""

ROLES = {"rewriter": "coordinator", "planner": "background"}
"""Roles without which nothing may be found, and the nodes after which they are asked."""


def stands_before(state: State) -> str:
    """Return the node after which a finished run repeats what was not done; "" if all was."""
    error = _of_report(state)
    if error and error.get("role") in ROLES:
        return ROLES[error["role"]]
    if undone(state) or capped(state):
        return "human_feedback"
    if limit(state) and not of_turn(state.get("findings"), state["turn"]):
        return ROLES["rewriter"]
    return "knowledge" if error or limit(state) else ""


def begins_again(state: State, node: str) -> State:
    """Return the update with which a finished run continues after a node."""
    names = of_steps(state.get("findings"), state["turn"])
    if node not in ROLES.values():
        cut = {key(state["turn"], one["step"]): None for one in capped(state)}
        return State(status="running", findings=cast("Any", cut))
    again = {key(state["turn"], name): None for name in names}
    update = State(status="running", findings=cast("Any", again), rounds=0, follow_ups=[])
    # Without queries, the rewriter is asked for them.
    return State(**update, queries=[]) if node == ROLES["rewriter"] else update


def _of_report(state: State) -> dict[str, str] | None:
    report = state.get("report")
    return report.get("error") if report else None
