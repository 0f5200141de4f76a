"""Keep a run within what its caller allows.

Money, tokens, calls, minutes, and steps side by side.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from calls.attempts import INDEXER, UNSENT_PREFIX, list_attempts
from calls.ledger import CallCost
from config.errors import ErrorCode, Problem
from config.resources import LoopResource, RecentCache, Resource
from graph.context import Context
from runs.call_site import CallSite
from text.background_threads import TEXT_SECONDS, run_abandonable

KEPT_BACK = 0.2
"""The share of every cap that only the reporter may use, so that a capped run ends in a report."""

SHARES = {"reporter": 1.0, INDEXER: 0.4}
"""The shares of every cap up to which other roles may use it."""

OPEN_BUDGETS = 256
"""How many budgets are remembered in one process."""

ABSURD = 2**53
"""More tokens than any answer has: what a cap on money allows a model that costs nothing."""

LEAST = 300
"""How many tokens an answer must be allowed, or it is of no use and the call is not made."""

USUAL_ANSWER_TOKENS = 2_000
"""How many tokens an answer is expected to have at most; for less room a call waits for others."""

Result = TypeVar("Result")


@dataclass(eq=False)
class Reservation:
    """What a call in flight may use at most, and until when it is believed to be in flight."""

    tokens: int
    dollars: float
    limit: int
    """How many tokens its answer may have."""
    cap: str
    """The cap that makes this less than the model's own limit, as `max_cost = 0.5`; or nothing."""
    until: float
    used: CallCost | None = None
    """What it really used; `None` as long as nobody knows."""


