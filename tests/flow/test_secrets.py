"""A secret that a person lets slip is on no disk, in no prompt, and they are told so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from config.errors import Problem
from config.settings import settings
from graph.session import ThreadSession
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from memory.learning.run_feedback import record_feedback
from nodes.ingest import ingest_chat
from runs.lifecycle import find_run
from storage.engine import close_database
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

SECRET = "hunter2-Zebra9"
BEES = "How do bees dance?"


def bytes_of_home() -> bytes:
    every = (one for one in settings().home.rglob("*") if one.is_file())
    return b"\n".join(one.read_bytes() for one in every)


@pytest.mark.parametrize(
    "said",
    [
        f"My password is {SECRET}. {BEES}",
        f"{BEES} log in with password {SECRET} if you have to",
        f"{BEES} 我的密码是{SECRET}。",
        f"curl -H 'Authorization: Bearer {SECRET}' failed. {BEES}",
    ],
)
async def test_a_question_with_a_secret_is_answered_and_the_secret_is_nowhere(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
):
    outcome = await thread.begin(said, make(choices), quiet)

    assert SECRET.encode() not in bytes_of_home()
    assert SECRET not in repr(script.asked)
    assert "waggle" in outcome.state["report"]["body"]
    assert "was removed from" in str(outcome.state["messages"][-1].text) or "删去" in str(
        outcome.state["messages"][-1].text
    )


async def test_what_was_asked_beside_a_secret_is_all_that_is_searched_for(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin(f"My password is {SECRET}. {BEES}", make(choices), quiet)

    assert outcome.state["question"] == BEES


@pytest.mark.parametrize("said", [f"My password is {SECRET}", f"wifi password: {SECRET}"])
async def test_who_says_nothing_but_a_secret_is_told_that_it_is_not_kept(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
):
    outcome = await thread.begin(said, make(choices), quiet)

    assert "do not keep" in str(outcome.state["messages"][-1].text)
    assert SECRET.encode() not in bytes_of_home()


async def test_a_secret_in_the_style_of_a_report_is_nowhere(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    style = f"Short sentences; my password is {SECRET}"
    await thread.begin(BEES, make({**choices, "style": style}), quiet)

    assert SECRET.encode() not in bytes_of_home()
    assert SECRET not in repr(script.asked)
    assert "Short sentences" in repr(script.asked)


@pytest.mark.parametrize("told", ["name", "additional_kwargs", "metadata"])
async def test_what_stands_beside_the_words_of_a_client_is_saved_without_secrets(
    thread: ThreadSession, choices: dict[str, object], told: str
):
    secret = f"my password is {SECRET}"
    beside = {"name": secret} if told == "name" else {}
    more = {"additional_kwargs": {"note": [secret]}} if told == "additional_kwargs" else {}
    config: Any = {"configurable": {"thread_id": "t1"}}
    if told == "metadata":
        config["metadata"] = {"note": secret}
    message = HumanMessage(BEES, **beside, **more)

    await thread.graph.ainvoke({"messages": [message]}, config, context=make(choices))

    await close_database()
    assert SECRET.encode() not in bytes_of_home()


async def test_a_secret_in_a_rejection_is_nowhere(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"), draft("winter cluster"))
    context = make(choices, auto_accept=False)
    await thread.begin(BEES, context, quiet)

    words = {"type": "reject", "message": f"only winter; my api token is {SECRET}"}
    outcome = await thread.answer_review(words, context, quiet)

    assert outcome.request
    assert SECRET.encode() not in bytes_of_home()
    assert SECRET not in repr(script.asked)


async def test_what_a_client_of_a_server_sends_is_saved_without_its_secrets(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    """A server hands the input to the graph as it came, and saves it before any node runs."""
    script.on("Draft", draft("waggle dance"), draft("winter cluster"))
    context = make(choices, auto_accept=False)
    said: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": f"PIN: 47110815 {BEES}"}]}
    ]
    config: Any = thread.config
    await thread.graph.ainvoke({"messages": said}, config, context=context)
    reject = {"type": "reject", "message": f"my password is {SECRET}, leave it out"}
    await thread.graph.ainvoke(Command(resume={"decisions": [reject]}), config, context=context)
    update = {"messages": [HumanMessage(f"the root password was {SECRET}")]}
    await thread.graph.aupdate_state(config, update, as_node="profile")

    kept = bytes_of_home()
    assert SECRET.encode() not in kept
    assert b"47110815" not in kept
    assert SECRET not in repr(script.asked)


async def test_a_graph_that_dies_before_its_first_node_leaves_no_secret(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    async def dies(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("nodes.profile.create_run", dies)
    said = {"messages": [HumanMessage(f"my password is {SECRET}")]}
    with pytest.raises(RuntimeError):
        await thread.graph.ainvoke(said, thread.config, context=make(choices))

    assert SECRET.encode() not in bytes_of_home()


async def test_feedback_and_facts_with_a_secret_are_refused_and_leave_nothing(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin(BEES, make(choices), quiet)
    run = await find_run("local/", outcome.state["run"])

    with pytest.raises(Problem) as told:
        await record_feedback(run, f"wrong: the login is ann, password {SECRET}")
    assert told.value.code == "feedback_refused"
    with pytest.raises(Problem) as told:
        await add_fact(
            "local/", NewFact(f"My bank's PIN code is 4711 and the passphrase is {SECRET}")
        )
    assert told.value.code == "secret_refused"

    assert SECRET.encode() not in bytes_of_home()


async def test_a_chat_is_read_without_the_secrets_that_were_told_in_it(tmp_path: Path):
    lines = [
        {"speaker": "Ann", "text": f"The wifi password is {SECRET}, the router is in the hall."},
        {"speaker": "Ben", "text": "Thanks! Shall we have tea?"},
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    done = await ingest_chat("local/", file, print)
    await close_database()

    assert (done.messages, done.masked) == (2, 1)
    assert SECRET.encode() not in bytes_of_home()
    assert b"router is in the hall" in bytes_of_home()


async def test_a_tool_is_handed_no_secret_that_a_model_has_from_a_page(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    call = {"name": "recall", "args": {"question": f"what is token=ghp_{'a1B2' * 8}?"}, "id": "c1"}
    script.on("researcher", AIMessage("", tool_calls=[call]))

    await thread.begin(BEES, make(choices), quiet)

    assert "researcher" in script.names()
    assert b"ghp_a1B2" not in bytes_of_home()


async def test_a_key_that_a_model_repeats_is_nowhere(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    key = "tvly-Q7f3Zebra9Kd81xx"
    monkeypatch.setenv("TAVILY_API_KEY", key)
    script.on("Rewrite", {"question": f"{BEES} {key}", "queries": [f"dance {key}"]})
    plan = draft(f"waggle dance {key}")
    script.on("Draft", plan | {"title": f"Bees {key}"})
    script.on("reporter", f'<q s="S1">The waggle dance tells other bees</q> [S1] {key}.')

    outcome = await thread.begin(BEES, make(choices, auto_accept=False), quiet)
    waiting = str(outcome.request)
    outcome = await thread.answer_review({"type": "approve"}, make(choices), quiet)

    assert "waggle" in outcome.state["report"]["body"]
    assert key not in waiting + repr(outcome.state)
    assert key.encode() not in bytes_of_home()
