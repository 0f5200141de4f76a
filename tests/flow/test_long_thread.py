"""A thread goes on for as long as somebody asks, and remembers what it began with."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from calls.compaction import count_message_tokens
from graph.session import SessionOutcome, ThreadSession
from graph.state import State
from nodes.conversation import load_conversation, max_shown_tokens
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process, runtime

pytestmark = pytest.mark.extractive("Rewrite", "researcher", "Verdict", "reporter", "Checks")

FIRST = "Who described the waggle dance, and when?"
QUOTE = "Karl von Frisch described the waggle dance in 1927."
SUMMARY = "Asked: old hives only. Found: the dance was described in 1927 [S1]. Open: mites."
CHAT = 'Only of the old hives, please, "no. {}".'
REFUSED = AIMessage("no", response_metadata={"finish_reason": "content_filter"})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models can read little."""
    monkeypatch.setenv("DOSSIER_CONTEXT_TOKENS", "4000")
    new_process()


def prompts(script: Script, name: str) -> list[list[AnyMessage]]:
    return [said for one, said in script.asked if one == name]


def whole(messages: list[Any]) -> str:
    return "\n".join(str(message.text) for message in messages)


async def research(
    thread: ThreadSession, choices: dict[str, object], script: Script, question: str
) -> SessionOutcome:
    script.on("Triage", {"research": True})
    script.on("Draft", draft(question))
    outcome = await thread.begin(question, make(choices), quiet)
    assert outcome.state["report"]["cited"]
    return outcome


async def chat(
    thread: ThreadSession, choices: dict[str, object], script: Script, times: int = 20
) -> None:
    """Go on talking, with long answers."""
    for number in range(times):
        script.on("Triage", {"research": False, "reply": f"{number}: of course. " + "buzz " * 90})
        await thread.begin(CHAT.format(number), make(choices), quiet)


async def test_a_long_thread_is_shown_as_a_summary_and_its_newest_messages(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("summary", SUMMARY)
    await research(thread, choices, script, FIRST)
    await chat(thread, choices, script)
    outcome = await research(thread, choices, script, "How many eggs does the queen lay?")

    for name in ("Triage", "Rewrite"):
        last = whole(prompts(script, name)[-1])
        assert all(part in last for part in ("old hives", "1927 [S1]", "Open: mites", "no. 19"))
        assert "no. 3" not in last
    assert all(
        count_message_tokens(said[1:]) <= max_shown_tokens() for said in prompts(script, "Triage")
    )
    said = [str(one.text) for one in outcome.state["messages"] if one.type == "human"]
    assert len(said) == 22
    assert said[0] == FIRST


async def test_a_summary_is_of_the_one_before_and_not_written_for_every_question(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("summary", SUMMARY)
    await research(thread, choices, script, FIRST)
    await chat(thread, choices, script)

    first, *later = (whole(said) for said in prompts(script, "summary"))
    assert 0 < len(later) < 8
    assert QUOTE in first
    assert '<q s="S' in first
    assert all(SUMMARY in text and QUOTE not in text for text in later)


async def test_a_summary_is_paid_for_in_the_run_that_needs_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("summary", SUMMARY)
    await research(thread, choices, script, FIRST)
    await chat(thread, choices, script)

    traces = [line for turn in range(1, 22) for line in await read_trace(f"t1-{turn}")]
    paid = [line for line in traces if line["kind"] == "model" and line["role"] == "memorizer"]
    assert len(paid) == len([name for name in script.names() if name in ("summary", "Learnt")])


async def test_what_nobody_can_summarise_is_shown_from_its_end(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("summary", REFUSED)
    await chat(thread, choices, script, 12)
    outcome = await research(thread, choices, script, FIRST)

    assert prompts(script, "summary")
    assert outcome.state["summary"] == {"text": "", "until": ""}
    assert all(
        count_message_tokens(said[1:]) <= max_shown_tokens() for said in prompts(script, "Triage")
    )


async def test_the_model_without_a_key_goes_on_with_what_was_asked_and_found(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    choices = {**choices, "models": {"default": "extractive"}}
    await research(thread, choices, script, FIRST)
    talk = [HumanMessage("Thank you!"), AIMessage("Of course. " + "Buzz. " * 200)]
    update = {"messages": [one.model_copy() for _ in range(8) for one in talk]}
    await thread.graph.aupdate_state(thread.config, update, as_node="memorize")
    outcome = await research(thread, choices, script, "How far away is the food it tells of?")

    summary = outcome.state["summary"]["text"]
    assert f"Asked: {FIRST}" in summary
    assert QUOTE in summary
    assert f"“{QUOTE}” [S" in summary
    assert "Buzz" not in summary
    assert "waggle dance" in outcome.state["question"]
    assert script.asked == []


async def test_a_thread_of_an_older_version_goes_on(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("summary", SUMMARY)
    state = (await research(thread, choices, script, FIRST)).state
    old = {name: value for name, value in state["answers"]["1"].items() if name != "message"}
    update = {"answers": {"1": old}, "summary": None}
    await thread.graph.aupdate_state(thread.config, update, as_node="memorize")
    await chat(thread, choices, script, 12)

    state = (await research(thread, choices, script, "Who feeds the queen?")).state
    assert state["summary"]["text"] == SUMMARY
    assert "1927" in whole(prompts(script, "summary")[0])


async def test_after_a_crash_behind_a_summary_it_is_not_paid_for_again(
    script: Script, database: None
):
    script.on("summary", SUMMARY)
    said = [HumanMessage("Only of the old hives."), AIMessage("Of course. " + "Buzz. " * 200)]
    talk = [said[at % 2].model_copy(update={"id": str(at)}) for at in range(16)]
    state = State(messages=talk, question="Who feeds the queen?", turn=9, language="en")
    first = await load_conversation(state, runtime())
    new_process()

    assert await load_conversation(state, runtime()) == first
    assert script.names() == ["summary"]
    assert first[1]["text"] == SUMMARY
