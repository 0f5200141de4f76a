"""What a run may spend, whoever spends it and however often it was resumed."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls.attempts import begin_attempt, end_statement
from calls.ledger import CallCost, LedgerCall, record_call
from calls.run_budget import KEPT_BACK, LEAST, CallNeed, RunBudget, end_thread_sessions, get_budget
from config.errors import Problem
from graph.context import Context
from storage.engine import commit_statements
from tests.clock import Clock
from tests.places import somewhere


def allowed(**caps: Any) -> RunBudget:
    """Return a budget with room for everything that is not named."""
    roomy = {"max_calls": 10_000, "max_tokens": 50_000_000, "max_cost": 1000.0}
    return RunBudget(Context(**{**roomy, **caps}))


def needs(tokens: int = 0, dollars: float = 0.0) -> CallNeed:
    """Return what a call needs that uses so much whatever it answers."""
    return CallNeed(max(tokens, 1), 0, dollars / max(tokens, 1))


async def refusal(of: RunBudget, role: str = "researcher", need: CallNeed | None = None) -> str:
    """Return the words in which a call is refused; empty if it is not."""
    try:
        async with of.reserve(role, need or needs()) as mine:
            mine.used = CallCost()
            return ""
    except Problem as problem:
        return str(problem)


async def test_the_last_call_that_fits_is_made_and_the_next_is_not():
    one = allowed(max_calls=10)
    made = [await refusal(one) for _ in range(9)]

    assert made[:8] == [""] * 8
    assert made[8].startswith("error[budget_spent]")
    assert "max_calls = 10" in made[8]


async def test_a_call_whose_worst_answer_would_pass_the_cap_is_not_made():
    one = allowed(max_tokens=10_000)

    assert await refusal(one, need=needs(8_000)) == ""
    assert "max_tokens = 10000" in await refusal(one, need=needs(8_001))


async def test_a_call_that_could_cost_more_than_is_left_is_not_made():
    one = allowed(max_cost=1.0)
    one.spend(CallCost(dollars=0.5))

    assert await refusal(one, need=needs(dollars=0.29)) == ""
    assert "max_cost = 1.0" in await refusal(one, need=needs(dollars=0.31))


async def test_no_call_is_made_after_the_last_minute(monkeypatch: pytest.MonkeyPatch):
    one = allowed(max_minutes=10)
    now = time.monotonic()

    monkeypatch.setattr(time, "monotonic", lambda: now + 7.9 * 60)
    assert await refusal(one) == ""
    monkeypatch.setattr(time, "monotonic", lambda: now + 8.1 * 60)
    assert "max_minutes = 10" in await refusal(one)


async def test_work_on_texts_may_take_what_is_left_of_the_minutes():
    one = allowed(max_minutes=10)
    one.seconds = 8 * 60 - 0.2

    with pytest.raises(Problem) as told:
        await one.run_text_work("researcher", time.sleep, 5)
    with pytest.raises(Problem) as next_told:
        await one.run_text_work("researcher", str.upper, "bees")

    for problem in (told.value, next_told.value):
        assert (problem.code, problem.where) == ("budget_spent", "max_minutes = 10")
    assert await one.run_text_work("reporter", str.upper, "bees") == "BEES"
    one.seconds = 20 * 60
    assert await one.run_text_work("reporter", str.upper, "bees", least=5.0) == "BEES"


async def test_texts_that_take_too_long_while_minutes_are_left_are_no_limit_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("calls.run_budget.TEXT_SECONDS", 0.05)

    with pytest.raises(Problem) as told:
        await allowed(max_minutes=10).run_text_work("researcher", time.sleep, 5)

    assert told.value.code == "text_timeout"


@pytest.mark.parametrize(
    ("caps", "used", "need"),
    [
        ({"max_calls": 10}, {"calls": 8}, needs()),
        ({"max_tokens": 10_000}, {"tokens": 8_000}, needs(200)),
        ({"max_cost": 1.0}, {"dollars": 0.8}, needs(dollars=0.1)),
        ({"max_minutes": 10}, {"seconds": 8.5 * 60}, needs()),
    ],
    ids=lambda one: str(one)[:12],
)
async def test_a_share_of_every_cap_is_kept_back_for_the_reporter(
    caps: dict[str, Any], used: dict[str, Any], need: CallNeed
):
    one = RunBudget(Context(**caps), **used)

    assert KEPT_BACK == 0.2
    assert await refusal(one, "researcher", need)
    assert await refusal(one, "reporter", need) == ""


async def test_the_reporter_has_a_cap_too():
    assert await refusal(RunBudget(Context(max_calls=10), calls=10), "reporter")


async def test_a_refusal_says_what_to_allow_more_of():
    with pytest.raises(Problem) as failure:
        async with allowed(max_calls=1).reserve("planner", needs()):
            pass

    told = (failure.value.where, failure.value.hint)
    assert told == ("max_calls = 1", "allow more with max_calls")


async def test_what_was_held_is_given_back_and_only_what_was_used_counts():
    one = allowed()
    async with one.reserve("planner", CallNeed(5_000, 2_000, 1e-5, 1e-4)) as mine:
        assert (one.reserved().tokens_in, one.reserved().dollars) == (7_000, 0.25)
        assert (one.tokens, one.dollars) == (0, 0.0)
        mine.used = CallCost("", 100, 10, 0.25)

    assert (one.calls, one.tokens, one.dollars) == (1, 110, 0.25)
    assert one.reserved() == CallCost()


async def test_a_call_of_which_nobody_knows_what_it_used_counts_as_the_worst():
    one = allowed()
    with pytest.raises(ZeroDivisionError):
        async with one.reserve("planner", CallNeed(5_000, 1_000, 1e-4)):
            raise ZeroDivisionError

    assert (one.calls, one.tokens, one.dollars) == (1, 6_000, 0.5)
    assert one.reserved() == CallCost()


async def limit(of: RunBudget, need: CallNeed, role: str = "researcher") -> tuple[int, str]:
    """Return how long an answer may be, and the cap that shortens it."""
    async with of.reserve(role, need) as mine:
        mine.used = CallCost()
    return mine.limit, mine.cap


@pytest.mark.parametrize(("most", "tight"), [(200_000, False), (13_000, False), (12_000, True)])
def test_the_error_of_an_estimate_matters_only_where_two_answers_have_no_room(
    most: int, tight: bool
):
    assert allowed(max_tokens=most).is_tight("researcher", CallNeed(5_000, 16_000)) is tight


async def test_an_answer_is_allowed_no_more_than_its_model_can_write():
    assert await limit(allowed(), CallNeed(5_000, 4_096)) == (4_096, "")


async def test_an_answer_is_allowed_a_share_of_what_is_left():
    one = allowed(max_tokens=101_000, parallelism=4)

    assert await limit(one, CallNeed(800, 50_000)) == (20_000, "max_tokens = 101000")
    assert await limit(one, CallNeed(800, 50_000), "reporter") == (25_050, "max_tokens = 101000")


async def test_an_answer_is_allowed_what_the_money_buys():
    one = allowed(max_cost=1.0)
    one.spend(CallCost(dollars=0.79))

    assert await limit(one, CallNeed(0, 50_000, 0, 1e-5)) == (1_000, "max_cost = 1.0")


async def test_an_answer_too_short_to_be_of_use_is_not_asked_for():
    one = allowed(max_tokens=10_000)

    assert await limit(one, CallNeed(8_000 - LEAST, 5_000)) == (LEAST, "max_tokens = 10000")
    told = await refusal(one, need=CallNeed(8_000 - LEAST + 1, 5_000))
    assert "max_tokens = 10000" in told
    assert "spent 0, reserved 2000, needed 8001" in told
    assert await refusal(one, need=CallNeed(8_000 - 50, 50)) == ""


async def test_an_answer_that_is_known_to_be_longer_is_allowed_what_it_wants():
    one = allowed(max_tokens=101_000, parallelism=4)

    assert (await limit(one, CallNeed(800, 50_000, wanted=60_000)))[0] == 50_000


async def test_what_is_left_beside_a_call_that_never_returns_stays_what_it_was():
    one = allowed(max_tokens=20_000)
    stack = AsyncExitStack()
    await stack.enter_async_context(one.reserve("researcher", needs(10_000), seconds=0.01))
    await asyncio.sleep(0.02)

    assert one.reserved() == CallCost()
    assert "spent 10000" in await refusal(one, need=needs(7_000))
    await stack.aclose()


CALLS = st.lists(
    st.tuples(
        st.integers(0, 3_000),
        st.floats(0, 1),
        st.integers(0, 7),
        st.sampled_from(["coder", "reporter"]),
    ),
    max_size=60,
)


@settings(derandomize=True, database=None)
@given(CALLS)
def test_calls_side_by_side_never_pass_a_cap(plans: list[tuple[int, float, int, str]]):
    """Hold up to eight calls at once, each using part of the worst, ending in any order."""
    asyncio.run(side_by_side(plans))


async def side_by_side(plans: list[tuple[int, float, int, str]]) -> None:
    one = RunBudget(Context(max_tokens=20_000, max_cost=0.02, max_calls=40))
    running: list[AsyncExitStack] = []
    for tokens, share, ends, role in plans:
        if len(running) > ends:
            await running.pop(ends).aclose()
        need, stack = needs(tokens, tokens / 1e6), AsyncExitStack()
        try:
            # A call that would have to wait for others is not made here.
            async with asyncio.timeout(0):
                mine = await stack.enter_async_context(one.reserve(role, need))
        except (Problem, TimeoutError):
            continue
        mine.used = CallCost("", int(tokens * share), 0, tokens * share / 1e6)
        running.append(stack)
        held = one.reserved()
        assert one.tokens + held.tokens_in <= 20_000
        assert one.dollars + held.dollars <= 0.02 + 1e-9
        assert one.calls <= 40
    for stack in running:
        await stack.aclose()

    assert one.tokens <= 20_000
    assert one.dollars <= 0.02 + 1e-9


async def call(of: RunBudget, worst: float, used: float, seconds: float = 0.0) -> str:
    """Make a call that takes a while and uses a part of what it may; return why it is refused."""
    try:
        async with of.reserve("reflector", needs(dollars=worst)) as mine:
            mine.used = CallCost(dollars=used)
            await asyncio.sleep(seconds)
    except Problem as problem:
        return problem.hint
    return ""


async def test_a_call_waits_until_those_in_flight_have_given_back_what_they_do_not_use():
    one = allowed(max_cost=0.5)
    one.spend(CallCost(dollars=0.246))

    told = await asyncio.gather(*(call(one, 0.08, 0.01, 0.02) for _ in range(6)))

    assert told == [""] * 6
    assert one.dollars == pytest.approx(0.306)


async def test_a_call_is_refused_once_what_those_in_flight_really_used_leaves_no_room():
    one = allowed(max_cost=1.0)

    told = await asyncio.gather(*(call(one, 0.5, 0.4, 0.01) for _ in range(3)))

    no_room = "spent 0.4, reserved 0.2, needed 0.5; allow more with max_cost"
    assert told == ["", no_room, no_room]
    assert one.dollars == 0.4


async def test_what_forbids_a_call_even_without_those_in_flight_is_refused_at_once():
    one = allowed(max_cost=1.0)
    one.spend(CallCost(dollars=0.6))
    async with one.reserve("researcher", needs(dollars=0.1)):
        refused = await asyncio.wait_for(call(one, 0.3, 0.0), 30)

    assert refused == "spent 0.6, reserved 0.3, needed 0.3; allow more with max_cost"


async def test_nobody_waits_for_a_call_that_never_returns_once_its_time_is_over():
    one = allowed(max_cost=1.0)
    stack = AsyncExitStack()
    need = needs(dollars=0.7)
    await stack.enter_async_context(one.reserve("researcher", need, seconds=0.05))

    started = time.monotonic()
    refused = await call(one, 0.5, 0.1)

    assert 0.04 <= time.monotonic() - started < 30
    assert refused == "spent 0.7, reserved 0.2, needed 0.5; allow more with max_cost"
    await stack.aclose()


async def test_a_call_that_waits_ends_with_the_minutes_of_the_run():
    one = allowed(max_cost=1.0, max_minutes=0.01)
    one.seconds = 0.4
    async with one.reserve("reporter", needs(dollars=0.7)):
        refused = await call(one, 0.5, 0.1)

    assert refused == "allow more with max_minutes"


async def test_a_call_that_is_cancelled_while_it_waits_holds_nothing():
    one = allowed(max_cost=1.0)
    async with one.reserve("researcher", needs(dollars=0.7)):
        waiting = asyncio.create_task(call(one, 0.5, 0.1))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

    assert (one.reserved(), one.calls) == (CallCost(), 1)


async def attempted(session: str, cost: CallCost, *, started: float, run: str = "t1-1") -> str:
    """Write down an attempt that may take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calls.attempts.steady_time", lambda: started)
        return await begin_attempt(
            somewhere(run=run), "planner", replace(cost, session=session), 60
        )


