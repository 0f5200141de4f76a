"""How much the runs of a user may cost in a month, and how much of that is left."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import Executable, delete, select

from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.call_site import split_owner
from runs.month_costs import find_month, read_month_cost
from runs.tables import cost_limits
from storage.engine import read_rows, run_write
from storage.upsert import upsert


class CostQuota(NamedTuple):
    """What a user may spend this month, in US dollars."""

    limit: float | None
    """`None` for no limit."""
    spent: float
    ends: float
    """When the month ends in UTC, in seconds since 1970."""

    @property
    def left(self) -> float | None:
        """The rest of the limit; `None` for no limit."""
        return None if self.limit is None else max(0.0, self.limit - self.spent)


async def set_cost_limit(identity: str, dollars: float | None) -> None:
    """Set the monthly limit of a user; `None` for the default of all users."""
    changed: Executable = delete(cost_limits).filter_by(identity=identity)
    if dollars is not None:
        changed = upsert(cost_limits, {"identity": identity}, {"dollars": dollars})
    await run_write(lambda connection: connection.execute(changed))


async def read_cost_quota(identity: str) -> CostQuota:
    """Return what a user may spend this month, and has spent so far."""
    now = time.time()
    limit = await _read_limit(identity)
    return CostQuota(limit, await read_month_cost(identity, now), find_month(now).ends)


async def _read_limit(identity: str) -> float | None:
    own = select(cost_limits.c.dollars).filter_by(identity=identity)
    limit: float | None = (await read_rows(own)).scalar()
    return settings().caller_max_cost_month if limit is None else limit


async def check_cost_quota(identity: str) -> None:
    """Make sure that a user has not used up their quota.

    Raises:
        Problem: `cost_quota`.
    """
    quota = await read_cost_quota(identity)
    if quota.limit is not None and quota.spent >= quota.limit:
        day = time.strftime("%Y-%m-%d", time.gmtime(quota.ends))
        what = f"your runs have cost ${quota.spent:,.2f} of ${quota.limit:,.2f} this month"
        raise Problem(ErrorCode.COST_QUOTA, what, hint=f"ask the operator, or wait until {day}")


async def check_cost_room(owner: str) -> None:
    """Make sure that the runs of an owner's user, also those at once, may make one more call.

    What other calls at work may cost is left out: it is mostly much more than they do.

    Raises:
        Problem: `budget_spent`.
    """
    user = split_owner(owner)[0]
    limit = await _read_limit(user) if settings().has_users else None
    if limit is None:
        return
    if await read_month_cost(user, time.time(), at_work=False) >= limit:
        what, hint = "the user has reached the limit of the month", "ask the operator, or wait"
        where = f"max_cost_month = {limit:g}"
        raise Problem(ErrorCode.BUDGET_SPENT, what, where=where, hint=hint)
