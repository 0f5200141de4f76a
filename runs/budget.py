"""Keep a run inside what its caller allows, counting what earlier sessions of it spent."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
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


@dataclass
class Budget:
    """What one run may still spend; shared by all its branches."""

    context: Context
    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0
    seconds: float = 0.0
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: float = field(default_factory=time.monotonic)

    def left(self, role: str) -> float:
        """Return the seconds that calls of a role may still take."""
        used = self.seconds + time.monotonic() - self.started
        return self._cap("max_minutes", role) * 60 - used

    @contextmanager
    def reserve(self, role: str, worst: Cost) -> Iterator[None]:
        """Hold one call and the worst it may cost while it is made.

        Raises:
            Problem: `budget_spent`; `where` is the cap that would be passed.
        """
        self._check(role, worst)
        tokens = worst.tokens_in + worst.tokens_out
        self.calls += 1
        self.tokens += tokens
        self.dollars += worst.dollars
        try:
            yield
        finally:
            self.tokens -= tokens
            self.dollars -= worst.dollars

    def spend(self, cost: Cost) -> None:
        """Count what a call really used."""
        self.tokens += cost.tokens_in + cost.tokens_out
        self.dollars += cost.dollars

    def _check(self, role: str, worst: Cost) -> None:
        tokens = self.tokens + worst.tokens_in + worst.tokens_out
        passed = {
            "max_calls": self.calls + 1 > self._cap("max_calls", role),
            "max_tokens": tokens > self._cap("max_tokens", role),
            "max_cost": self.dollars + worst.dollars > self._cap("max_cost", role),
            "max_minutes": self.left(role) <= 0,
        }
        for name, over in passed.items():
            if over:
                reached = f"{name} = {getattr(self.context, name)}"
                what, hint = "the run has used what it may", f"allow more with {name}"
                raise Problem("budget_spent", what, where=reached, hint=hint)

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