async def paid(session: str, cost: CallCost, *, started: float, run: str = "t1-1") -> None:
    await commit_statements(
        end_statement(await attempted(session, cost, started=started, run=run), "ok", cost)
    )


@pytest.mark.usefixtures("either")
async def test_calls_in_flight_at_a_kill_count_as_the_worst_they_may_have_cost():
    place, choices = somewhere(), Context(max_cost=1.0, max_calls=10)
    await paid("one", CallCost("a:b", 10, 1, 0.2), started=time.time())
    await attempted("one", CallCost("a:b", 1_000, 2_000, 0.7), started=time.time())

    resumed = await get_budget(place, choices)

    assert (resumed.calls, resumed.tokens, resumed.dollars) == (2, 3_011, pytest.approx(0.9))
    assert resumed.reserved() == CallCost()
    assert (
        await call(resumed, 0.5, 0.1)
        == "spent 0.9, reserved 0.2, needed 0.5; allow more with max_cost"
    )


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(("ago", "seconds"), [(10, 10), (9_000, 60)])
async def test_a_call_in_flight_at_a_kill_has_taken_no_longer_than_it_may(ago: int, seconds: int):
    await attempted("one", CallCost("a:b", 1_000), started=time.time() - ago)

    assert (await get_budget(somewhere(), Context())).seconds == pytest.approx(seconds, abs=2)


