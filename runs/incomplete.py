"""Find the parts of a run that failed or that a limit prevented, so that a resume repeats them."""

from __future__ import annotations

from typing import Any, cast

from config.errors import Problem
from graph.context import Context
from graph.records import Finding, entries_of_turn, of_steps, turn_key
from graph.state import State


def list_failed_findings(state: State) -> list[Finding]:
    """Return the findings of this turn whose steps failed."""
    return [finding for finding in _findings(state) if finding.get("error")]


def list_capped_findings(state: State) -> list[Finding]:
    """Return the findings of this turn that a limit of the run prevented or cut short."""
    return [finding for finding in _findings(state) if finding["reason"].startswith(CAPPED_PREFIX)]


def _findings(state: State) -> list[Finding]:
    return [*entries_of_turn(state.get("findings"), state.get("turn", 0)).values()]


def find_limit(state: State) -> str:
    """Return the limit that left a finished run incomplete, such as `max_calls = 10`."""
    report = state.get("report")
    limits = [report.get("limit", "")] if report else []
    limits += [one["reason"].removeprefix(CAPPED_PREFIX) for one in list_capped_findings(state)]
    return next(filter(None, limits), "")


def find_unchanged_limit(state: State, choices: Context) -> str:
    """Return the limit that ended a run and that is unchanged; "" if more can be done now."""
    reached = "" if find_first_error(state) else find_limit(state)
    name = reached.partition(" = ")[0]
    return reached if reached == f"{name} = {getattr(choices, name, None)}" else ""


def find_first_error(state: State) -> Problem | None:
    """Return the first problem that prevented a part of the run."""
    errors = [one["error"] for one in list_failed_findings(state)]
    errors += [error] if (error := _report_error(state)) else []
    return Problem.from_dict(errors[0]) if errors else None


CAPPED_PREFIX = "budget_spent: "
"""The prefix of the reason of a finding that a limit prevented; the limit follows."""

UNUSABLE_ANSWER = "answer_unusable"
"""The code of a refusal, an error sent as text, or an answer that names no source."""

RESUME_NODES = {"rewriter": "coordinator", "planner": "background"}
"""Roles without which nothing may be found, and the nodes after which they are asked."""


def find_resume_node(state: State) -> str:
    """Return the node after which a finished run repeats what was not done; "" if all was."""
    error = _report_error(state)
    if error and error.get("role") in RESUME_NODES:
        return RESUME_NODES[error["role"]]
    if list_failed_findings(state) or list_capped_findings(state):
        return "human_feedback"
    if find_limit(state) and not entries_of_turn(state.get("findings"), state["turn"]):
        return RESUME_NODES["rewriter"]
    return "knowledge" if error or find_limit(state) else ""


def build_resume_update(state: State, node: str) -> State:
    """Return the update with which a finished run continues after a node."""
    names = of_steps(state.get("findings"), state["turn"])
    if node not in RESUME_NODES.values():
        cut = {turn_key(state["turn"], one["step"]): None for one in list_capped_findings(state)}
        return State(status="running", findings=cast("Any", cut))
    again = {turn_key(state["turn"], name): None for name in names}
    update = State(status="running", findings=cast("Any", again), rounds=0, follow_ups=[])
    # Without queries, the rewriter is asked for them.
    return State(**update, queries=[]) if node == RESUME_NODES["rewriter"] else update


def _report_error(state: State) -> dict[str, str] | None:
    report = state.get("report")
    return report.get("error") if report else None
