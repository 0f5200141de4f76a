"""The coordinator and the rewriter are asked at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from graph.session import ThreadSession
from graph.state import State
from tests.conftest import make
from tests.fake_model import FakeModel, Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

NONE = {"json_schema": {"name": ""}}
TALK = {"research": False, "reply": "Hello! Ask me something."}
QUERIES = {"question": "How do bees dance?", "queries": ["waggle dance"]}


async def test_both_are_asked_before_either_has_answered(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    both, answer = asyncio.Barrier(2), FakeModel._agenerate

    async def meet(self: FakeModel, messages: Any, *more: Any, **options: Any) -> Any:
        if options.get("response_format", NONE)["json_schema"]["name"] in ("Triage", "Rewrite"):
            async with asyncio.timeout(10):
                await both.wait()
        return await answer(self, messages, *more, **options)

    monkeypatch.setattr(FakeModel, "_agenerate", meet)
    script.on("Triage", {"research": True})
    script.on("Rewrite", QUERIES)
    outcome = await thread.begin("How do bees dance?", make(choices, depth="quick"), quiet)

    assert outcome.state["queries"] == ["How do bees dance?", "waggle dance"]


async def test_small_talk_is_answered_and_its_queries_are_searched_by_nobody(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", TALK)
    script.on("Rewrite", QUERIES)
    seen: list[object] = []
    outcome = await thread.begin("hello there, friend", make(choices), seen.append)

    assert str(outcome.state["messages"][-1].text) == TALK["reply"]
    assert (outcome.state["queries"], outcome.state["background"]) == ([], {})
    assert not any(isinstance(one, dict) and one.get("event") == "searching" for one in seen)


@pytest.mark.parametrize("said", ["My name is Ann and I keep bees.", "我叫安娜，我养蜜蜂。"])
async def test_what_only_tells_of_a_person_is_sent_to_no_rewriter(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
):
    await thread.begin(said, make(choices), quiet)

    assert not {"Triage", "Rewrite"} & {*script.names()}


async def test_a_run_that_stands_behind_the_coordinator_without_queries_has_them_written(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Rewrite", QUERIES)
    waiting = make(choices, auto_accept=False)
    await thread.begin("How do bees dance?", waiting, quiet)
    left = State(queries=[], again=1)
    await thread.graph.aupdate_state(thread.config, left, as_node="coordinator")

    assert (await thread.current()).next == ("rewrite",)
    outcome = await thread.resume(make(choices), quiet)

    assert outcome.state["queries"] == ["How do bees dance?", "waggle dance"]
    assert outcome.state["status"] == "succeeded"


async def test_where_the_rewriter_cannot_be_asked_the_answer_on_small_talk_is_paid_for_once(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": True})
    script.on("Rewrite", Problem(ErrorCode.MODEL_AUTH, "the key is refused"), QUERIES)
    with pytest.raises(Problem):
        await thread.begin("How do bees dance?", make(choices), quiet)
    outcome = await thread.resume(make(choices), quiet)

    assert script.names().count("Triage") == 1
    assert outcome.state["status"] == "succeeded"


async def test_rewriter_and_planner_are_told_which_documents_there_are(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": True})
    script.on("Rewrite", QUERIES)
    await thread.begin("How do bees dance?", make(choices), quiet)

    for name in ("Rewrite", "Draft"):
        (prompt,) = script.prompts(name)
        assert '<outline languages="en">\n3 documents; languages: English' in prompt
        assert "- dance.md: The dance (English, " in prompt


async def test_a_question_that_stands_alone_need_not_be_repeated_and_has_a_query_for_each_part(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    dances = ["waggle dance", "round dance", "tremble dance", "stop signal"]
    parts = [*dances, "winter cluster", "sugar feed", "mites", "swarms"]
    script.on("Triage", {"research": True})
    script.on("Rewrite", {"question": "", "queries": [*parts, "one too many"]})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (prompt,) = script.prompts("Rewrite")
    assert "<count>\n8\n</count>" in prompt
    assert outcome.state["question"] == "How do bees dance?"
    assert outcome.state["queries"] == ["How do bees dance?", *parts]
