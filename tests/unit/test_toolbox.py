"""A model that works with tools, and one that will not stop."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from calls.call_context import CallContext
from calls.gateway import WorkResult, work
from calls.run_budget import RunBudget
from calls.tool_requests import HumanInput
from config.errors import Problem
from graph.context import Context
from graph.depth import LIMITS
from graph.records import Passage, Source
from memory.agents_md.proposals import list_proposals
from models.extractive.model import ExtractiveChatModel
from runs.call_site import CallSite
from tests.fake_model import Script
from tests.model_calls import STATE
from tests.places import runtime
from tools import research_tools, toolbox
from tools.evidence import Evidence, SearchRequest

pytestmark = pytest.mark.usefixtures("database", "script")


def stopped(text: str) -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": "stop"})


def calling(number: int, **arguments: Any) -> AIMessage:
    call = {"name": "search", "args": arguments, "id": f"call-{number}"}
    return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


@pytest.fixture(autouse=True)
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was searched for; nothing is ever found."""
    queries: list[str] = []

    async def gather(here: object, context: object, wanted: SearchRequest) -> Evidence:
        assert [wanted.about] == wanted.queries
        queries.append(wanted.about)
        return Evidence([], {}, [])

    monkeypatch.setattr(research_tools, "gather_evidence", gather)
    return queries


async def researched() -> WorkResult:
    question = HumanMessage('<step title="bees">Find bees.</step>')
    return await work(
        STATE, runtime(), "researcher", "Write.", [question], toolbox=toolbox.RESEARCHER_TOOLS
    )


async def test_a_model_may_use_a_tool_before_it_writes(script: Script, searched: list[str]):
    script.on("researcher", calling(1, query="bees"), stopped("Nothing on bees."))

    assert (await researched()).text == "Nothing on bees."
    assert searched == ["bees"]


async def test_what_the_tools_found_is_handed_to_the_node(script: Script):
    script.on("researcher", calling(1, query="bees"), stopped("Nothing on bees."))

    assert (await researched()).tool_results == [Evidence([], {}, [])]


async def test_a_model_that_never_stops_using_tools_is_stopped(script: Script, searched: list[str]):
    numbers = iter(range(1000))
    script.on("researcher", lambda _: calling(next(numbers), query=f"bees {next(numbers)}"))

    with pytest.raises(Problem) as problem:
        await researched()

    assert problem.value.code == "tool_limit"
    assert len(script.asked) == 6
    assert len(searched) <= 6


async def test_calls_beyond_the_most_are_not_made_and_the_model_is_told(
    script: Script, searched: list[str]
):
    many = [{"name": "search", "args": {"query": f"bees {at}"}, "id": str(at)} for at in range(15)]
    first = AIMessage("", tool_calls=many, response_metadata={"finish_reason": "tool_calls"})
    script.on("researcher", first, stopped("Nothing on bees."))

    assert (await researched()).text == "Nothing on bees."
    assert len(searched) == LIMITS["standard"].tool_calls
    told = [str(one.text) for one in script.asked[-1][1] if one.type == "tool"]
    assert len(told) == 15
    assert sum("all your tool calls" in one for one in told) == 15 - LIMITS["standard"].tool_calls


@pytest.mark.parametrize("call", [{"query": ["a"]}, {"wrong": "a"}, {}])
async def test_arguments_that_do_not_fit_are_told_to_the_model(
    script: Script, searched: list[str], call: dict[str, Any]
):
    script.on("researcher", calling(1, **call), stopped("I give up."))

    assert (await researched()).text == "I give up."
    assert searched == []
    assert "query" in str(script.asked[1][1][-1].text)


async def test_a_tool_nobody_has_is_told_to_the_model(script: Script):
    call = {"name": "delete", "args": {}, "id": "1"}
    finish = {"finish_reason": "tool_calls"}
    wrong = AIMessage("", tool_calls=[call], response_metadata=finish)
    script.on("researcher", wrong, stopped("I give up."))

    assert (await researched()).text == "I give up."


