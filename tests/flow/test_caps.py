"""The caps of a run hold over its reviews, its second reader, what is learnt, and rude models."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from calls.attempts import list_attempts
from config.errors import Problem
from graph.session import SessionOutcome, ThreadSession
from models.extractive.model import ExtractiveChatModel
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter"
)

QUESTION = "How do bees dance? My name is Ada."


async def asked(
    thread: ThreadSession, choices: dict[str, object], **more: object
) -> SessionOutcome | Problem:
    try:
        return await thread.begin(QUESTION, make(choices, **more), quiet)
    except Problem as problem:
        return problem


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6, 8, 10, 12])
async def test_no_role_is_asked_beyond_the_calls_of_a_run(
    thread: ThreadSession, choices: dict[str, object], script: Script, most: int
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Verdict", {"passed": False, "feedback": "more", "queries": ["winter"]})

    await asked(thread, choices, max_calls=most)

    assert 0 < len(script.asked) <= most


async def test_plans_that_are_rejected_again_and_again_use_the_calls_of_one_run(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    context = make(choices, auto_accept=False, max_calls=6)
    outcome = await thread.begin(QUESTION, context, quiet)
    for word in ("winter", "honey", "queens", "swarms"):
        rejected = {"type": "reject", "message": f"look at {word} too"}
        outcome = await thread.answer_review(rejected, context, quiet)
    outcome = await thread.answer_review({"type": "approve"}, context, quiet)

    assert outcome.state["status"] == "partial"
    assert len(script.asked) <= 6


async def test_a_question_asked_on_has_caps_of_its_own_and_keeps_them(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    context = make(choices, max_calls=7)
    await thread.begin(QUESTION, context, quiet)
    before = len(script.asked)

    await thread.begin("How long do they dance?", context, quiet)

    assert before <= 7
    assert 0 < len(script.asked) - before <= 7


async def test_a_model_that_writes_more_than_it_may_is_asked_nothing_more(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    def rude(messages: list[BaseMessage]) -> AIMessage:
        said: Any = ExtractiveChatModel()._generate(messages).generations[0].message
        usage = {"input_tokens": 500, "output_tokens": 90_000, "total_tokens": 90_500}
        return AIMessage(
            said.text, response_metadata={"finish_reason": "stop"}, usage_metadata=usage
        )

    script.on("researcher", rude)
    script.on("Draft", draft("waggle dance", "winter cluster", "queen eggs"))

    outcome = await asked(thread, choices, max_tokens=60_000, parallelism=1)

    assert isinstance(outcome, SessionOutcome)
    assert script.names().count("researcher") == 1
    assert script.names()[-1] == "researcher"
    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["limit"] == "max_tokens = 60000"
    assert sum(one.tokens_in + one.tokens_out for one in await list_attempts("t1-1")) > 90_500
