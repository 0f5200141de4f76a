"""What a run says of its progress is the same wherever it is watched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from calls import run_progress as told
from calls.run_estimate import estimate_left, load_run_paces
from graph.session import ThreadSession
from runs.call_site import join_owner
from runs.progress_events import EVENT_KINDS, MAX_DATA_CHARS, MAX_TEXT_CHARS, describe_left
from tests.chat_page import ChatPage
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft

pytestmark = pytest.mark.extractive("Triage", "Checks", "Lessons")

QUESTION = "How do bees dance?"
TRUE = "The waggle dance tells other bees the direction of food. [S1]"
FALSE = '<q s="S1">Turbines export jazz to Reykjavik.</q> [S1]'


@pytest.fixture
def scripted(script: Script) -> Script:
    script.on("Rewrite", {"question": QUESTION, "queries": ["waggle dance"]})
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("researcher", TRUE)
    script.on("reporter", f"{TRUE}\n\n{FALSE}", "Nothing.")
    return script


async def events(thread: ThreadSession, choices: dict[str, Any], **more: Any) -> list[Any]:
    """Return what a run has said of its progress to the command line."""
    seen: list[dict[str, Any]] = []
    await thread.begin(QUESTION, make(choices, **more), seen.append)
    return [one for one in seen if "kind" in one]


async def test_a_run_tells_every_stage_in_order(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    seen = await events(thread, choices)

    names = [one["event"] for one in seen]
    wanted = ["understanding", "rewriting", "searching", "found", "planning", "plan"]
    wanted += ["researching", "checking", "step_done", "researched", "writing", "checked"]
    wanted += ["removed", "answered"]
    places = [names.index(name) for name in wanted]
    assert places[:6] == sorted(places[:6])
    assert names.index("plan") < names.index("researching") < names.index("step_done")
    assert places[9] < places[10] < places[12] < places[13]
    assert names[0] == "understanding"
    assert names[-1] == "answered"
    for one in seen:
        assert one["kind"] == EVENT_KINDS[one["event"]]
        assert one["run"] == "t1-1"


async def test_an_event_says_of_which_step_it_is_what_was_spent_and_since_when(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    seen = await events(thread, choices)

    searched = {one["data"]["query"]: one["step"] for one in seen if one["event"] == "searching"}
    assert searched["winter cluster"] == "s2"
    done = {one["step"]: one["data"]["status"] for one in seen if one["event"] == "step_done"}
    assert done == {"s1": "ok", "s2": "ok"}
    (removed,) = [one for one in seen if one["event"] == "removed" and not one["step"]]
    assert "Turbines" in removed["data"]["sentences"][0]
    seconds, calls = zip(*((one["seconds"], one["spent"]["calls"]) for one in seen), strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(calls) == sorted(calls)
    assert calls[0] == 0 < calls[-1]
    assert seen[-1]["spent"]["tokens"] > 0
    assert seen[-1]["left"] == {"calls": [0, 0], "seconds": [0, 0]}


async def test_terminal_chat_page_and_http_are_told_the_same(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    asked = {"messages": [HumanMessage(QUESTION, id="h1")]}
    page, custom = ChatPage(), []
    modes = ["values", "messages", "custom"]
    stream = thread.graph.astream(asked, thread.config, context=make(choices), stream_mode=modes)
    async for mode, data in stream:
        page.take(mode, data)
        custom += [data] if mode == "custom" else []

    shown = [one for one in custom if one["event"] not in told.UNSPOKEN]
    assert {"researching", "step_done", "found", "removed"} <= {one["event"] for one in shown}
    assert all(one["text"] in page.seen for one in shown)
    assert json.loads(json.dumps(custom)) == custom
    assert all(len(one["text"]) <= MAX_TEXT_CHARS for one in custom)


async def test_a_plan_that_waits_is_told(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    seen = await events(thread, choices, auto_accept=False)

    assert (seen[-1]["kind"], seen[-1]["event"]) == ("ask", "plan_waits")
    assert seen[-1]["data"]["count"] == 2


async def test_no_secret_and_no_long_text_is_in_an_event(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    secret = "sk-proj-" + "aB3" * 16
    queries = [f"waggle {secret}", "dance " * 200]
    scripted.on("Rewrite", {"question": QUESTION, "queries": queries})

    seen = await events(thread, choices)

    assert secret not in json.dumps(seen)
    assert any(one["event"] == "searching" and "waggle" in one["text"] for one in seen)
    for one in seen:
        texts = [value for value in one["data"].values() if isinstance(value, str)]
        assert all(len(text) <= MAX_DATA_CHARS for text in texts)


async def test_thousands_of_details_are_not_told(
    thread: ThreadSession,
    choices: dict[str, object],
    scripted: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(told, "MAX_DETAILS", 3)

    seen = await events(thread, choices)

    details = [one for one in seen if one["kind"] in ("search", "found", "read", "cost")]
    assert len(details) == 3
    assert [one["event"] for one in seen].count("step_done") == 2


async def test_words_are_in_the_language_of_the_run(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    seen = await events(thread, choices, language="zh")

    assert seen[0]["text"] == "正在理解问题……"
    assert any(one["text"] == "正在搜索：winter cluster" for one in seen)


async def test_how_long_a_run_takes_is_unknown_at_first_and_then_told_by_earlier_ones(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    first = await events(thread, choices)
    again = await events(thread, choices, again="new")

    unknown = {"calls": None, "seconds": None}
    assert all(one["left"] == unknown for one in first if one["event"] in ("rewriting", "plan"))
    planning = next(one for one in again if one["event"] == "planning")
    least, most = planning["left"]["calls"]
    assert 0 < least <= most
    (pace,) = (await load_run_paces(join_owner("local", ""), make(choices)))[:1]
    assert pace.steps == 2
    assert pace.stages["reporting"].calls >= 1
    left = estimate_left(told.RunMoment("reporting"), [pace, pace])
    assert left["calls"] == [pace.stages["reporting"].calls] * 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        ([0, 0], ""),
        ([0, 4], "at most 5 s left"),
        ([12, 33], "about 10–35 s left"),
        ([70, 400], "about 1–7 min left"),
        ([600, 600], "about 10 min left"),
    ],
)
def test_what_is_left_is_told_as_a_range(seconds: list[int] | None, words: str):
    assert describe_left({"calls": None, "seconds": seconds}, "en") == words
