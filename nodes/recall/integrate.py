"""Write down what the passages say about the question."""

from __future__ import annotations

from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from nodes.recall.state import RecallState
from nodes.researcher import finding_of, write
from runs.faults import bear


async def integrate(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Make a finding of the passages, keeping only what its sources bear out.

    Reads `question`, `step`, `queries`, `passages`, `sources`; writes `finding`.
    """
    if not state["passages"]:
        return RecallState(finding=finding_of(state, "failed", "no_evidence", state["queries"]))
    try:
        written = await write(state, runtime, "recall", state["queries"])
    except Problem as problem:
        bear(problem)
        return RecallState(finding=finding_of(state, "failed", problem.code, state["queries"]))
    return RecallState(finding=written["finding"])
