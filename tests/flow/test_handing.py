"""Clients that decide nothing get an answer at once, and few fields of it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from app.server import make_unreviewed_graph
from graph.context import Context
from graph.session import ThreadSession
from memory.facts.queries import list_facts
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft

pytestmark = pytest.mark.extractive("Triage")

QUESTION = "How do bees dance?"
SAID = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'


@pytest.fixture
def reviewed(choices: dict[str, object], script: Script) -> dict[str, object]:
    script.on("Rewrite", {"question": QUESTION, "queries": ["waggle dance"]})
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("researcher", SAID)
    script.on("reporter", SAID)
    return {**choices, "auto_accept": False}


async def values(
    thread: ThreadSession, choices: Context | dict[str, object], said: str
) -> list[dict[str, Any]]:
    """Return every state that a client is streamed."""
    graph = make_unreviewed_graph(thread.graph)
    stream = graph.astream(
        {"messages": [HumanMessage(said)]},
        thread.config,
        context=choices,
        stream_mode=["values", "updates"],
        subgraphs=True,
    )
    return [chunk async for inner, mode, chunk in stream if mode == "values" and not inner]


async def test_a_plan_is_accepted_and_the_answer_is_few_fields(
    thread: ThreadSession, reviewed: dict[str, object]
):
    seen = await values(thread, make(reviewed), QUESTION)

    assert not any("__interrupt__" in one for one in seen)
    last = seen[-1]
    assert set(last) == {"status", "answer", "report", "sources", "messages"}
    assert last["status"] == "succeeded"
    assert "waggle dance" in last["answer"]
    assert "## Sources" in last["report"]
    assert [one["id"] for one in last["sources"]] == ["S1"]
    assert [one.type for one in last["messages"]] == ["ai"]
    assert len(str(last)) < 5_000
    assert all(set(one) <= {"status", "messages"} for one in seen if "report" not in one)


async def test_a_reply_to_small_talk_is_the_answer(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Triage", {"research": False, "reply": "Good morning!"})

    last = (await values(thread, make(reviewed), "good morning"))[-1]

    assert (last["answer"], last["report"], last["sources"]) == ("Good morning!", "", [])


async def test_what_a_program_says_is_learnt_only_if_it_says_so(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Triage", {"research": False, "reply": "Good morning!"})
    script.on("Learnt", {"claims": []})

    await values(thread, reviewed, "I live in Oslo. Good morning!")
    unasked = await list_facts("local/")
    await values(thread, {**reviewed, "learn": True}, "I keep bees in Bergen. Good morning!")

    assert unasked == []
    assert ["Bergen" in fact.content for fact in await list_facts("local/")] == [True]


def test_the_form_of_the_output_names_these_fields(thread: ThreadSession):
    form = make_unreviewed_graph(thread.graph).get_output_jsonschema()

    assert set(form["properties"]) == {"status", "answer", "report", "sources", "messages"}


@pytest.mark.parametrize("word", ["go ahead", "批准"])
async def test_a_plan_that_waits_is_approved_in_plain_words(
    thread: ThreadSession, reviewed: dict[str, object], word: str
):
    asked = {"messages": [HumanMessage(QUESTION)]}
    await thread.graph.ainvoke(asked, thread.config, context=make(reviewed))

    state = await thread.graph.ainvoke(Command(resume=word), thread.config, context=make(reviewed))

    assert state["status"] == "succeeded"


async def test_a_plan_that_waits_is_rejected_in_plain_words(
    thread: ThreadSession, reviewed: dict[str, object]
):
    asked = {"messages": [HumanMessage(QUESTION)]}
    await thread.graph.ainvoke(asked, thread.config, context=make(reviewed))

    refused = Command(resume="no, leave out the winter")
    state = await thread.graph.ainvoke(refused, thread.config, context=make(reviewed))

    assert state["wishes"] == ["leave out the winter"]
    assert state["__interrupt__"]
