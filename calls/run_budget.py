"""Keep a run within its caps: money, tokens, calls, minutes, and steps at a time."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
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
"""The share of every cap that only the reporter may use, so that any run ends in a report."""

SHARES = {"reporter": 1.0, INDEXER: 0.4}
"""The shares of every cap up to which other roles may use it."""

OPEN_BUDGETS = 256
"""How many budgets a process caches."""

ABSURD = 2**53
"""More tokens than any answer has: the room of a cap on money for a model that costs nothing."""

LEAST = 300
"""The fewest tokens of a useful answer; with less room the call is not made."""

MAX_AT_ONCE = 5_000
"""Work on fewer characters takes less time than it takes to start a thread and be woken by it."""

ESTIMATE_ERROR = 0.2
"""The share of its tokens that an estimated request may have in addition (`text/tokens.py`)."""

USUAL_ANSWER_TOKENS = 2_000
"""The most tokens an answer is expected to have; with less room a call waits for others."""

Result = TypeVar("Result")


@dataclass(eq=False)
class Reservation:
    """What a call in flight may use at most, and when it counts as lost."""

    tokens: int
    dollars: float
    limit: int
    """How many tokens its answer may have."""
    cap: str
    """The cap that makes this less than the model's own limit, such as `max_cost = 0.5`; or ""."""
    until: float
    used: CallCost | None = None
    """What it really used; `None` while that is unknown."""


@dataclass
class RunBudget:
    """What one run may still spend; shared by all its branches.

    `calls`, `tokens`, `dollars` and `seconds` were used; the reservations of calls in flight are
    not among them.
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
        """Return what the calls in flight may use at most, in sum."""
        pending = self._in_flight()
        tokens = sum(call.tokens for call in pending)
        return CallCost(tokens_in=tokens, dollars=sum(call.dollars for call in pending))

    @asynccontextmanager
    async def reserve(
        self, role: str, need: CallNeed, seconds: float = math.inf
    ) -> AsyncIterator[Reservation]:
        """Reserve one call and the most it may use while it is made.

        The answer is allowed a share of what is left. A call that has no room beside the calls in
        flight, but would have without them, waits: they mostly use less than they reserve. A
        reservation whose `used` is not set in the end counts as used whole.

        Args:
            role: Who calls.
            need: What the call needs.
            seconds: How long it may take; no call waits longer for its reservation.

        Raises:
            Problem: `budget_spent`; `where` is the cap that the call would exceed, and the hint
                says how much is spent, reserved and needed.
        """
        while (allowed := self._allowed(role, need)) is None:
            await self._wait_for_release(role)
        mine = self._add_reservation(role, need, *allowed, seconds)
        try:
            yield mine
        finally:
            self.release(mine)

    def reserve_at_once(self, role: str, need: CallNeed, seconds: float) -> Reservation:
        """Reserve one call, which waits for no other, until `release`.

        Raises:
            Problem: `budget_spent`, also if there would be room without the calls in flight.
        """
        if self._allowed(role, need) is None:
            beside = self._rooms(role, need, self.reserved())
            cap = min(beside, key=lambda name: beside[name])
            raise self._refused(cap, *self._amounts(cap, role, need, 0))
        return self._add_reservation(role, need, 0, "", seconds)

    def _add_reservation(
        self, role: str, need: CallNeed, limit: int, cap: str, seconds: float
    ) -> Reservation:
        until = time.monotonic() + min(seconds, self.seconds_left(role))
        mine = Reservation(need.tokens_in + limit, _dollars(need, limit), limit, cap, until)
        self.calls += 1
        self._held.append(mine)
        return mine

    def release(self, mine: Reservation) -> None:
        """End a reservation and count what its call used, all of it if that is unknown."""
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
        """Say whether the error of estimated tokens matters under the caps.

        It does not while there is room for two usual answers beside the calls in flight, even if
        all of these, and the new one, read more than was estimated.
        """
        read = need.tokens_in + sum(call.tokens - call.limit for call in self._in_flight())
        unsure = replace(need, tokens_in=need.tokens_in + round(ESTIMATE_ERROR * read))
        beside = min(self._rooms(role, unsure, self.reserved()).values())
        return beside < 2 * min(need.wanted, need.max_tokens_out)

    def _allowed(self, role: str, need: CallNeed) -> tuple[int, str] | None:
        """Return how long an answer may be, and the cap that shortens it; `None` to wait.

        Raises:
            Problem: `budget_spent` if it had too little room even without the calls in flight.
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
        return (
            limit,
            f"{cap} = {getattr(self.context.limits, cap)}" if limit < need.max_tokens_out else "",
        )

    def _rooms(self, role: str, need: CallNeed, held: CallCost) -> dict[str, int]:
        """Return how many tokens of an answer each cap has room for beside what is reserved."""
        spent = self._spent()
        tokens = self._cap("max_tokens", role) - spent.tokens_in - held.tokens_in - need.tokens_in
        dollars = self._cap("max_cost", role) - spent.dollars - held.dollars - _dollars(need, 0)
        bought = dollars / need.dollars_out if need.dollars_out else math.copysign(ABSURD, dollars)
        return {"max_tokens": math.floor(tokens), "max_cost": math.floor(bought)}

    def _spent(self) -> CallCost:
        """Return what is spent, with what overdue calls may have used."""
        now = time.monotonic()
        lost = [call for call in self._held if call.until <= now]
        tokens = self.tokens + sum(call.tokens for call in lost)
        return CallCost(tokens_in=tokens, dollars=self.dollars + sum(call.dollars for call in lost))

    async def run_text_work(
        self,
        role: str,
        work: Callable[..., Result],
        *values: Any,
        least: float = 0.0,
        characters: int = MAX_AT_ONCE,
    ) -> Result:
        """Do some work on texts within the time that a role has left; return its result.

        Args:
            role: Who needs the result.
            work: The work, done in a thread of its own (`text/background_threads.py`).
            values: Its arguments.
            least: The fewest seconds it is given.
            characters: How many the texts have; work on few is done at once, in no thread.

        Raises:
            Problem: `budget_spent` if the minutes are used up, or else `text_timeout`.
        """
        left = max(least, min(TEXT_SECONDS, self.seconds_left(role)))
        if left <= 0:
            raise self._refused("max_minutes")
        if characters < MAX_AT_ONCE:
            return work(*values)
        try:
            return await run_abandonable(work, *values, seconds=left)
        except Problem as problem:
            raise self.explain_timeout(role, problem) from problem

    def explain_timeout(self, role: str, problem: Problem) -> Problem:
        """Return the problem of some work: `budget_spent` if its timeout used up the minutes."""
        late = (
            problem.code in (ErrorCode.TEXT_TIMEOUT, ErrorCode.MODEL_TIMEOUT)
            and self.seconds_left(role) <= 0
        )
        return self._refused("max_minutes") if late else problem

    async def _wait_for_release(self, role: str) -> None:
        """Wait until a call in flight has ended, or has used up its time."""
        ends = min((call.until for call in self._in_flight()), default=0.0) - time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(ends, self.seconds_left(role))):
                await self._released.wait()

    def _in_flight(self) -> list[Reservation]:
        now = time.monotonic()
        return [call for call in self._held if call.until > now]

    def _amounts(
        self, cap: str, role: str, need: CallNeed, least: int
    ) -> tuple[float, float, float]:
        """Return what of a cap is spent, what is reserved, and what a call needs at least.

        The share that only the reporter may use counts as reserved.
        """
        spent, held = self._spent(), self.reserved()
        kept = getattr(self.context.limits, cap) - self._cap(cap, role)
        if cap == "max_tokens":
            return spent.tokens_in, held.tokens_in + kept, need.tokens_in + least
        return spent.dollars, held.dollars + kept, _dollars(need, least)

    def _refused(self, name: str, *amounts: float) -> Problem:
        named = zip(("spent", "reserved", "needed"), amounts, strict=False)
        listed = ", ".join(f"{of} {round(amount, 4):.10g}" for of, amount in named)
        hint = f"{listed}; allow more with {name}" if listed else f"allow more with {name}"
        limit = f"{name} = {getattr(self.context.limits, name)}"
        return Problem(
            ErrorCode.BUDGET_SPENT, "the run has reached its limit", where=limit, hint=hint
        )

    def _cap(self, name: str, role: str) -> float:
        return float(getattr(self.context.limits, name) * SHARES.get(role, 1.0 - KEPT_BACK))


