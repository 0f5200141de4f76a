"""A state that a person has changed in Studio goes on from there."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from app.guarded_graph import GuardedGraph, make_guarded_graph
from graph.builder import make_step_graph
from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "reporter", "Checks"
)

QUESTION = "How do bees live?"

FOOD = "The waggle dance tells other bees the direction of food."
FARTHER = "A longer waggle run means that the food is farther away."

NEXT = {
    "profile": ("coordinator",),
    "coordinator": ("background",),
    "rewrite": ("background",),
    "background": ("planner",),
    "planner": ("human_feedback",),
    "human_feedback": ("team",),
    "team": ("step", "step"),
    "step": ("team",),
    "remember": ("team",),
    "knowledge": ("team",),
    "reporter": ("deliver",),
    "deliver": ("memorize",),
    "memorize": ("learn",),
    "learn": (),
}


@pytest.fixture
def waiting(choices: dict[str, object], script: Script) -> dict[str, object]:
    script.on("Rewrite", {"question": QUESTION, "queries": []})
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Enough", {"enough": True})
    return {**choices, "auto_accept": False}


async def served(thread: ThreadSession, choices: dict[str, object]) -> GuardedGraph:
    """Return the graph as a server has it, with a plan that waits."""
    await thread.begin(QUESTION, make(choices), quiet)
    return make_guarded_graph(thread.graph)


@pytest.mark.parametrize("node", NEXT)
async def test_behind_every_node_it_is_known_where_to_go(
    thread: ThreadSession, waiting: dict[str, object], node: str
):
    graph = await served(thread, waiting)

    await graph.aupdate_state(thread.config, {}, as_node=node)

    assert (await graph.aget_state(thread.config)).next == NEXT[node]


async def test_a_secret_in_a_plan_that_was_changed_is_taken_out_of_it(
    thread: ThreadSession, waiting: dict[str, object]
):
    graph = await served(thread, waiting)
    plan = (await graph.aget_state(thread.config)).values["plan"]
    step = {**plan["steps"][0], "description": "Look behind the login: my password is hunter2x."}

    await graph.aupdate_state(thread.config, {"plan": {**plan, "steps": [step]}}, as_node="planner")

    (saved,) = (await graph.aget_state(thread.config)).values["plan"]["steps"]
    assert saved["description"] == "Look behind the login: my password is [password removed]."


async def test_a_plan_that_was_changed_as_the_planner_is_shown_and_then_researched(
    thread: ThreadSession, waiting: dict[str, object]
):
    graph, context = await served(thread, waiting), make(waiting)
    plan = (await graph.aget_state(thread.config)).values["plan"]
    mine = {**plan, "steps": [{**plan["steps"][0], "title": "the queen", "queries": ["queen"]}]}

    await graph.aupdate_state(thread.config, {"plan": mine}, as_node="planner")
    await graph.ainvoke(None, thread.config, context=context)
    (pause,) = (await graph.aget_state(thread.config)).interrupts
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    state = await graph.ainvoke(approve, thread.config, context=context)

    assert "the queen" in pause.value["action_requests"][0]["args"]["step_1"]
    assert state["status"] == "succeeded"
    assert [finding["title"] for finding in state["findings"].values()] == ["the queen"]


@pytest.mark.parametrize("node", ["rewrite", "planner", "human_feedback", "team", "reporter"])
async def test_a_run_that_goes_on_behind_a_node_comes_to_its_end(
    thread: ThreadSession, waiting: dict[str, object], node: str
):
    graph, accepted = await served(thread, waiting), make(waiting, auto_accept=True)

    await graph.aupdate_state(thread.config, {}, as_node=node)
    state: Any = await graph.ainvoke(None, thread.config, context=accepted)

    assert not (await graph.aget_state(thread.config)).next
    assert state["status"] in ("succeeded", "insufficient_evidence", "waiting_review")


def test_studio_opens_the_branch_of_a_step_and_draws_no_handler(thread: ThreadSession):
    drawing = make_guarded_graph(thread.graph).get_graph(xray=True)

    assert {"step:researcher", "step:reflection"} <= drawing.nodes.keys()
    assert not [name for name in drawing.nodes if "error" in name]
    assert not [name for name in make_step_graph().get_graph().nodes if "error" in name]


async def test_what_is_asked_for_again_is_not_answered_by_the_ledger(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    first, second = (f'<q s="S1">{said}</q>' for said in (FOOD, FARTHER))
    script.on("researcher", f"{first} {second}")
    script.on("reporter", first, second, first)
    context = make(choices)
    await thread.begin("How do bees dance?", context, quiet)
    graph = make_guarded_graph(thread.graph)
    history = [one async for one in graph.aget_state_history(thread.config)]
    before = next(one for one in history if one.next == ("reporter",))

    again: Any = await graph.ainvoke(None, before.config, context=context)
    once_more: Any = await graph.ainvoke(None, before.config, context=context)

    assert "farther away" in again["messages"][-1].text
    assert "direction of food" in once_more["messages"][-1].text
    assert script.names().count("reporter") == 3


async def test_a_run_that_goes_on_from_where_it_stands_is_not_paid_for_again(
    thread: ThreadSession, waiting: dict[str, object], script: Script
):
    graph, context = await served(thread, waiting), make(waiting)
    asked = len(script.asked)
    head = await graph.aget_state(thread.config)

    await graph.ainvoke(None, head.config, context=context)

    assert len(script.asked) == asked
