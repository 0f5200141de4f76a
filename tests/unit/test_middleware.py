"""What surrounds a model call, seen through the door: who is asked, how often, after what wait."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_openai.chat_models import base

from calls.attempts import list_attempts, list_failed_roles
from runs.trace import read_trace
from tests.fake_model import Script
from tests.model_calls import (
    BAD_KEY,
    BAD_REQUEST,
    CUT,
    DOWN,
    EMPTY,
    REFUSED,
    REQUEST,
    SLOW_DOWN,
    TIMEOUT,
    TOO_LONG,
    asked,
    models,
    status,
)


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch: pytest.MonkeyPatch, database: None, script: Script):
    """One model, and no other to fall back on."""
    del database, script
    models(tmp_path / "alone.toml", monkeypatch, 'default = "fake:any"\n')


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, without waiting; servers in other threads wait as ever."""
    waited: list[float] = []
    sleep, here = asyncio.sleep, threading.current_thread()

    async def note(seconds: float, result: Any = None) -> Any:
        if threading.current_thread() is not here:
            return await sleep(seconds, result)
        if seconds:
            waited.append(seconds)
        return await sleep(0, result)

    monkeypatch.setattr(asyncio, "sleep", note)
    return waited


@pytest.mark.parametrize(
    ("failure", "calls", "code"),
    [
        (SLOW_DOWN, 6, "rate_limited"),
        (DOWN, 3, "model_unavailable"),
        (status(base.OpenAIAPIError, 500), 3, "model_unavailable"),
        (status(base.OpenAIAPIError, 529), 3, "model_unavailable"),
        (base.OpenAIConnectionError(request=REQUEST), 3, "model_unavailable"),
        (ConnectionResetError(), 3, "model_unavailable"),
        (TIMEOUT, 3, "model_timeout"),
        (IndexError("list index out of range"), 3, "model_unavailable"),
        (EMPTY, 3, "answer_empty"),
        (CUT, 3, "answer_cut"),
        (BAD_KEY, 1, "model_auth"),
        (status(base.OpenAIPermissionDeniedError, 403), 1, "model_auth"),
        (status(base.OpenAIModelNotFoundError, 404), 1, "unknown_model"),
        (BAD_REQUEST, 1, "model_rejected"),
        (TOO_LONG, 1, "model_context"),
        (REFUSED, 1, "model_refused"),
    ],
    ids=lambda one: repr(one)[:40],
)
async def test_a_failure_is_asked_again_as_often_as_it_may_pass(
    script: Script, failure: Exception | AIMessage, calls: int, code: str
):
    script.on("Bee", failure)

    assert await asked() == code
    assert len(script.asked) == calls


@pytest.mark.parametrize("failure", [SLOW_DOWN, DOWN, EMPTY, CUT, ConnectionResetError()])
async def test_a_failure_that_passes_leaves_no_mark_on_the_answer(
    script: Script, failure: Exception | AIMessage
):
    script.on("Bee", failure, failure, {"title": "Maya"})

    assert await asked() == "Maya"
    assert len(script.asked) == 3


async def test_what_a_server_asks_to_wait_is_waited_but_no_longer_than_a_minute(
    script: Script, waits: list[float]
):
    seven = status(base.OpenAIRateLimitError, 429, retry_after="7")
    a_day = status(base.OpenAIAPIError, 503, retry_after="86400")
    script.on("Bee", seven, a_day, {"title": "Maya"})

    await asked()

    assert waits == [7, 60]


