"""A client jumps to a node or back in a thread where it can, and is refused by name elsewhere."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.types import Command

from app.guarded_graph import GuardedGraph, make_guarded_graph
from app.server import open_server_checkpointer
from config.errors import Problem
from graph.builder import make_graph
from graph.session import ThreadSession
from runs.thread_integrity import find_damage
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

BEES = "How do bees dance?"
APPROVE = {"decisions": [{"type": "approve"}]}


@pytest.mark.parametrize("goto", ["profile", "planner", "team", "reporter", "__end__"])
@pytest.mark.parametrize("resume", [None, APPROVE])
async def test_a_jump_while_the_plan_waits_is_refused_and_the_plan_can_still_be_approved(
    thread: ThreadSession, choices: dict[str, object], script: Script, goto: str, resume: Any
):
    context = make(choices, auto_accept=False)
    await thread.begin(BEES, context, quiet)
    graph, config = make_guarded_graph(thread.graph), thread.config
    before = await graph.aget_state(config)

    with pytest.raises(Problem) as refused:
        await graph.ainvoke(Command(goto=goto, resume=resume), config, context=context)

    assert refused.value.code == "state_refused"
    assert "waits for a decision" in refused.value.what
    after = await graph.aget_state(config)
    assert (after.values, after.next) == (before.values, before.next)
    done = await graph.ainvoke(Command(resume=APPROVE), config, context=context)
    assert done["status"] == "succeeded"


@pytest.mark.parametrize(
    "goto", ["nonsense", "__start__", "__error_handler__background", ["reporter", "nonsense"]]
)
async def test_a_jump_to_what_is_no_node_of_the_graph_is_refused(
    thread: ThreadSession, choices: dict[str, object], script: Script, goto: Any
):
    await thread.begin(BEES, make(choices), quiet)

    with pytest.raises(Problem) as refused:
        await make_guarded_graph(thread.graph).ainvoke(
            Command(goto=goto), thread.config, context=make(choices)
        )

    assert refused.value.code == "state_refused"


async def test_an_ended_run_is_written_again_by_a_jump_to_the_writer(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)
    graph = make_guarded_graph(thread.graph)

    again = await graph.ainvoke(Command(goto="reporter"), thread.config, context=make(choices))

    assert again["status"] == "succeeded"
    assert (await graph.aget_state(thread.config)).next == ()


@pytest.fixture
async def served() -> AsyncIterator[GuardedGraph]:
    """The graph with the saver of a server."""
    async with open_server_checkpointer() as saver:
        yield make_guarded_graph(make_graph().copy({"checkpointer": saver}))


def at(thread: ThreadSession, checkpoint: Any) -> Any:
    """Return the place of a checkpoint in a thread."""
    place = {**thread.config["configurable"], "checkpoint_id": checkpoint}
    return {**thread.config, "configurable": place}


async def refused(work: Any) -> str:
    """Return the code with which something is refused."""
    with pytest.raises(Exception, match=r"error\[") as told:
        await work
    problem = told.value if isinstance(told.value, Problem) else told.value.__cause__
    assert isinstance(problem, Problem)
    assert problem.hint
    return problem.code


ODD = ["'; DROP TABLE checkpoints; --", 7, [None], {"a": 1}]
"""What is no name of a checkpoint."""


async def test_what_is_no_checkpoint_of_a_thread_is_neither_read_nor_gone_on_from(
    thread: ThreadSession, choices: dict[str, object], served: GuardedGraph
):
    context = make(choices)
    await thread.begin(BEES, context, quiet)
    other: Any = {"configurable": {"thread_id": "t2"}}
    await served.ainvoke({"messages": "Hello!"}, other, context=context)
    theirs = (await served.aget_state(other)).config["configurable"]["checkpoint_id"]
    before = await served.aget_state(thread.config)

    for checkpoint in (theirs, str(uuid.uuid4()), "x", *ODD):
        place = at(thread, checkpoint)
        work = (
            served.aget_state(place),
            served.aupdate_state(place, None),
            served.aupdate_state(place, {"messages": [{"role": "user", "content": "Hm?"}]}),
            served.ainvoke({"messages": "Hm?"}, place, context=context),
            served.ainvoke(None, place, context=context),
            served.ainvoke(Command(goto="reporter"), place, context=context),
        )
        code = "bad_checkpoint" if checkpoint in ODD else "checkpoint_not_found"
        assert {await refused(one) for one in work} == {code}
    assert await served.aget_state(thread.config) == before


async def test_what_says_nothing_is_refused_and_the_plan_can_still_be_approved(
    thread: ThreadSession, choices: dict[str, object], served: GuardedGraph
):
    context = make(choices, auto_accept=False)
    await thread.begin(BEES, context, quiet)

    for given in (7, True, "Why?", ["Why?"], Command(), Command(update={})):
        work = served.ainvoke(given, thread.config, context=context)
        assert await refused(work) == "state_refused"

    done = await served.ainvoke(Command(resume=APPROVE), thread.config, context=context)
    assert done["status"] == "succeeded"


UNKNOWN: list[dict[str, Any]] = [
    {"before": {}},
    {"before": {"checkpoint_id": 7}},
    {"before": {"checkpoint_ns": "step:1"}},
    {"limit": 2**70},
    {"filter": {"a'b": 1}},
    {"filter": {"": None}},
    {"filter": {"step": 2**63}},
]
"""What no history can be asked for."""


async def test_neither_a_namespace_nor_an_impossible_history_is_told_as_damage(
    thread: ThreadSession, choices: dict[str, object], served: GuardedGraph
):
    await thread.begin(BEES, make(choices), quiet)
    place: Any = {"configurable": {**thread.config["configurable"], "checkpoint_ns": "step:1"}}

    work = served.ainvoke({"messages": "Hm?"}, place, context=make(choices))

    assert await refused(work) == "state_refused"
    for asked in UNKNOWN:
        history = served.aget_state_history(thread.config, **asked)
        assert await refused(anext(history)) == "bad_checkpoint"


async def test_a_history_goes_on_before_a_checkpoint_as_a_client_names_it(
    thread: ThreadSession, choices: dict[str, object], served: GuardedGraph
):
    await thread.begin(BEES, make(choices), quiet)
    every = [one async for one in served.aget_state_history(thread.config)]
    named: Any = {"checkpoint_id": every[2].config["configurable"]["checkpoint_id"]}

    older = [one async for one in served.aget_state_history(thread.config, before=named)]

    assert older == every[3:]


async def test_a_change_that_no_node_makes_is_refused_and_is_no_damage(
    thread: ThreadSession, choices: dict[str, object], served: GuardedGraph
):
    await thread.begin(BEES, make(choices), quiet)
    await served.aupdate_state(thread.config, None, as_node="__input__")
    hm = {"messages": [{"role": "user", "content": "Hm?"}]}

    for node, values in [("nowhere", None), ("__end__", hm), ("__copy__", hm), ("__copy__", 7)]:
        work = served.aupdate_state(thread.config, values, as_node=node)
        assert await refused(work) == "state_refused"
    assert await find_damage(served, "t1") is None
