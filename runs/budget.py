"""Keep a run inside what its caller allows, counting what earlier sessions of it spent."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy import func, select

from config.errors import Problem
from graph.context import Context
from runs.ledger import Cost
from runs.place import Here
from storage.engine import read_rows
from storage.tables import calls

KEPT_BACK = 0.2
"""The share of every cap that only the reporter may use, so that a capped run ends in a report."""

OPEN_BUDGETS = 256
"""How many budgets are remembered in one process."""

_budgets: OrderedDict[str, Budget] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Reservation:
    """What a call in flight may use at most, and until when it is believed to be in flight."""

    tokens: int
    dollars: float
    until: float


@dataclass
class Budget:
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

    def left(self, role: str) -> float:
        """Return the seconds that calls of a role may still take."""
        used = self.seconds + time.monotonic() - self.started
        return self._cap("max_minutes", role) * 60 - used

    def reserved(self) -> Cost:
        """Return what the calls in flight may use at most, all together."""
        held = self._in_flight()
        tokens, dollars = sum(one.tokens for one in held), sum(one.dollars for one in held)
        return Cost(tokens_in=tokens, dollars=dollars)

    @asynccontextmanager
    async def reserve(
        self, role: str, worst: Cost, seconds: float = math.inf
    ) -> AsyncIterator[None]:
        """Hold one call and the worst it may cost while it is made.

        A call that does not fit beside the calls in flight, but would fit without them, waits: they
        mostly use less than they hold.

        Args:
            role: Who calls.
            worst: What the call may use at most.
            seconds: How long it may take; behind that nothing is held for it any more.

        Raises:
            Problem: `budget_spent`; `where` is the cap that what was spent and this call pass.
        """
        while not self._fits(role, worst):
            await self._release(role)
        until = time.monotonic() + min(seconds, self.left(role))
        mine = Reservation(worst.tokens_in + worst.tokens_out, worst.dollars, until)
        self.calls += 1
        self._held.append(mine)
        try:
            yield
        finally:
            self._held.remove(mine)
            self._released.set()
            self._released = asyncio.Event()

    def spend(self, cost: Cost) -> None:
        """Count what a call really used."""
        self.tokens += cost.tokens_in + cost.tokens_out
        self.dollars += cost.dollars

    def _fits(self, role: str, worst: Cost) -> bool:
        """Tell whether a call fits beside the calls in flight.

        Raises:
            Problem: `budget_spent` when it would not fit without them either.
        """
        if self.calls + 1 > self._cap("max_calls", role):
            raise self._refused("max_calls")
        if self.left(role) <= 0:
            raise self._refused("max_minutes")
        held, need = self.reserved(), worst.tokens_in + worst.tokens_out
        caps = (
            ("max_tokens", self.tokens, held.tokens_in, need),
            ("max_cost", self.dollars, held.dollars, worst.dollars),
        )
        for name, spent, _, estimate in caps:
            if spent + estimate > self._cap(name, role):
                raise self._refused(name, *(one[1:] for one in caps if one[0] == name))
        return all(sum(amounts) <= self._cap(name, role) for name, *amounts in caps)

    async def _release(self, role: str) -> None:
        """Wait until a call in flight has ended, or has had the time that it may take."""
        ends = min((one.until for one in self._in_flight()), default=0.0) - time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(ends, self.left(role))):
                await self._released.wait()

    def _in_flight(self) -> list[Reservation]:
        now = time.monotonic()
        return [one for one in self._held if one.until > now]

    def _refused(self, name: str, amounts: Sequence[float] = ()) -> Problem:
        limit = f"{name} = {getattr(self.context, name)}"
        named = zip(("spent", "reserved", "estimate"), amounts, strict=False)
        where = ", ".join([limit, *(f"{of} = {round(amount, 4)}" for of, amount in named)])
        what, hint = "the run has used what it may", f"allow more with {name}"
        return Problem("budget_spent", what, where=where, hint=hint)

    def _cap(self, name: str, role: str) -> float:
        share = 1.0 if role == "reporter" else 1.0 - KEPT_BACK
        return float(getattr(self.context, name) * share)


async def budget(here: Here, context: Context) -> Budget:
    """Return the budget of a run, with what its earlier sessions spent already counted.

    Whoever goes on with a run may allow it more.
    """
    known = _budgets.get(here.run)
    if known is None or known.context != context:
        _budgets.pop(here.run, None)
        spent = await _spent(here, context)
        _budgets.setdefault(here.run, spent)
        while len(_budgets) > OPEN_BUDGETS:
            _budgets.popitem(last=False)
    _budgets.move_to_end(here.run)
    return _budgets[here.run]


def pause(here: Here) -> None:
    """End the session of a run, so that the minutes until it goes on are not counted."""
    _budgets.pop(here.run, None)


def pause_thread(thread: str) -> None:
    """Do the same for every run of a thread, however its work ended."""
    for run in [run for run in _budgets if run.startswith(f"{thread}-")]:
        del _budgets[run]


async def _spent(here: Here, context: Context) -> Budget:
    used = (
        select(
            func.count().label("made"),
            func.sum(calls.c.tokens_in + calls.c.tokens_out).label("tokens"),
            func.sum(calls.c.cost).label("dollars"),
            (func.max(calls.c.ended) - func.min(calls.c.started)).label("seconds"),
        )
        .where(calls.c.run == here.run, calls.c.kind == "model")
        .group_by(calls.c.session)
    )
    total = Budget(context)
    for row in await read_rows(used):
        total.calls += row.made
        total.tokens += row.tokens
        total.dollars += row.dollars
        total.seconds += row.seconds
    return total