@dataclass
class RunBudget:
    """What one run may still spend; shared by all its branches.

    `calls`, `tokens`, `dollars` and `seconds` are what was used; what calls in flight may use is
    reserved apart from it.
    """

    context: Context
    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0
    seconds: float = 0.0
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: float = field(default_factory=time.monotonic)
    _held: list[Reservation] = field(default_factory=list)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    def seconds_left(self, role: str) -> float:
        """Return the seconds that calls of a role may still take."""
        used = self.seconds + time.monotonic() - self.started
        return self._cap("max_minutes", role) * 60 - used

    def reserved(self) -> CallCost:
        """Return what the calls in flight may use at most, all together."""
        held = self._in_flight()
        tokens, dollars = sum(one.tokens for one in held), sum(one.dollars for one in held)
        return CallCost(tokens_in=tokens, dollars=dollars)

    @asynccontextmanager
    async def reserve(
        self, role: str, need: CallNeed, seconds: float = math.inf
    ) -> AsyncIterator[Reservation]:
        """Hold one call and the most it may use while it is made.

        The answer is allowed a share of what is left. A call that has no room beside the calls in
        flight, but would have without them, waits: they mostly use less than they hold. What was
        not said to be used in the end counts as used whole.

        Args:
            role: Who calls.
            need: What the call needs.
            seconds: How long it may take; behind that nobody waits for what it holds.

        Raises:
            Problem: `budget_spent`; `where` is the cap that what was spent, what is reserved and
                this call pass, and the hint says how much each of them is.
        """
        while (allowed := self._allowed(role, need)) is None:
            await self._wait_for_release(role)
        mine = self._hold(role, need, *allowed, seconds)
        try:
            yield mine
        finally:
            self.release(mine)

    def hold(self, role: str, need: CallNeed, seconds: float) -> Reservation:
        """Hold one call that waits for no other, until `release` is told of its end.

        Raises:
            Problem: `budget_spent`, also if there would be room without the calls in flight.
        """
        if self._allowed(role, need) is None:
            beside = self._rooms(role, need, self.reserved())
            cap = min(beside, key=lambda name: beside[name])
            raise self._refused(cap, *self._amounts(cap, role, need, 0))
        return self._hold(role, need, 0, "", seconds)

    def _hold(self, role: str, need: CallNeed, limit: int, cap: str, seconds: float) -> Reservation:
        until = time.monotonic() + min(seconds, self.seconds_left(role))
        mine = Reservation(need.tokens_in + limit, _dollars(need, limit), limit, cap, until)
        self.calls += 1
        self._held.append(mine)
        return mine

    def release(self, mine: Reservation) -> None:
        """Count what a call used that was held; all of it if nobody knows."""
        self._held.remove(mine)
        self.spend(mine.used or CallCost(tokens_in=mine.tokens, dollars=mine.dollars))
        self._released.set()
        self._released = asyncio.Event()

    def spend(self, cost: CallCost) -> None:
        """Count what a call really used."""
        self.tokens += cost.tokens_in + cost.tokens_out
        self.dollars += cost.dollars

    def answer_room(self, role: str, need: CallNeed) -> int:
        """Return how many tokens an answer could have now, beside the calls in flight."""
        return min(need.max_tokens_out, *self._rooms(role, need, self.reserved()).values())

    def is_tight(self, role: str, need: CallNeed) -> bool:
        """Say whether the caps may shorten an answer, if others like it are made at once."""
        beside = min(self._rooms(role, need, self.reserved()).values())
        return beside < self.context.parallelism * min(need.wanted, need.max_tokens_out)

    def _allowed(self, role: str, need: CallNeed) -> tuple[int, str] | None:
        """Return how long an answer may be, and the cap that shortens it; `None` for a while.

        Raises:
            Problem: `budget_spent` when it would be of no use without the calls in flight either.
        """
        if self.calls + 1 > self._cap("max_calls", role):
            raise self._refused("max_calls")
        if self.seconds_left(role) <= 0:
            raise self._refused("max_minutes")
        least, alone = min(LEAST, need.max_tokens_out), self._rooms(role, need, CallCost())
        for cap, room in alone.items():
            if room < least:
                raise self._refused(cap, *self._amounts(cap, role, need, least))
        beside = self._rooms(role, need, self.reserved())
        cap = min(beside, key=lambda name: beside[name])
        usual = min(need.wanted, need.max_tokens_out, *alone.values())
        if beside[cap] < usual:
            return None
        limit = min(need.max_tokens_out, max(usual, beside[cap] // self.context.parallelism))
        return limit, f"{cap} = {getattr(self.context, cap)}" if limit < need.max_tokens_out else ""

    def _rooms(self, role: str, need: CallNeed, held: CallCost) -> dict[str, int]:
        """Return how many tokens of an answer each cap has room for beside what is held."""
        spent = self._spent()
        tokens = self._cap("max_tokens", role) - spent.tokens_in - held.tokens_in - need.tokens_in
        dollars = self._cap("max_cost", role) - spent.dollars - held.dollars - _dollars(need, 0)
        bought = dollars / need.dollars_out if need.dollars_out else math.copysign(ABSURD, dollars)
        return {"max_tokens": math.floor(tokens), "max_cost": math.floor(bought)}

    def _spent(self) -> CallCost:
        """Return what is spent, with what calls may use that never came back in their time."""
        now = time.monotonic()
        lost = [one for one in self._held if one.until <= now]
        tokens = self.tokens + sum(one.tokens for one in lost)
        return CallCost(tokens_in=tokens, dollars=self.dollars + sum(one.dollars for one in lost))

    async def run_text_work(
        self, role: str, work: Callable[..., Result], *values: Any, least: float = 0.0
    ) -> Result:
        """Return what some work on texts returns, which may take as long as a role still has.

        Args:
            role: Whom it is done for.
            work: What is done, in a thread of its own (`text/background_threads.py`).
            values: What it is given.
            least: How many seconds it has in any case.

        Raises:
            Problem: `budget_spent` when the minutes are used up, or else `text_timeout`.
        """
        left = max(least, min(TEXT_SECONDS, self.seconds_left(role)))
        if left <= 0:
            raise self._refused("max_minutes")
        try:
            return await run_abandonable(work, *values, seconds=left)
        except Problem as problem:
            raise self.explain_timeout(role, problem) from problem

    def explain_timeout(self, role: str, problem: Problem) -> Problem:
        """Return why some work was not done: for its minutes, where it took what the run had."""
        late = (
            problem.code in (ErrorCode.TEXT_TIMEOUT, ErrorCode.MODEL_TIMEOUT)
            and self.seconds_left(role) <= 0
        )
        return self._refused("max_minutes") if late else problem

    async def _wait_for_release(self, role: str) -> None:
        """Wait until a call in flight has ended, or has had the time that it may take."""
        ends = min((one.until for one in self._in_flight()), default=0.0) - time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(ends, self.seconds_left(role))):
                await self._released.wait()

    def _in_flight(self) -> list[Reservation]:
        now = time.monotonic()
        return [one for one in self._held if one.until > now]

    def _amounts(
        self, cap: str, role: str, need: CallNeed, least: int
    ) -> tuple[float, float, float]:
        """Return what of a cap is spent, what is reserved, and what a call needs at least.

        What is kept back for the reporter is reserved, too.
        """
        spent, held = self._spent(), self.reserved()
        kept = getattr(self.context, cap) - self._cap(cap, role)
        if cap == "max_tokens":
            return spent.tokens_in, held.tokens_in + kept, need.tokens_in + least
        return spent.dollars, held.dollars + kept, _dollars(need, least)

    def _refused(self, name: str, *amounts: float) -> Problem:
        named = zip(("spent", "reserved", "needed"), amounts, strict=False)
        told = ", ".join(f"{of} {round(amount, 4):.10g}" for of, amount in named)
        hint = f"{told}; allow more with {name}" if told else f"allow more with {name}"
        limit = f"{name} = {getattr(self.context, name)}"
        return Problem(
            ErrorCode.BUDGET_SPENT, "the run has reached its limit", where=limit, hint=hint
        )

    def _cap(self, name: str, role: str) -> float:
        return float(getattr(self.context, name) * SHARES.get(role, 1.0 - KEPT_BACK))


_budgets = Resource(lambda: RecentCache[str, RunBudget](OPEN_BUDGETS))
"""The budgets of runs, by their names."""


@dataclass(frozen=True)
class CallNeed:
    """What a call reads, what its model takes for a token, and how long its answer may be."""

    tokens_in: int
    max_tokens_out: int
    """The model's own limit, in tokens."""
    dollars_in: float = 0.0
    dollars_out: float = 0.0
    wanted: int = USUAL_ANSWER_TOKENS
    """How many tokens its answer is allowed at least while others are in flight."""


def _dollars(need: CallNeed, written: int) -> float:
    return need.tokens_in * need.dollars_in + written * need.dollars_out


async def get_budget(site: CallSite, context: Context) -> RunBudget:
    """Return the budget of a run, with what its earlier sessions spent already counted.

    Whoever goes on with a run may allow it more.
    """
    budgets = _budgets.get()
    known = budgets.get(site.run)
    if known is None or known.context != context:
        budgets.pop(site.run, None)
        spent = await _spent(site, context)
        # A branch beside this one may have made it meanwhile.
        if site.run not in budgets:
            budgets[site.run] = spent
    return budgets[site.run]


async def run_within_budget(
    site: CallSite,
    context: Context,
    role: str,
    work: Callable[..., Result],
    *values: Any,
    least: float = 0.0,
) -> Result:
    """Do some work on texts beside the event loop, in the minutes that a run still has.

    Raises:
        Problem: What `RunBudget.run_text_work` raises.
    """
    mine = await get_budget(site, context)
    return await mine.run_text_work(role, work, *values, least=least)


def end_session(site: CallSite) -> None:
    """End the session of a run, so that the minutes until it goes on are not counted."""
    _budgets.get().pop(site.run, None)


def end_thread_sessions(thread: str) -> None:
    """Do the same for every run of a thread, however its work ended."""
    budgets = _budgets.get()
    for run in [run for run in budgets if run.startswith(f"{thread}-")]:
        del budgets[run]


async def _spent(here: CallSite, context: Context) -> RunBudget:
    """Return a budget with what every attempt of a run used, or may have used."""
    total = RunBudget(context)
    spans: dict[str, tuple[float, float]] = {}
    for one in await list_attempts(here.run):
        if one.status.startswith(UNSENT_PREFIX):
            continue
        total.calls += 1
        total.spend(CallCost(tokens_in=one.tokens_in, tokens_out=one.tokens_out, dollars=one.cost))
        first, last = spans.get(one.session, (one.started, one.ended))
        spans[one.session] = min(first, one.started), max(last, one.ended)
    total.seconds = sum(last - first for first, last in spans.values())
    return total


_step_semaphores = LoopResource(WeakValueDictionary[str, asyncio.Semaphore])


def step_semaphore(site: CallSite, width: int) -> asyncio.Semaphore:
    """Return the gate of a run, the same one while any step of it is at work or waits.

    It belongs to this process and its event loop; a run that is resumed gets a new one.
    """
    return _step_semaphores.get().setdefault(site.run, asyncio.Semaphore(width))
