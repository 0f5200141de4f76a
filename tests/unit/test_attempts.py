"""Every attempt of a model call is written down before it is sent, and counts however it ends."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage
from langchain_openai.chat_models import base
from sqlalchemy import select

from calls.attempts import (
    OPEN_STATUS,
    Attempt,
    begin_attempt,
    list_attempts,
    list_failed_roles,
    set_attempt_status,
)
from calls.call_middleware import _count_reply_tokens
from calls.ledger import CallCost
from calls.run_budget import get_budget
from config.errors import Problem
from graph.context import Context
from runs.tables import calls
from runs.trace import read_trace
from storage.engine import read_rows
from tests.fake_model import Script
from tests.model_calls import (
    BAD_KEY,
    CUT,
    DOWN,
    EMPTY,
    REFUSED,
    REQUEST,
    TIMEOUT,
    asked,
    models,
    written,
)
from tests.places import new_process, somewhere

BILLED = {"input_tokens": 700, "output_tokens": 90, "total_tokens": 790}


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch: pytest.MonkeyPatch, either: str, script: Script):
    """One model that costs something, and no other to fall back on."""
    del either, script
    text = 'default = "fake:any"\n[prices]\n"fake:any" = [1.0, 10.0]\n'
    models(tmp_path / "alone.toml", monkeypatch, text)


def billed(message: AIMessage) -> AIMessage:
    """Return a reply whose server says what it takes for it."""
    return message.model_copy(update={"usage_metadata": BILLED})


def told(code: int, usage: dict[str, int] | None = None) -> Exception:
    """Return the error of a client that was answered with a status, and what that took."""
    body = {"message": "no", "usage": usage} if usage else {"message": "no"}
    return openai.APIStatusError("no", response=httpx.Response(code, request=REQUEST), body=body)


async def of_run() -> list[Attempt]:
    return list(await list_attempts("t1-1"))


def used(one: Attempt) -> tuple[str, int, int]:
    return one.status, one.tokens_in, one.tokens_out


async def again() -> Any:
    """Return the budget of whoever goes on with the run in another process."""
    new_process()
    return await get_budget(somewhere(), Context())


@pytest.mark.extractive("Bee")
async def test_an_attempt_is_on_the_disk_before_it_is_sent(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    before: list[Attempt] = []

    async def watched(*given: Any) -> str:
        name = await begin_attempt(*given)
        assert not script.asked
        before.extend(await of_run())
        return name

    monkeypatch.setattr("calls.call_middleware.begin_attempt", watched)
    await asked()

    (one,) = before
    assert (one.status, one.role, one.model) == (OPEN_STATUS, "planner", "fake:any")
    assert one.tokens_in > 100
    assert one.cost == pytest.approx((one.tokens_in + 10 * one.tokens_out) / 1e6)


async def test_an_answer_settles_its_attempt_with_what_was_billed(script: Script):
    script.on("Bee", {"title": "Maya"})

    await asked()

    (one,) = await of_run()
    assert (*used(one), one.cost) == ("ok", 100, 10, pytest.approx(200 / 1e6))


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (billed(EMPTY), "answer_empty"),
        (billed(CUT), "answer_cut"),
        (billed(REFUSED), "model_refused"),
        (told(500, {"prompt_tokens": 700, "completion_tokens": 90}), "model_unavailable"),
        (told(400, {"prompt_tokens": 700, "completion_tokens": 90}), "model_rejected"),
    ],
    ids=["empty", "cut", "refused", "500", "400"],
)
async def test_what_a_server_bills_for_no_answer_counts_each_time(
    script: Script, reply: AIMessage | Exception, status: str
):
    script.on("Bee", reply)

    assert await asked() == status

    made = await of_run()
    assert {used(one) for one in made} == {(status, 700, 90)}
    assert (await again()).tokens == 790 * len(script.asked) == 790 * len(made)
    assert (await again()).calls == len(script.asked)


@pytest.mark.parametrize(
    "failure",
    [TIMEOUT, CUT, base.OpenAIConnectionError(request=REQUEST), IndexError("no choices")],
    ids=["timeout", "cut", "broken", "garbage"],
)
async def test_a_failure_that_may_have_been_billed_counts_as_the_worst(
    script: Script, failure: Exception | AIMessage
):
    script.on("Bee", failure, {"title": "Maya"})

    await asked()

    failed, good = await of_run()
    assert failed.tokens_in > 100
    assert failed.tokens_out > 2_000
    assert used(good) == ("ok", 100, 10)


@pytest.mark.parametrize("failure", [DOWN, BAD_KEY, told(404), ConnectionRefusedError()], ids=str)
async def test_a_request_that_a_server_refuses_or_never_gets_costs_a_call_and_nothing_else(
    script: Script, failure: Exception
):
    script.on("Bee", failure)

    await asked()

    left = await again()
    assert (left.calls, left.tokens, left.dollars) == (len(script.asked), 0, 0.0)


async def test_a_call_that_is_cancelled_counts_as_the_worst(script: Script):
    script.seconds = 30
    waiting = asyncio.create_task(asked())
    for _ in range(500):
        await asyncio.sleep(0.1)
        if await of_run():
            break
    await asyncio.sleep(0.2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    (one,) = await of_run()
    assert one.status == "cancelled"
    assert one.tokens_out > 2_000


async def test_what_was_spent_is_the_same_in_the_attempts_the_trace_and_both_budgets(
    script: Script,
):
    script.on("Bee", billed(EMPTY), DOWN, {"title": "Maya"})
    await asked()
    here = await get_budget(somewhere(), Context())

    lines = await read_trace("t1-1")

    there = await again()
    assert (here.calls, here.tokens) == (there.calls, there.tokens) == (3, 900)
    assert here.dollars == there.dollars == sum(one["dollars"] for one in lines)
    assert sum(one["tokens_in"] + one["tokens_out"] for one in lines) == 900


async def test_an_answer_that_is_recorded_is_neither_sent_nor_counted_again(script: Script):
    script.on("Bee", {"title": "Maya"})
    await asked()
    await asked()

    assert len(await of_run()) == 1


async def test_equal_questions_side_by_side_settle_both_attempts(script: Script):
    script.on("Bee", {"title": "Maya"})
    script.seconds = 0.05

    await asyncio.gather(asked(), asked())

    assert [one.status for one in await of_run()] == ["ok", "ok"]


async def test_what_a_call_is_recorded_under_does_not_change_with_what_is_left(script: Script):
    script.on("Bee", {"title": "Maya"})
    await asked(max_tokens=50_000)
    new_process()

    assert await asked(max_tokens=9_000) == "Maya"

    keys = (await read_rows(select(calls.c.key))).scalars().all()
    assert len(script.asked) == len(keys) == 1


async def test_a_model_is_told_how_long_its_answer_may_be(script: Script):
    script.on("Bee", {"title": "Maya"})
    script.on("reporter", "Bees dance.")

    await asked("one?", max_tokens=10_000)
    await asked("two?", max_cost=0.02)
    await written(max_cost=10)

    (tokens, money, most) = script.limits
    assert tokens == 2_000
    assert 1_400 < money < 1_600
    assert most == 8_000


def full(messages: object) -> AIMessage:
    """Answer until the limit is reached."""
    del messages
    finish = {"finish_reason": "length"}
    return AIMessage("Bees dance. " * 400, response_metadata=finish)


def filling(script: Script, messages: object) -> AIMessage:
    """Answer with as many tokens as may be."""
    limit = script.limits[-1] or 0
    used = {"input_tokens": 100, "output_tokens": limit, "total_tokens": 100 + limit}
    return full(messages).model_copy(update={"usage_metadata": used})


async def test_an_answer_that_our_limit_cut_is_asked_for_with_more_room_and_never_with_as_much(
    script: Script,
):
    script.on("reporter", partial(filling, script))

    work = await written(max_tokens=8_000)

    first, second = script.limits
    assert first == 2_000
    assert 5_500 < second < 5_900
    assert (work.complete, work.cap) == (False, "max_tokens = 8000")
    assert [one.status for one in await of_run()] == ["answer_capped", "ok"]


async def test_a_recorded_answer_that_a_cap_cut_is_asked_for_again_once_the_cap_was_raised(
    script: Script,
):
    script.on("reporter", partial(filling, script))
    await written(max_tokens=8_000)
    await written(max_tokens=8_000)
    cut = len(script.limits)
    script.on("reporter", "Bees dance.")

    work = await written(max_tokens=100_000)
    again = await written(max_tokens=100_000)

    assert cut == 2
    assert (work.text, work.cap) == ("Bees dance.", "")
    assert again == work
    assert len(script.limits) == 3


async def test_an_answer_that_the_models_own_limit_cut_is_no_matter_of_caps(script: Script):
    usage = {"input_tokens": 100, "output_tokens": 500, "total_tokens": 600}
    script.on("reporter", full(None).model_copy(update={"usage_metadata": usage}))

    work = await written(max_tokens=16_000)

    assert len(script.limits) == 1
    assert (work.complete, work.cap) == (False, "")


async def test_typed_answers_that_no_cap_leaves_room_for_end_in_its_name(script: Script):
    script.on("Bee", partial(filling, script))

    assert await asked(max_tokens=8_000) == "budget_spent"


async def test_an_unreadable_answer_is_named_in_its_attempt(script: Script):
    script.on("Bee", "No bee.", {"title": "Maya"})

    assert await asked() == "Maya"

    assert [one.status for one in await of_run()] == ["answer_invalid", "ok"]


REFUSES = "max_tokens is too large: 8000. This model's maximum context length is 4096 tokens"
UNKNOWN = "Unrecognized request argument supplied: max_completion_tokens"


def refused(words: str) -> Exception:
    return openai.BadRequestError(words, response=httpx.Response(400, request=REQUEST), body=None)


@pytest.mark.parametrize(("words", "limits"), [(REFUSES, [8_000, 2_000]), (UNKNOWN, [8_000, None])])
async def test_a_server_that_refuses_the_limit_is_asked_with_another_and_remembered(
    script: Script, words: str, limits: list[int | None]
):
    script.on("reporter", refused(words), "Bees dance.")

    assert (await written(max_cost=10)).text == "Bees dance."
    await written("Which other?", max_cost=10)

    assert script.limits == [*limits, limits[-1]]


async def test_a_refusal_for_another_reason_is_told(script: Script):
    script.on("reporter", refused("the messages are out of order"))

    with pytest.raises(Problem, match="out of order"):
        await written()
    assert len(script.asked) == 1


async def test_what_failed_is_told_in_the_order_of_the_plan_however_its_steps_came_to_run():
    for role, step in [("researcher", "s10"), ("researcher", "s2"), ("planner", "")]:
        name = await begin_attempt(somewhere(run="t1-1", step=step), role, CallCost("fake:any"), 60)
        await set_attempt_status(name, "model_unavailable")

    told = [(one.role, one.step) for one in await list_failed_roles("t1-1")]

    assert told == [("researcher", "s2"), ("researcher", "s10"), ("planner", "")]


async def test_thoughts_and_tool_calls_count_where_a_server_does_not_say_what_it_billed(
    script: Script,
):
    words = "Bees dance [S1]. "
    thoughts = {"reasoning_content": "The user asks about bees. " * 100}
    finish = {"finish_reason": "stop"}
    script.on("reporter", AIMessage(words, additional_kwargs=thoughts, response_metadata=finish))
    wanted = [{"name": "search", "args": {"queries": ["bees"] * 100}, "id": "1"}]
    calling = AIMessage("", tool_calls=wanted, response_metadata=finish)

    await written()

    (one,) = await of_run()
    assert one.tokens_out > 500
    assert _count_reply_tokens(calling) > 150
