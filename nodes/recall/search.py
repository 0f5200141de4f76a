"""Look for every query in memory at once."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from nodes.recall.state import RecallState
from runs.place import here
from tools.evidence import recollect


async def search(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Find the passages that fit the queries.

    Reads `question`, `queries`, `passages`; writes `passages`, `sources`, `fresh`.
    """
    place = here(state, runtime)
    found = await recollect(place, state["queries"], about=state["question"])
    new = [passage for passage in found.passages if passage not in state["passages"]]
    return RecallState(
        passages=[*state["passages"], *new],
        sources={**state["sources"], **found.sources},
        fresh=bool(new),
    )