async def test_what_a_tool_has_said_is_not_what_the_agent_has_learned(script: Script):
    arguments = {"new": "- Nothing was found", "why": "the tool said so"}
    call = {"name": "edit_memory_file", "args": arguments, "id": "edit"}
    finish = {"finish_reason": "tool_calls"}
    keeping = AIMessage("", tool_calls=[call], response_metadata=finish)
    script.on("researcher", calling(1, query="bees"), keeping, stopped("Nothing on bees."))

    await researched()

    assert [one.provenance for one in await list_proposals("local/")] == ["web"]


async def test_a_search_does_not_show_again_what_the_conversation_shows(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    source = Source(id="S1", page="p", title="Bees", location="/bees.md", kind="file")

    async def gather(*_: object, **__: object) -> Evidence:
        return Evidence([Passage(source="S1", text="They dance.", start=0)], {"S1": source}, [])

    monkeypatch.setattr(research_tools, "gather_evidence", gather)
    again = [calling(1, query="bees"), calling(2, query="dances"), stopped("They dance [S1].")]
    script.on("researcher", *again)

    await researched()

    first, second = (str(one.content) for one in script.asked[-1][1] if one.type == "tool")
    assert "They dance." in first
    assert second == "All that was found is shown above already: S1."


def offered(
    system: str = "You research.", *, web: bool, provider: bool = True, asks: bool = True
) -> dict[str, str]:
    """Return the tools that a call is offered, by name, with what is told of each."""
    around = make_context(system, web=web, provider=provider, asks=asks)
    return {tool.name: str(tool.description) for tool in toolbox.offer_tools(around)}


def make_context(system: str, *, web: bool, provider: bool, asks: bool = True) -> CallContext:
    return CallContext(
        choices=Context(search=["tavily"] if provider else []),
        site=CallSite("local/", "bees", "bees-1", "", "0"),
        role="researcher",
        budget=RunBudget(Context()),
        model=ExtractiveChatModel(),
        system=system,
        allow_web=web,
        human=HumanInput("s1", reachable=True, asks=asks),
    )


@pytest.mark.parametrize("system", ["You research.", "你负责研究一个步骤。"])
def test_every_tool_and_each_of_its_arguments_is_described(system: str):
    described = offered(system, web=True)
    computing = toolbox.offer_computing_tools(make_context(system, web=True, provider=True))
    described |= {tool.name: str(tool.description) for tool in computing}
    arguments = {tool.name: {*tool.args} - {"runtime"} for tool in toolbox.RESEARCHER_TOOLS.tools}
    arguments |= {tool.name: {*tool.args} - {"runtime"} for tool in toolbox.CODER_TOOLS.tools}

    assert described.keys() == arguments.keys()
    for name, text in described.items():
        assert {*re.findall(r"^`(\w+)`", text, re.MULTILINE)} == arguments[name]
        assert bool(re.search("[\u4e00-\u9fff]", text)) == (system[0] == "你")


def test_a_step_without_the_web_is_told_of_no_web():
    described = offered(web=False, asks=False)

    assert list(described) == ["search", "outline", "read", "recall", "compute", "edit_memory_file"]
    assert not re.search(r"\bweb\b", " ".join(described[name] for name in ("search", "read")))
    assert "`scope`" not in described["search"]


def test_where_no_provider_searches_the_web_only_addresses_are_opened(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(toolbox, "searches_web", lambda _: False)
    described = offered(web=True, provider=False)

    assert "`scope`" not in described["search"]
    assert {"links", "open"} <= described.keys()


async def test_a_chinese_researcher_is_answered_in_chinese(script: Script):
    script.on("researcher", calling(1, query="蜜蜂"), stopped("没有找到。"))
    question = HumanMessage('<step title="蜜蜂">查找蜜蜂。</step>')
    system = "你负责研究一个步骤。"

    await work(STATE, runtime(), "researcher", system, [question], toolbox=toolbox.RESEARCHER_TOOLS)

    (told,) = (str(one.content) for one in script.asked[-1][1] if one.type == "tool")
    assert told == "没有找到任何内容。\n\n没有可检索的文件，只有以前读过的内容。"
