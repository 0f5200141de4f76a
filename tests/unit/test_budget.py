"""What a run may spend, whoever spends it and however often it was resumed."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import Problem
from graph.context import Context
from runs.budget import KEPT_BACK, Budget, _budgets, budget, pause_thread
from runs.ledger import Call, Cost, record
from tests.places import somewhere


def allowed(**caps: Any) -> Budget:
    """Return a budget with room for everything that is not named."""
    roomy = {"max_calls": 10_000, "max_tokens": 50_000_000, "max_cost": 1000.0}
    return Budget(Context(**{**roomy, **caps}))


async def refusal(of: Budget, role: str = "researcher", worst: Cost | None = None) -> str:
    """Return the words in which a call is refused; empty if it is not."""
    try:
        async with of.reserve(role, worst or Cost()):
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

    assert await refusal(one, worst=Cost("", 6_000, 2_000)) == ""
    assert "max_tokens = 10000" in await refusal(one, worst=Cost("", 6_000, 2_001))


async def test_a_call_that_could_cost_more_than_is_left_is_not_made():
    one = allowed(max_cost=1.0)
    one.spend(Cost(dollars=0.5))

    assert await refusal(one, worst=Cost(dollars=0.29)) == ""
    assert "max_cost = 1.0" in await refusal(one, worst=Cost(dollars=0.31))


async def test_no_call_is_made_after_the_last_minute(monkeypatch: pytest.MonkeyPatch):
    one = allowed(max_minutes=10)
    now = time.monotonic()

    monkeypatch.setattr(time, "monotonic", lambda: now + 7.9 * 60)
    assert await refusal(one) == ""
    monkeypatch.setattr(time, "monotonic", lambda: now + 8.1 * 60)
    assert "max_minutes = 10" in await refusal(one)


@pytest.mark.parametrize(
    ("caps", "used", "worst"),
    [
        ({"max_calls": 10}, {"calls": 8}, Cost()),
        ({"max_tokens": 10_000}, {"tokens": 8_000}, Cost("", 100, 100)),
        ({"max_cost": 1.0}, {"dollars": 0.8}, Cost(dollars=0.1)),
        ({"max_minutes": 10}, {"seconds": 8.5 * 60}, Cost()),
    ],
    ids=lambda one: str(one)[:12],
)
async def test_a_share_of_every_cap_is_kept_back_for_the_reporter(
    caps: dict[str, Any], used: dict[str, Any], worst: Cost
):
    one = Budget(Context(**caps), **used)

    assert KEPT_BACK == 0.2
    assert await refusal(one, "researcher", worst)
    assert await refusal(one, "reporter", worst) == ""


async def test_the_reporter_has_a_cap_too():
    assert await refusal(Budget(Context(max_calls=10), calls=10), "reporter")


async def test_a_refusal_says_what_to_allow_more_of():
    with pytest.raises(Problem) as failure:
        async with allowed(max_calls=1).reserve("planner", Cost()):
            pass

    told = (failure.value.where, failure.value.hint)
    assert told == ("max_calls = 1", "allow more with max_calls")


async def test_what_was_held_is_given_back_and_only_what_was_used_counts():
    one = allowed()
    async with one.reserve("planner", Cost("", 5_000, 2_000, 0.5)):
        assert (one.reserved().tokens_in, one.reserved().dollars) == (7_000, 0.5)
        assert (one.tokens, one.dollars) == (0, 0.0)
    one.spend(Cost("", 100, 10, 0.25))

    assert (one.calls, one.tokens, one.dollars) == (1, 110, 0.25)
    assert one.reserved() == Cost()


async def test_a_call_that_fails_gives_back_what_was_held_but_was_a_call():
    one = allowed()
    with pytest.raises(ZeroDivisionError):
        async with one.reserve("planner", Cost("", 5_000, 0, 0.5)):
            raise ZeroDivisionError

    assert (one.calls, one.tokens, one.dollars) == (1, 0, 0.0)
    assert one.reserved() == Cost()


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
    one = Budget(Context(max_tokens=20_000, max_cost=0.02, max_calls=40))
    running: list[tuple[AsyncExitStack, Cost]] = []
    for tokens, share, ends, role in plans:
        if len(running) > ends:
            await end(one, *running.pop(ends))
        worst, stack = Cost("", tokens, 0, tokens / 1e6), AsyncExitStack()
        try:
            # A call that would have to wait for others is not made here.
            async with asyncio.timeout(0):
                await stack.enter_async_context(one.reserve(role, worst))
        except (Problem, TimeoutError):
            continue
        used = Cost("", int(tokens * share), 0, tokens * share / 1e6)
        running.append((stack, used))
        held = one.reserved()
        assert one.tokens + held.tokens_in <= 20_000
        assert one.dollars + held.dollars <= 0.02 + 1e-9
        assert one.calls <= 40
    for stack, used in running:
        await end(one, stack, used)

    assert one.tokens <= 20_000
    assert one.dollars <= 0.02 + 1e-9


async def end(one: Budget, stack: AsyncExitStack, used: Cost) -> None:
    await stack.aclose()
    one.spend(used)


async def call(of: Budget, worst: float, used: float, seconds: float = 0.0) -> str:
    """Make a call that takes a while and uses a part of what it may; return why it is refused."""
    try:
        async with of.reserve("reflector", Cost(dollars=worst)):
            await asyncio.sleep(seconds)
        of.spend(Cost(dollars=used))
    except Problem as problem:
        return problem.where
    return ""


async def test_a_call_waits_until_those_in_flight_have_given_back_what_they_do_not_use():
    one = allowed(max_cost=0.5)
    one.spend(Cost(dollars=0.246))

    told = await asyncio.gather(*(call(one, 0.08, 0.01, 0.02) for _ in range(6)))

    assert told == [""] * 6
    assert one.dollars == pytest.approx(0.306)


async def test_a_call_is_refused_once_what_those_in_flight_really_used_leaves_no_room():
    one = allowed(max_cost=1.0)

    told = await asyncio.gather(*(call(one, 0.5, 0.4, 0.01) for _ in range(3)))

    no_room = "max_cost = 1.0, spent = 0.4, reserved = 0, estimate = 0.5"
    assert told == ["", no_room, no_room]
    assert one.dollars == 0.4


async def test_what_forbids_a_call_even_without_those_in_flight_is_refused_at_once():
    one = allowed(max_cost=1.0)
    one.spend(Cost(dollars=0.6))
    async with one.reserve("researcher", Cost(dollars=0.1)):
        refused = await asyncio.wait_for(call(one, 0.3, 0.0), 30)

    assert refused == "max_cost = 1.0, spent = 0.6, reserved = 0.1, estimate = 0.3"


async def test_nothing_is_held_for_a_call_that_never_returns_once_its_time_is_over():
    one = allowed(max_cost=1.0)
    stack = AsyncExitStack()
    await stack.enter_async_context(one.reserve("researcher", Cost(dollars=0.7), seconds=0.05))

    started = time.monotonic()
    assert await call(one, 0.5, 0.1) == ""

    assert 0.04 <= time.monotonic() - started < 30
    assert one.reserved().dollars == 0
    await stack.aclose()


async def test_a_call_that_waits_ends_with_the_minutes_of_the_run():
    one = allowed(max_cost=1.0, max_minutes=0.01)
    one.seconds = 0.4
    async with one.reserve("reporter", Cost(dollars=0.7)):
        refused = await call(one, 0.5, 0.1)

    assert refused == "max_minutes = 0.01"


async def test_a_call_that_is_cancelled_while_it_waits_holds_nothing():
    one = allowed(max_cost=1.0)
    async with one.reserve("researcher", Cost(dollars=0.7)):
        waiting = asyncio.create_task(call(one, 0.5, 0.1))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

    assert (one.reserved(), one.calls) == (Cost(), 1)


@pytest.mark.usefixtures("database")
async def test_what_calls_in_flight_held_at_a_kill_does_not_bind_who_goes_on():
    place, choices = somewhere(), Context(max_cost=1.0)
    killed = await budget(place, choices)
    stack = AsyncExitStack()
    await stack.enter_async_context(killed.reserve("researcher", Cost(dollars=0.7)))
    await paid(1, killed.session, cost=Cost("a:b", 10, 1, 0.2), started=time.time())
    _budgets.clear()

    resumed = await budget(place, choices)

    assert (resumed.dollars, resumed.reserved()) == (0.2, Cost())
    assert await call(resumed, 0.5, 0.1) == ""
    await stack.aclose()


async def paid(number: int, session: str, *, cost: Cost, started: float, run: str = "t1-1") -> None:
    call = Call(somewhere(run=run), "model", "planner", number)
    await record(call, "yes", started, Cost(**{**vars(cost), "session": session}))


@pytest.mark.usefixtures("database")
async def test_what_earlier_sessions_of_a_run_spent_counts():
    now = time.time()
    cost = Cost("a:b", 1_000, 100, 0.25)
    await paid(1, "one", cost=cost, started=now - 5)
    await paid(2, "one", cost=cost, started=now - 60)
    await paid(3, "two", cost=cost, started=now - 30)
    await paid(4, "one", cost=cost, started=now - 9_000, run="t1-2")

    one = await budget(somewhere(), Context())

    assert (one.calls, one.tokens, one.dollars) == (3, 3_300, 0.75)
    assert 90 <= one.seconds < 120


@pytest.mark.usefixtures("database")
async def test_all_branches_of_a_run_share_one_budget():
    found = await asyncio.gather(
        *(budget(somewhere(step=f"s{number}"), Context()) for number in range(8))
    )

    assert len({id(one) for one in found}) == 1
    assert await budget(somewhere(run="t1-2"), Context()) is not found[0]


@pytest.mark.usefixtures("database")
async def test_searches_cost_no_model_call():
    await record(Call(somewhere(), "search", "web", "bees"), [], time.time())

    assert (await budget(somewhere(), Context())).calls == 0


@pytest.mark.usefixtures("database")
async def test_who_goes_on_with_a_run_may_allow_it_more():
    place = somewhere()
    tight = await budget(place, Context(max_calls=1))
    assert await budget(place, Context(max_calls=1)) is tight

    assert (await budget(place, Context(max_calls=100))).context.max_calls == 100


@pytest.mark.usefixtures("database")
async def test_the_runs_of_a_thread_are_paused_together():
    mine, other = somewhere(), somewhere()._replace(run="t2-1")
    before, others = await budget(mine, Context()), await budget(other, Context())

    pause_thread("t1")

    assert await budget(mine, Context()) is not before
    assert await budget(other, Context()) is others
