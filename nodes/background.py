"""Look around before planning: one branch per query."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.state import Background, QueryState, State, key
from runs.place import here
from tools.evidence import gather

SHOWN = 6
"""How many passages of one query are kept."""


async def background(
    state: QueryState, runtime: Runtime[Context]
) -> Command[Literal["planner", "reporter"]]:
    """Search for one query.

    Reads `query`, `number`; writes `background`, `sources`.
    """
    place = here(state, runtime)
    query = state["query"]
    runtime.stream_writer({"event": "searching", "query": query})
    found = await gather(place, runtime.context, [query], about=query)
    kept = found.passages[: SHOWN if runtime.context.deep else None]
    entry = Background(
        query=query,
        status="ok" if kept else "failed",
        reason="" if kept else found.problems[0].code if found.problems else "no_evidence",
        passages=kept,
    )
    sources = {one["source"]: found.sources[one["source"]] for one in kept}
    name = key(state["turn"], str(state["number"]))
    update = State(background={name: entry}, sources=sources)
    return Command(goto="planner" if runtime.context.deep else "reporter", update=update)
