"""Retrieve from the chosen knowledge bases."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State


async def knowledge(state: State, runtime: Runtime[Context]) -> State:
    """Retrieve from knowledge bases; none exist yet, so only older threads use this node.

    Reads `question`; writes `knowledge`.
    """
    del state, runtime
    return State(knowledge=[])