_budgets = Resource(lambda: RecentCache[str, RunBudget](OPEN_BUDGETS))
"""The budgets of runs, by their ids."""


@dataclass(frozen=True)
class CallNeed:
    """What a call reads, the prices of its model per token, and how long its answer may be."""

    tokens_in: int
    max_tokens_out: int
    """The model's own limit, in tokens."""
    dollars_in: float = 0.0
    dollars_out: float = 0.0
    wanted: int = USUAL_ANSWER_TOKENS
    """The fewest tokens its answer is allowed while other calls are in flight."""


def _dollars(need: CallNeed, written: int) -> float:
    return need.tokens_in * need.dollars_in + written * need.dollars_out


def find_budget(run: str) -> RunBudget | None:
    """Return the budget of a run that is at work in this process, if it has made a call."""
    return _budgets.get().get(run)


async def get_budget(site: CallSite, context: Context) -> RunBudget:
    """Return the budget of a run, with what its earlier sessions spent.

    A run may be resumed with other caps.
    """
    budgets = _budgets.get()
    known = budgets.get(site.run)
    if known is None or known.context != context:
        budgets.pop(site.run, None)
        spent = await _spent(site, context)
        # Another branch may have made it meanwhile.
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
    characters: int = MAX_AT_ONCE,
) -> Result:
    """Do some work on texts, in a thread if there are many, within the minutes a run has left.

    Raises:
        Problem: Whatever `RunBudget.run_text_work` raises.
    """
    mine = await get_budget(site, context)
    return await mine.run_text_work(role, work, *values, least=least, characters=characters)


def end_session(site: CallSite) -> None:
    """End the session of a run, so that the minutes until it is resumed are not counted."""
    _budgets.get().pop(site.run, None)


def end_thread_sessions(thread: str) -> None:
    """End the session of every run of a thread, however its work ended."""
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
    """Return the semaphore of a run, the same one while any of its steps works or waits.

    It belongs to this process and its event loop; a run that is resumed gets a new one.
    """
    return _step_semaphores.get().setdefault(site.run, asyncio.Semaphore(width))
