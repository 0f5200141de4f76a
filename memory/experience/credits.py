"""Who was told what: each insight is judged by the runs that it was told to, and by no others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlalchemy import Connection, func, select, update

from storage.engine import read
from storage.journal import perform
from storage.tables import (
    credits,
    experience_edges,
    insight_edges,
    insight_runs,
    insights,
    recalls,
)
from storage.upsert import insert_new


async def credit(owner: str, run: str, role: str, told: Sequence[str]) -> None:
    """Write down that insights were told to a role of a run; doing it again changes nothing."""
    rows = [{"owner": owner, "run": run, "insight": one, "role": role} for one in told]

    def work(connection: Connection) -> None:
        connection.execute(insert_new(credits).on_conflict_do_nothing(), rows)

    if rows:
        await perform(work)


async def credited(owner: str, run: str) -> list[tuple[str, str]]:
    """Return which insights were told to which roles of a run."""
    mine = (credits.c.owner == owner, credits.c.run == run)
    wanted = select(credits.c.insight, credits.c.role).where(*mine).order_by(credits.c.insight)
    return await read(lambda connection: [(one, role) for one, role in connection.execute(wanted)])


def settle(connection: Connection, owner: str, run: str, won: bool, revision: int) -> None:
    """Count a run's end for the insights that it was told, once; a changed end is counted anew."""
    mine = (credits.c.owner == owner, credits.c.run == run)
    wanted = select(credits.c.insight, func.max(credits.c.won).label("won")).where(*mine)
    rows = connection.execute(wanted.group_by(credits.c.insight)).all()
    told = {row.insight: row.won for row in rows}
    if not told:
        return
    heirs = _heirs(connection, owner, list(told))
    for insight, before in told.items():
        new_use, new_win = before is None, int(won) - (before or 0)
        counted = update(insights).where(insights.c.owner == owner, insights.c.id == heirs[insight])
        values = {"uses": insights.c.uses + int(new_use), "wins": insights.c.wins + new_win}
        connection.execute(counted.values({**values, "revision": revision}))
        support(connection, owner, heirs[insight], run, 1 if won else -1)
    connection.execute(update(credits).where(*mine).values(won=int(won)))
    _join(connection, owner, run, sorted({*heirs.values()}))


def _heirs(connection: Connection, owner: str, told: Sequence[str]) -> dict[str, str]:
    """Return which insight stands now for each: one that was merged lives on in another."""
    merged = select(insights.c.id, insights.c.merged_into).where(
        insights.c.owner == owner, insights.c.merged_into != ""
    )
    heirs = {one: one for one in told}
    left = {*told}
    while left:
        rows = connection.execute(merged.where(insights.c.id.in_(left))).all()
        into = {row.id: row.merged_into for row in rows}
        left = {*into.values()}
        heirs = {one: into.get(heir, heir) for one, heir in heirs.items()}
    return heirs


def support(connection: Connection, owner: str, insight: str, run: str, sign: int) -> None:
    """Let a run speak for an insight (1) or against it (-1)."""
    row = {"insight": insight, "run": run, "owner": owner, "sign": sign}
    said = insert_new(insight_runs).values(row)
    changed = said.on_conflict_do_update(index_elements=["insight", "run"], set_={"sign": sign})
    connection.execute(changed)


def _join(connection: Connection, owner: str, run: str, told: Sequence[str]) -> None:
    """Draw the edges between insights that were used together, and to the runs they are from."""
    pairs = [
        {"one": one, "other": other, "run": run, "owner": owner}
        for one, other in combinations(told, 2)
    ]
    if pairs:
        connection.execute(insert_new(insight_edges).on_conflict_do_nothing(), pairs)
    sources = (
        select(recalls.c.other, recalls.c.similarity)
        .join(insight_runs, insight_runs.c.run == recalls.c.other)
        .where(
            recalls.c.owner == owner,
            recalls.c.run == run,
            insight_runs.c.owner == owner,
            insight_runs.c.insight.in_(told),
            insight_runs.c.sign == 1,
        )
    )
    row = {"owner": owner, "run": run, "kind": "used"}
    rows = [
        {**row, "other": other, "weight": alike}
        for other, alike in connection.execute(sources.distinct())
    ]
    if rows:
        connection.execute(insert_new(experience_edges).on_conflict_do_nothing(), rows)
