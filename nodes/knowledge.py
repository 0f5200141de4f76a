"""Bring in what the chosen knowledge bases say."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State


async def knowledge(state: State, runtime: Runtime[Context]) -> State:
    """Retrieve from knowledge bases; no run has any yet, so none but older threads come here.

    Reads `question`; writes `knowledge`.
    """
    del state, runtime
    return State(knowledge=[])
