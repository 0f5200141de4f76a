"""What a user's runs have cost in a month, those included that were deleted since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select, true

from runs.call_site import join_owner
from runs.tables import attempts, deleted_costs, runs
from storage.engine import run_read
from storage.upsert import dialect_insert


class Month(NamedTuple):
    """A month in UTC."""

    name: str
    """Such as `2026-11`."""
    begins: float
    ends: float
    """In seconds since 1970."""


def find_month(now: float) -> Month:
    """Return the month of a time in seconds since 1970."""
    moment = datetime.fromtimestamp(now, UTC)
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    later = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    return Month(f"{first:%Y-%m}", first.timestamp(), later.timestamp())


async def read_month_cost(user: str, now: float, *, at_work: bool = True) -> float:
    """Return the US dollars that a user's runs have cost in the month of a time.

    Args:
        user: Whose.
        now: The time, in seconds since 1970.
        at_work: Whether a call at work counts, with the most that it may cost.
    """
    month, beginning = find_month(now), join_owner(user, "")

    def read(connection: Connection) -> float:
        mine = runs.c.owner.startswith(beginning, autoescape=True)
        counted = true() if at_work else (attempts.c.status != "open") | (attempts.c.ended <= now)
        spent = (
            select(func.sum(attempts.c.cost))
            .join(runs, runs.c.id == attempts.c.run)
            .where(
                mine, counted, attempts.c.started >= month.begins, attempts.c.started < month.ends
            )
        )
        deleted = select(func.sum(deleted_costs.c.dollars)).where(
            deleted_costs.c.owner.startswith(beginning, autoescape=True),
            deleted_costs.c.month == month.name,
        )
        return float(sum(connection.execute(one).scalar() or 0 for one in (spent, deleted)))

    return await run_read(read)


def keep_deleted_costs(connection: Connection, ids: Sequence[str]) -> None:
    """Keep what runs have cost, by owner and month, before their attempts are deleted."""
    wanted = (
        select(runs.c.owner, attempts.c.started, attempts.c.cost)
        .join(runs, runs.c.id == attempts.c.run)
        .where(attempts.c.run.in_(ids), attempts.c.cost > 0)
    )
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for owner, started, cost in connection.execute(wanted):
        sums[owner, find_month(started).name] += cost
    for (owner, month), dollars in sums.items():
        new = dialect_insert(deleted_costs).values(owner=owner, month=month, dollars=dollars)
        more = deleted_costs.c.dollars + dollars
        connection.execute(
            new.on_conflict_do_update(index_elements=["owner", "month"], set_={"dollars": more})
        )
