"""A run calls tools of MCP servers, and its report cites what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from graph.context import Context
from graph.session import ThreadSession
from report.method import describe_method
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_tool_loop import calling
from tests.mcp_servers import configure, entry

SENTENCE = "The mason bee carries 37 milligrams of nectar on each flight [S4]."

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Verdict")


async def test_a_finding_and_the_report_cite_what_a_tool_says(
    thread: ThreadSession, choices: dict[str, object], script: Script, home: Path
):
    configure(home, bees=entry("bees", local=True))
    script.on("Draft", draft("nectar"))

    def research(messages: list[object]) -> AIMessage | str:
        last = messages[-1]
        if getattr(last, "type", "") != "tool":
            return calling(("bees_lookup", {"bee": "mason"}))
        assert '<page id="S4"' in str(last.text)
        return SENTENCE

    script.on("researcher", research)
    script.on("reporter", SENTENCE)
    context = make(choices, max_reflections=0)

    outcome = await thread.begin("How much does a mason bee carry?", context, quiet)

    assert outcome.state["status"] == "succeeded"
    source = outcome.state["sources"]["S4"]
    assert source["kind"] == "tool"
    assert source["title"] == "bees: lookup (bee mason)"
    assert outcome.state["report"]["cited"] == ["S4"]
    shown = str(outcome.state["messages"][-1].text)
    assert "37 milligrams" in shown
    assert "bees: lookup (bee mason)" in shown
    (line,) = [one for one in await read_trace("t1-1") if one["kind"] == "tool"]
    assert (line["role"], line["status"], line["arguments"]) == (
        "bees_lookup",
        "ok",
        {"bee": "mason"},
    )


async def test_a_server_that_fails_stops_no_run_and_the_report_says_so(
    thread: ThreadSession, choices: dict[str, object], script: Script, home: Path
):
    configure(home, odd=entry("quits", local=True))
    script.on("Draft", draft("winter cluster"))
    told: list[str] = []

    def research(messages: list[object]) -> AIMessage | str:
        last = messages[-1]
        if getattr(last, "type", "") != "tool":
            return calling(("odd_lookup", {"bee": "mason"}))
        told.append(str(last.text))
        return "Bees form a winter cluster below 14 degrees [S1]."

    script.on("researcher", research)
    script.on("reporter", "Bees form a winter cluster below 14 degrees [S1].")
    context = make(choices, max_reflections=0)

    outcome = await thread.begin("When do bees form a winter cluster?", context, quiet)

    assert outcome.state["status"] == "succeeded"
    assert "its program has ended" in told[0]
    method = describe_method(outcome.state, outcome.state["report"], "")
    listed = [item for part in method["parts"] for item in part["items"]]
    assert "odd: lookup (the tool failed: it could not be reached)" in listed


MASON_BEE = SENTENCE.replace("S4", "S1")


def look_up_mason_bees(home: Path, script: Script) -> Context:
    """Let a step use a server's tool and cite what it says; return a run without files and web."""
    configure(home, bees=entry("bees", local=True))
    script.on("Draft", draft("nectar"))

    def research(messages: list[object]) -> AIMessage | str:
        called = getattr(messages[-1], "type", "") == "tool"
        return MASON_BEE if called else calling(("bees_lookup", {"bee": "mason"}))

    script.on("researcher", research)
    script.on("reporter", MASON_BEE)
    return make({"models": {"default": "fake:any"}, "auto_accept": True}, max_reflections=0)


async def test_a_run_without_files_and_web_asks_the_tools_of_servers(
    thread: ThreadSession, script: Script, home: Path
):
    context = look_up_mason_bees(home, script)

    outcome = await thread.begin("How much does a mason bee carry?", context, quiet)

    assert outcome.state["report"]["cited"] == ["S1"]


async def test_after_a_call_of_a_tool_a_second_question_is_answered_from_what_it_said(
    thread: ThreadSession, script: Script, home: Path
):
    context = look_up_mason_bees(home, script)
    await thread.begin("How much does a mason bee carry?", context, quiet)

    script.extractive("Lessons")
    script.on("researcher", MASON_BEE)
    second = await thread.begin("And how heavy is its nectar?", context, quiet)

    assert second.state["status"] == "succeeded"
    assert second.state["report"]["cited"] == ["S1"]
    first_plan, second_plan = script.prompts("Draft")
    assert "<tools>\n- bees\n</tools>" in first_plan
    assert "- bees: lookup (" in second_plan
    system = str(next(talk for name, talk in script.asked if name == "Draft")[0].text)
    assert "servers whose tools the steps may call" in system
