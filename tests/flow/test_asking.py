"""A step that asks the person waits for the answer, and goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Command

from calls.attempts import list_attempts
from graph.context import Context
from graph.session import SessionOutcome, ThreadSession, open_session
from memory.experience.utterances import PERSON_SPEAKER, list_utterances
from runs.call_site import join_owner
from runs.lifecycle import find_run
from tests.conftest import make
from tests.fake_model import Reply, Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_tool_loop import calling
from tests.flow.test_wishes import told
from tests.places import new_process

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Verdict")

SAID = "The waggle dance tells other bees the direction of food [S1]."
COUNTRY = {"question": "In which country?", "default": "Germany", "options": ["Germany", "Austria"]}
APPROVE = {"type": "approve"}


@pytest.fixture
def reviewed(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "auto_accept": False, "max_reflections": 0, "max_rounds": 0}


def asking(*calls: dict[str, Any]) -> AIMessage:
    return calling(*(("ask_user", one) for one in calls or (COUNTRY,)))


def answering(*replies: Reply, by: str = "") -> Callable[[list[BaseMessage]], Reply]:
    """Answer with one reply after the other; in a conversation of its own for each step."""
    del by

    def answer(messages: list[BaseMessage]) -> Reply:
        rounds = sum(one.type == "ai" for one in messages)
        return replies[min(rounds, len(replies) - 1)]

    return answer


async def begun(thread: ThreadSession, context: Context) -> SessionOutcome:
    """Ask a question, and approve its plan."""
    await thread.begin("How do bees dance?", context, quiet)
    return await thread.answer_review(APPROVE, context, quiet)


def asked(outcome: SessionOutcome) -> list[dict[str, Any]]:
    assert outcome.request
    return list(outcome.request["action_requests"])


def results(messages: list[BaseMessage]) -> list[str]:
    return [str(one.text) for one in messages if one.type == "tool"]


async def test_a_step_waits_for_an_answer_and_goes_on_with_it_in_another_process(
    reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    looked = calling(
        ("search", {"query": "queen eggs", "scope": "files"}), ("ask_user", COUNTRY)
    )
    script.on("researcher", answering(looked, SAID))
    script.on("reporter", SAID)
    context = make(reviewed)
    async with open_session("t2") as first:
        outcome = await begun(first, context)
    assert (await find_run("local/", "t2-1")).status == "waiting_review"
    (request,) = asked(outcome)
    assert request["name"] == "ask_user"
    assert request["args"] == {
        "question": "In which country?",
        "options": ["Germany", "Austria"],
        "answer": "Germany",
    }
    assert "q1. In which country? (1) Germany (2) Austria (assumed: Germany)" in request["description"]
    assert "Step “waggle dance” asks this" in request["description"]
    assert request["description"] in str(outcome.state["messages"][-1].text)
    before = script.names().count("researcher")
    new_process()

    async with open_session("t2") as second:
        outcome = await second.answer_review({"answers": {"q1": "2"}}, context, quiet)

    assert outcome.request is None
    assert outcome.state["status"] == "succeeded"
    assert script.names().count("researcher") == before + 1
    talk = next(talk for name, talk in reversed(script.asked) if name == "researcher")
    found, answer = results(talk)
    assert "2000 eggs" in found
    assert "<answer>\nAustria\n</answer>" in answer
    for name in ("Verdict", "reporter"):
        assert all("In which country? Austria" in prompt for prompt in told(script, name))
    assert not any(one.startswith("Assumed") for one in outcome.state["report"]["notices"])
    assert [one.type for one in outcome.state["messages"]] == ["human", "ai"]
    assert (await find_run("local/", "t2-1")).status == "succeeded"
