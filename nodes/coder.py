"""Do a step that computes; without a sandbox it is researched instead."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import StepState
from nodes.researcher import researcher


async def coder(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Do a step that computes.

    Reads and writes the same keys as `researcher`. Code of a model may only run in a sandbox, which
    does not exist yet, so the step is answered from sources.
    """
    return await researcher(state, runtime)