async def test_the_waits_are_drawn_from_the_whole_of_a_doubling_interval(
    script: Script, waits: list[float], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_RETRY_SECONDS", "1")
    random.seed(1)
    script.on("Bee", SLOW_DOWN)
    for number in range(12):
        await asked(f"Bee {number}?")

    for attempt in range(5):
        drawn, most = waits[attempt::5], 2.0**attempt
        assert len(drawn) == 12
        assert all(0 <= seconds <= most for seconds in drawn)
        assert min(drawn) < 0.4 * most
        assert max(drawn) > 0.6 * most


async def test_a_wait_that_would_pass_the_deadline_of_the_run_is_not_begun(
    script: Script, waits: list[float]
):
    script.on("Bee", status(base.OpenAIRateLimitError, 429, retry_after="7"))

    assert await asked(max_minutes=0.1) == "rate_limited"
    assert (waits, len(script.asked)) == ([], 1)


async def test_branches_that_must_wait_equally_long_do_not_come_back_together(
    script: Script, waits: list[float], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_RETRY_SECONDS", "1")
    one = status(base.OpenAIRateLimitError, 429, retry_after="1")
    script.on("Bee", *[one] * 8, {"title": "Maya"})

    await asyncio.gather(*(asked(f"Bee {number}?") for number in range(8)))

    assert min(waits) >= 1
    assert len({round(seconds, 3) for seconds in waits}) > 6


async def test_a_call_that_hangs_is_cut_at_the_deadline_of_the_run(script: Script):
    script.seconds = 30
    started = time.monotonic()

    assert await asked(max_minutes=0.01) == "budget_spent"
    assert time.monotonic() - started < 20
    assert len(script.asked) == 0


async def test_a_call_that_the_deadline_of_the_run_cuts_is_no_failure_of_its_model(script: Script):
    script.seconds = 30

    await asked(max_minutes=0.01)

    (attempt,) = await list_attempts("t1-1")
    assert attempt.status == "budget_spent"
    assert await list_failed_roles("t1-1") == []


async def test_a_call_that_hangs_is_cut_at_its_own_limit(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_CALL_SECONDS", "0.05")
    script.seconds = 30

    assert await asked() == "model_timeout"


async def test_no_call_is_made_once_the_cap_is_reached(script: Script):
    script.on("Bee", DOWN)

    assert await asked(max_calls=2) == "budget_spent"
    assert len(script.asked) == 1


async def test_the_same_request_is_answered_from_the_ledger(script: Script):
    script.on("Bee", {"title": "Maya"}, {"title": "Willy"})

    assert [await asked(), await asked(), await asked("Which other?")] == ["Maya", "Maya", "Willy"]
    assert len(script.asked) == 2


@pytest.mark.parametrize("failure", [DOWN, EMPTY, CUT, REFUSED])
async def test_a_failure_is_never_kept_in_the_ledger(
    script: Script, failure: Exception | AIMessage
):
    script.on("Bee", failure)
    await asked()
    script.on("Bee", {"title": "Maya"})

    assert await asked() == "Maya"


async def test_every_physical_call_stands_in_the_trace(script: Script):
    script.on("Bee", DOWN, EMPTY, {"title": "Maya"})
    await asked()
    await asked()

    lines = await read_trace("t1-1")

    told = ["model_unavailable", "answer_empty", "ok", "recorded"]
    assert [line["status"] for line in lines] == told
    assert {line["role"] for line in lines} == {"planner"}
    assert lines[2]["tokens_in"] == 100


@pytest.mark.parametrize("usage", [None, (0, 0), (-5, 10), (10, -1), (10**12, 1), (10, 10**30)])
async def test_a_use_that_no_server_can_mean_is_counted_here_instead(
    script: Script, usage: tuple[int, int] | None
):
    told = usage and dict(zip(("input_tokens", "output_tokens"), usage, strict=True))
    finish = {"finish_reason": "stop"}
    told = told and {**told, "total_tokens": sum(usage or ())}
    script.on("Bee", AIMessage('{"title": "Maya"}', response_metadata=finish, usage_metadata=told))

    assert await asked() == "Maya"
    (line,) = await read_trace("t1-1")

    assert 20 < line["tokens_in"] < 400
    assert 3 < line["tokens_out"] < 20


async def test_calls_side_by_side_are_not_refused_for_what_none_of_them_uses(script: Script):
    script.on("Bee", {"title": "Maya"})
    script.seconds = 0.01

    told = await asyncio.gather(*(asked(f"Bee {one}?", max_tokens=6_000) for one in range(6)))

    assert told == ["Maya"] * 6
