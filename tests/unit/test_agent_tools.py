"""A model that works with tools, and one that will not stop."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from nodes.agent import work
from tests.door import STATE
from tests.fake_model import Script
from tests.places import runtime

pytestmark = pytest.mark.usefixtures("database", "script")


def stopped(text: str) -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": "stop"})


def calling(number: int, **arguments: Any) -> AIMessage:
    call = {"name": "search", "args": arguments, "id": f"call-{number}"}
    return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


@pytest.fixture
def searched() -> list[str]:
    """What was searched for."""
    return []


@pytest.fixture
def search(searched: list[str]) -> Any:
    """A tool that finds nothing."""

    @tool
    async def search(query: str) -> str:
        """Search."""
        searched.append(query)
        return "Nothing was found."

    return search


async def with_tools(search: Any) -> str:
    question = HumanMessage('<step title="bees">Find bees.</step>')
    done = await work(STATE, runtime(), "researcher", "Write.", [question], [search])
    return done.text


async def test_a_model_may_use_a_tool_before_it_writes(
    script: Script, search: Any, searched: list[str]
):
    script.on("researcher", calling(1, query="bees"), stopped("Nothing on bees."))

    assert await with_tools(search) == "Nothing on bees."
    assert searched == ["bees"]


async def test_a_model_that_never_stops_using_tools_is_stopped(
    script: Script, search: Any, searched: list[str]
):
    numbers = iter(range(1000))
    script.on("researcher", lambda _: calling(next(numbers), query=f"bees {next(numbers)}"))

    await with_tools(search)

    assert len(script.asked) == 6
    assert len(searched) <= 6


@pytest.mark.parametrize("call", [{"query": ["a"]}, {"wrong": "a"}, {}])
async def test_arguments_that_do_not_fit_are_told_to_the_model(
    script: Script, search: Any, searched: list[str], call: dict[str, Any]
):
    script.on("researcher", calling(1, **call), stopped("I give up."))

    assert await with_tools(search) == "I give up."
    assert searched == []
    assert "query" in str(script.asked[1][1][-1].text)


async def test_a_tool_nobody_has_is_told_to_the_model(script: Script, search: Any):
    call = {"name": "delete", "args": {}, "id": "1"}
    finish = {"finish_reason": "tool_calls"}
    wrong = AIMessage("", tool_calls=[call], response_metadata=finish)
    script.on("researcher", wrong, stopped("I give up."))

    assert await with_tools(search) == "I give up."
