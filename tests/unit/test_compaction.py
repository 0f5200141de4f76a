"""A conversation that grows too long for its model is made shorter, and keeps what matters."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from sqlalchemy import select

from calls.compaction import count_message_tokens
from calls.context_window import input_window
from calls.gateway import WorkResult, work
from graph.records import Passage, Source
from models.chat_models import chat_model_providers
from runs.tables import calls
from runs.trace import read_trace
from storage.engine import read_rows
from tests.fake_model import FakeModel, Script
from tests.model_calls import STATE
from tests.places import new_process, runtime
from tools import research_tools
from tools.evidence import Evidence, SearchRequest
from tools.toolbox import RESEARCHER_TOOLS

pytestmark = pytest.mark.usefixtures("database")

WINDOW = 6_000

STEP = '<step title="bees">\nFind out how bees dance.\n</step>'

SUMMARY = "Found: the waggle dance tells the direction [S1]. Open: who described it."


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models have a small window."""
    monkeypatch.setenv("DOSSIER_CONTEXT_TOKENS", str(WINDOW))
    new_process()


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search finds a long passage of a source of its own."""

    async def gather(here: Any, context: Any, wanted: SearchRequest) -> Evidence:
        at = int(wanted.about.removeprefix("bees ")) + 1
        text = f"Source {at} tells of the dance. " + f"Bees fly to field number {at}. " * 130
        source = Source(id=f"S{at}", page=str(at), title="Bees", location="b.md", kind="file")
        return Evidence([Passage(source=f"S{at}", text=text)], {f"S{at}": source}, [])

    monkeypatch.setattr(research_tools, "gather_evidence", gather)


def calling(number: int) -> AIMessage:
    call = {"name": "search", "args": {"query": f"bees {number}"}, "id": f"call-{number}"}
    return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


ENOUGH = AIMessage("Bees dance [S1].", response_metadata={"finish_reason": "stop"})


async def researched(script: Script, searches: int = 4, **choices: Any) -> WorkResult:
    """Let a researcher search so often, then write."""
    made = iter([*map(calling, range(searches)), ENOUGH])
    script.on("researcher", lambda _: next(made))
    step = [HumanMessage(STEP)]
    return await work(STATE, runtime(**choices), "researcher", "Write.", step, RESEARCHER_TOOLS)


def asked(script: Script, name: str) -> list[list[BaseMessage]]:
    return [messages for one, messages in script.asked if one == name]


def whole(messages: list[BaseMessage]) -> str:
    return "\n".join(str(message.text) for message in messages)


async def test_no_call_is_longer_than_the_window_and_the_task_stands_in_each(script: Script):
    script.on("summary", SUMMARY)
    reply = await researched(script)

    assert reply.text == "Bees dance [S1]."
    assert len(asked(script, "summary")) > 0
    for messages in asked(script, "researcher"):
        assert count_message_tokens(messages) < WINDOW
        assert STEP in whole(messages)


async def test_the_newest_result_stays_word_for_word_and_older_ones_become_the_summary(
    script: Script,
):
    script.on("summary", SUMMARY)
    await researched(script)

    last = whole(asked(script, "researcher")[-1])
    assert SUMMARY in last
    assert "field number 4" in last
    assert "field number 1." not in last
    older = whole(asked(script, "summary")[0])
    assert "field number 1." in older
    assert 'calls search({"query": "bees 0"})' in older
    assert "sources exactly as they stand" in older
    assert STEP not in older


async def test_a_later_summary_is_of_the_one_before_and_what_came_since(script: Script):
    script.on("summary", SUMMARY, "Found: bees fly far [S2].")
    await researched(script, 5)

    # How many there are depends on whether tokens are counted or estimated.
    first, second, *_ = (whole(messages) for messages in asked(script, "summary"))
    assert SUMMARY in second
    assert "field number 1." in first
    assert "field number 1." not in second
    assert "field number" in second


async def test_a_call_and_its_result_are_never_parted(script: Script):
    script.on("summary", SUMMARY)
    await researched(script)

    for messages in asked(script, "researcher"):
        calls = [call["id"] for one in messages for call in getattr(one, "tool_calls", [])]
        assert calls == [one.tool_call_id for one in messages if one.type == "tool"]


async def test_after_a_crash_nothing_is_asked_again(script: Script):
    script.on("summary", SUMMARY)
    first = await researched(script)
    before = len(script.asked)
    new_process()

    again = await researched(script)

    assert again.text == first.text
    assert len(script.asked) == before


async def test_a_summary_is_paid_for_like_every_other_call(script: Script):
    script.on("summary", SUMMARY)
    await researched(script)

    lines = [line for line in await read_trace("t1-1") if line["kind"] == "model"]
    assert [line["status"] for line in lines] == ["ok"] * len(script.asked)
    rows = (await read_rows(select(calls.c.key).where(calls.c.kind == "model"))).all()
    assert len(rows) == len(script.asked)


@pytest.mark.extractive("summary")
async def test_the_model_without_a_key_shortens_by_quoting(script: Script):
    await researched(script)

    last = whole(asked(script, "researcher")[-1])
    assert "Source 1 tells of the dance. [S1]" in last
    assert STEP in last
    assert "field number 4" in last


async def test_what_was_asked_is_never_made_shorter(script: Script):
    script.on("reporter", "Bees dance.")
    long = "Bees dance. " * 2_000
    await work(STATE, runtime(), "reporter", "Write.", [HumanMessage(long)])

    assert script.names() == ["reporter"]
    assert long in whole(script.asked[0][1])


async def test_a_model_with_a_large_window_is_shown_everything(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    def known(_: str) -> FakeModel:
        return FakeModel(script=script, profile={"max_input_tokens": 200_000})

    monkeypatch.setitem(chat_model_providers, "wide", known)
    await researched(script, models={"default": "wide:any"})

    assert asked(script, "summary") == []
    assert "field number 1." in whole(asked(script, "researcher")[-1])


def test_the_window_is_the_models_own_or_what_the_operator_says():
    script = Script()

    assert input_window(FakeModel(script=script)) == WINDOW // 2
    assert input_window(FakeModel(script=script, profile={"max_input_tokens": 100_000})) == 95_000


async def test_the_model_never_sees_a_call_that_a_cancelled_run_left_without_a_result(
    script: Script,
):
    script.on("researcher", ENOUGH)
    script.on("reporter", ENOUGH)
    late = ToolMessage("Bees fly.", tool_call_id="call-1", name="search")
    left = [HumanMessage(STEP), calling(0), calling(1), HumanMessage("Go on."), late]
    await work(STATE, runtime(), "researcher", "Write.", left, RESEARCHER_TOOLS)

    ((_, said),) = script.asked
    assert [one.type for one in said[1:]] == ["human", "ai", "tool", "ai", "tool", "human"]
    assert "cut off" in str(said[3].text)
    assert said[5].text == "Bees fly."
