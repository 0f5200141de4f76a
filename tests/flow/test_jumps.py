"""A client jumps to a node where that is possible, and is refused by name where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from app.guard import guarded
from config.errors import Problem
from graph.session import Session
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

BEES = "How do bees dance?"
APPROVE = {"decisions": [{"type": "approve"}]}


@pytest.mark.parametrize("goto", ["profile", "planner", "team", "reporter", "__end__"])
@pytest.mark.parametrize("resume", [None, APPROVE])
async def test_a_jump_while_the_plan_waits_is_refused_and_the_plan_can_still_be_approved(
    thread: Session, choices: dict[str, object], script: Script, goto: str, resume: Any
):
    context = make(choices, auto_accept=False)
    await thread.begin(BEES, context, quiet)
    graph, config = guarded(thread.graph), thread.config
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
    thread: Session, choices: dict[str, object], script: Script, goto: Any
):
    await thread.begin(BEES, make(choices), quiet)

    with pytest.raises(Problem) as refused:
        await guarded(thread.graph).ainvoke(
            Command(goto=goto), thread.config, context=make(choices)
        )

    assert refused.value.code == "state_refused"


async def test_an_ended_run_is_written_again_by_a_jump_to_the_writer(
    thread: Session, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)
    graph = guarded(thread.graph)

    again = await graph.ainvoke(Command(goto="reporter"), thread.config, context=make(choices))

    assert again["status"] == "succeeded"
    assert (await graph.aget_state(thread.config)).next == ()
