"""A run that another process of a server takes over goes on, and asks nothing again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.types import Command

from app.guarded_graph import GuardedGraph, make_guarded_graph
from graph.records import RunStatus
from graph.session import ThreadSession
from runs.lifecycle import find_run, mark_interrupted, set_run_status
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_asking import asking
from tests.flow.test_defects import draft

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "reporter", "Checks"
)

ASKED = {"messages": [{"role": "user", "content": "How do bees live?"}]}


@pytest.fixture
def graph(thread: ThreadSession) -> Iterator[GuardedGraph]:
    return make_guarded_graph(thread.graph)


def of_run(thread: ThreadSession, name: str) -> Any:
    """Return the configuration that a server gives to a run."""
    return {"configurable": {**thread.config["configurable"], "run_id": name}}


async def begun(graph: GuardedGraph, config: Any, context: Any, until: str) -> None:
    """Run until a node is done, and die."""
    async for part in graph.astream(ASKED, config, context=context, stream_mode="updates"):
        if until in part:
            return


@pytest.mark.parametrize("until", ["profile", "background", "planner", "team"])
async def test_what_was_asked_is_not_asked_again(
    graph: GuardedGraph,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    until: str,
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Enough", {"enough": True})
    config, context = of_run(thread, "r1"), make(choices)
    await begun(graph, config, context, until)

    await graph.ainvoke(ASKED, config, context=context)

    values = (await graph.aget_state(thread.config)).values
    assert [one.type for one in values["messages"]] == ["human", "ai"]
    assert values["turn"] == 1
    assert values["status"] == "succeeded"


async def test_a_run_that_its_server_paused_is_listed_as_running_when_it_goes_on(
    graph: GuardedGraph, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Enough", {"enough": True})
    config, context = of_run(thread, "r1"), make(choices)
    await begun(graph, config, context, "background")
    await mark_interrupted("local/", "t1", "paused")

    stands = [
        (await find_run("local/", "t1-1")).status
        async for _ in graph.astream(ASKED, config, context=context, stream_mode="updates")
    ]

    assert stands[0] == "running"
    assert stands[-1] == "succeeded"


@pytest.mark.parametrize("status", ["cancelled", "failed", "succeeded"])
async def test_a_run_that_does_not_go_on_stands_as_it_did(
    graph: GuardedGraph,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    status: RunStatus,
):
    script.on("Draft", draft("waggle dance"))
    script.on("Enough", {"enough": True})
    await graph.ainvoke(ASKED, of_run(thread, "r1"), context=make(choices))
    await set_run_status("local/", "t1-1", status)

    await graph.ainvoke(None, of_run(thread, "r2"), context=make(choices))

    assert (await find_run("local/", "t1-1")).status == status


async def test_a_run_that_had_come_to_its_end_does_nothing_and_gives_what_it_gave(
    graph: GuardedGraph, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Enough", {"enough": True})
    config, context = of_run(thread, "r1"), make(choices)
    given = await graph.ainvoke(ASKED, config, context=context)
    before, calls = await graph.aget_state(thread.config), script.names()

    again = await graph.ainvoke(ASKED, config, context=context)

    assert again == given
    assert again["status"] == "succeeded"
    assert script.names() == calls
    assert await graph.aget_state(thread.config) == before


async def test_a_decision_on_the_plan_is_no_answer_to_what_a_step_asks_later(
    graph: GuardedGraph, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", asking())
    context = make({**choices, "auto_accept": False})
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    await graph.ainvoke(ASKED, of_run(thread, "r1"), context=context)
    config = of_run(thread, "r2")
    async for _ in graph.astream(approve, config, context=context, stream_mode="updates"):
        if (await graph.aget_state(thread.config)).next == ("human_input",):
            break

    result = await graph.ainvoke(approve, config, context=context)

    (waits,) = result["__interrupt__"]
    assert [one["name"] for one in waits.value["action_requests"]] == ["ask_user"]


async def test_what_was_asked_from_an_earlier_state_goes_on_where_it_was(
    graph: GuardedGraph, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Enough", {"enough": True})
    context = make(choices)
    await graph.ainvoke(ASKED, of_run(thread, "r1"), context=context)
    history = [one async for one in graph.aget_state_history(thread.config)]
    earlier = next(one for one in history if one.next == ("planner",))
    at = earlier.config["configurable"]["checkpoint_id"]
    config = of_run(thread, "r2")
    config["configurable"]["checkpoint_id"] = at
    planned = script.names().count("Draft")
    async for part in graph.astream(None, config, context=context, stream_mode="updates"):
        if "planner" in part:
            break

    await graph.ainvoke(None, config, context=context)

    assert script.names().count("Draft") == planned + 1
    assert (await graph.aget_state(thread.config)).values["status"] == "succeeded"


@pytest.mark.extractive("Lookup", "Notes", "Lessons")
async def test_another_run_with_the_same_words_is_another_question(
    graph: GuardedGraph, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Enough", {"enough": True})
    context = make({**choices, "again": "new"})
    await graph.ainvoke(ASKED, of_run(thread, "r1"), context=context)

    await graph.ainvoke(ASKED, of_run(thread, "r2"), context=context)

    values = (await graph.aget_state(thread.config)).values
    assert [one.type for one in values["messages"]] == ["human", "ai", "human", "ai"]
    assert values["turn"] == 2
