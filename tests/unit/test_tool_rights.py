"""A role uses the tools that it was offered, and no other, whatever its model names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from calls.call_context import CallContext
from calls.gateway import work
from calls.run_budget import RunBudget
from calls.stack import Toolbox
from calls.tool_requests import HumanInput
from calls.tool_rights import ROLE_TOOLS, ToolRightsMiddleware
from config.model_table import MODEL_ROLES
from graph.context import Context
from models.extractive.model import ExtractiveChatModel
from runs.call_site import CallSite
from tests.cases import each_case
from tests.fake_model import Script
from tests.model_calls import STATE
from tests.places import runtime
from tools.toolbox import CODER_TOOLS, RESEARCHER_TOOLS

BOXES = {"researcher": RESEARCHER_TOOLS, "coder": CODER_TOOLS}
EVERY = {tool.name for box in BOXES.values() for tool in box.tools}


def around(role: str, *, web: bool = True) -> CallContext:
    return CallContext(
        choices=Context(),
        site=CallSite("local/", "t1", "t1-1", "s1", "0"),
        role=role,
        budget=RunBudget(Context()),
        model=ExtractiveChatModel(),
        system="You work.",
        allow_web=web,
        human=HumanInput("s1", reachable=True),
    )


def offered(role: str, box: Toolbox, **more: bool) -> frozenset[str]:
    return ToolRightsMiddleware(box.tools, box.offer).list_offered(around(role, **more))


def test_the_table_has_every_tool_of_a_role_and_no_other():
    assert {role: {tool.name for tool in box.tools} for role, box in BOXES.items()} == ROLE_TOOLS


@each_case(product(MODEL_ROLES, BOXES))
def test_a_role_may_use_its_own_tools_alone(role: str, box: str):
    every = {tool.name for tool in BOXES[box].tools}

    assert offered(role, BOXES[box]) == ROLE_TOOLS.get(role, frozenset()) & every


def test_a_step_without_the_web_may_not_open_addresses():
    assert not offered("researcher", RESEARCHER_TOOLS, web=False) & {"open", "links"}


async def told(
    script: Script, role: str, names: Sequence[str], box: Toolbox, **step: Any
) -> dict[str, str]:
    """Let a model call tools by their names; return what it was answered."""
    made = [{"name": name, "args": {}, "id": name} for name in names]
    asks = AIMessage("", tool_calls=made, response_metadata={"finish_reason": "tool_calls"})
    talks: list[Any] = []

    def answer(messages: list[Any]) -> AIMessage | str:
        talks.append(messages)
        return "Done." if messages[-1].type == "tool" else asks

    script.on("researcher", answer)
    question = HumanMessage("<step>Find bees.</step>")
    await work(STATE | step, runtime(max_calls=500), role, "Write.", [question], box)
    return {one.name: str(one.text) for one in talks[-1] if one.type == "tool"}


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("role", ["researcher", "coder", "reflector", "reporter", "memorizer"])
async def test_a_tool_that_was_not_offered_is_refused_though_the_model_names_it(
    script: Script, role: str
):
    box = BOXES.get(role, RESEARCHER_TOOLS)
    foreign = sorted((EVERY | {"shell", "remember"}) - ROLE_TOOLS.get(role, frozenset()))

    answers = await told(script, role, foreign, box)

    assert set(answers) == set(foreign)
    for name, answer in answers.items():
        assert answer.startswith(f"Refused: {name} is no tool of yours here.")
