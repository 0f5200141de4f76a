"""Look for everything that was planned, at once."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from memory.pages.within import scope
from nodes.recall.state import RecallState
from runs.place import here
from tools.evidence import recollect


async def search(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Find the passages that fit the searches of this round.

    Reads `question`, `scope`, `requests`, `searches`, `passages`; writes `passages`, `sources`,
    `fresh`.
    """
    planned = state["searches"]
    queries = [query for one in planned for query in (*one["keywords"], *one["meanings"])]
    named = [page for one in planned for page in one["pages"]]
    about = "\n".join(dict.fromkeys([state["question"], *state["requests"]]))
    part = scope(state["scope"])
    place, own = here(state, runtime), state.get("run", "")
    found = await recollect(place, queries, named, about=about, part=part, run=own)
    known = {(one["source"], one["text"]) for one in state["passages"]}
    new = [one for one in found.passages if (one["source"], one["text"]) not in known]
    return RecallState(
        passages=[*state["passages"], *new],
        sources={**state["sources"], **found.sources},
        fresh=any(one["source"] not in state["sources"] for one in new),
    )
