"""Look for everything that was planned, at once."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from memory.about import found
from memory.pages.within import scope
from memory.reports import KIND, related
from nodes.direct import made
from nodes.recall.state import EarlierReport, RecallState
from runs.place import Here, here
from tools.direct import Direct, direct
from tools.evidence import recollect

MOST = 10
"""How many notes of what the person told are looked at."""


async def search(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Find the passages that fit the searches of this round.

    Reads `question`, `scope`, `requests`, `searches`, `passages`; writes `passages`, `sources`,
    `fresh`, `reports`.
    """
    planned = state["searches"]
    queries = [query for one in planned for query in (*one["keywords"], *one["meanings"])]
    named = [page for one in planned for page in one["pages"]]
    about = "\n".join(dict.fromkeys([state["question"], *state["requests"]]))
    part = scope(state["scope"])
    place, own = here(state, runtime), state.get("run", "")
    told = await _told(state, place)
    choices = runtime.context
    pages = await recollect(place, choices, queries, named, about=about, part=part, run=own)
    known = {(one["source"], one["text"]) for one in state["passages"]}
    every = [*told.passages, *pages.passages]
    new = [one for one in every if (one["source"], one["text"]) not in known]
    return RecallState(
        passages=[*state["passages"], *new],
        sources={**state["sources"], **told.sources, **pages.sources},
        fresh=any(one["source"] not in state["sources"] for one in new),
        reports=await _reports(state, place),
    )


async def _told(state: RecallState, place: Here) -> Direct:
    """Return what the person told that fits the question; a run is told that by its memories."""
    if "run" in state or state["scope"]:
        return Direct([], {})
    notes = await found(place.owner, state["question"], MOST)
    return await direct(place, made(notes, state["language"]))


async def _reports(state: RecallState, place: Here) -> list[EarlierReport]:
    """Return the earlier reports on the question; a run is told of them by its memories."""
    if "run" in state or (state["scope"] and KIND not in state["scope"]):
        return []
    notes = await related(place.owner, state["question"], titled=True)
    return [EarlierReport(page=one.id, title=one.title, abstract=one.text) for one in notes]