@pytest.mark.usefixtures("either")
async def test_what_earlier_sessions_of_a_run_spent_counts():
    now = time.time()
    cost = CallCost("a:b", 1_000, 100, 0.25)
    await paid("one", cost, started=now - 5)
    await paid("one", cost, started=now - 60)
    await paid("two", cost, started=now - 30)
    await paid("one", cost, started=now - 9_000, run="t1-2")

    one = await get_budget(somewhere(), Context())

    assert (one.calls, one.tokens, one.dollars) == (3, 3_300, 0.75)
    assert 90 <= one.seconds < 120


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("seconds", [9_000, -9_000])
async def test_a_clock_that_is_set_within_a_session_takes_none_of_its_minutes(
    seconds: float, monkeypatch: pytest.MonkeyPatch
):
    clock = Clock(monkeypatch)
    cost = CallCost("a:b", 10, 1, 0.2, session="one")
    first = await begin_attempt(somewhere(), "planner", cost, 60)
    await commit_statements(end_statement(first, "ok", cost))
    clock.step(seconds)
    last = await begin_attempt(somewhere(), "planner", cost, 60)
    await commit_statements(end_statement(last, "ok", cost))

    assert (await get_budget(somewhere(), Context())).seconds < 60


@pytest.mark.usefixtures("database")
async def test_all_branches_of_a_run_share_one_budget():
    found = await asyncio.gather(
        *(get_budget(somewhere(step=f"s{number}"), Context()) for number in range(8))
    )

    assert len({id(one) for one in found}) == 1
    assert await get_budget(somewhere(run="t1-2"), Context()) is not found[0]


@pytest.mark.usefixtures("database")
async def test_searches_cost_no_model_call():
    await record_call(LedgerCall(somewhere(), "search", "web", "bees"), [], time.time())

    assert (await get_budget(somewhere(), Context())).calls == 0


@pytest.mark.usefixtures("database")
async def test_who_goes_on_with_a_run_may_allow_it_more():
    place = somewhere()
    tight = await get_budget(place, Context(max_calls=1))
    assert await get_budget(place, Context(max_calls=1)) is tight

    assert (await get_budget(place, Context(max_calls=100))).context.max_calls == 100


@pytest.mark.usefixtures("database")
async def test_the_runs_of_a_thread_are_paused_together():
    mine, other = somewhere(), somewhere()._replace(run="t2-1")
    before, others = await get_budget(mine, Context()), await get_budget(other, Context())

    end_thread_sessions("t1")

    assert await get_budget(mine, Context()) is not before
    assert await get_budget(other, Context()) is others
