"""Work out one step by computing; without a sandbox it is researched instead."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import StepState
from nodes.researcher import researcher


async def coder(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Do a step that computes.

    Reads and writes what `researcher` does. No model's code is run outside a sandbox, and there
    is none yet, so the step is answered from sources.
    """
    return await researcher(state, runtime)
