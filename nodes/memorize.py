"""Keep what the run has learnt."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State
from memory import pages
from memory.pages import NewPage
from runs.budget import pause
from runs.lifecycle import mark
from runs.place import here


async def memorize(state: State, runtime: Runtime[Context]) -> State:
    """Keep the report as a page and write down how the run came out.

    Reads `report`, `messages`, `status`; writes nothing.
    """
    place = here(state, runtime)
    report = state["report"]
    if report["cited"]:
        page = NewPage(title=report["title"], place="", text=str(state["messages"][-1].text))
        await pages.keep(place.owner, "report", place.run, [page], run=place.run)
    code = "insufficient_evidence" if state["status"] == "insufficient_evidence" else ""
    pause(place)
    await mark(place.run, state["status"], code=code)
    runtime.stream_writer({"event": "finished", "run": place.run, "status": state["status"]})
    return State()
