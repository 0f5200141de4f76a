"""Who was told what: each insight is judged by the runs that it was told to, and by no others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from sqlalchemy import Connection, func, insert, select, update

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

Said = Literal["source", "used", "model"]
"""Why a run speaks for or against an insight."""

BESIDE = 10
"""To so many other insights of its run an insight is joined."""


async def credit(owner: str, run: str, role: str, told: Sequence[str]) -> None:
    """Write down that insights were told to a role of a run; doing it again changes nothing."""

    def work(connection: Connection) -> None:
        mine = select(insights.c.id).where(insights.c.owner == owner, insights.c.id.in_(told))
        place = {"owner": owner, "run": run, "role": role}
        rows = [{**place, "insight": one} for one in connection.execute(mine).scalars()]
        if rows:
            connection.execute(insert_new(credits).on_conflict_do_nothing(), rows)

    if told:
        await perform(work)


def settle(connection: Connection, owner: str, run: str, won: bool, revision: int) -> None:
    """Count a run's end for the insights that it was told, once; a changed end is counted anew."""
    mine = (credits.c.owner == owner, credits.c.run == run)
    wanted = select(credits.c.insight, func.max(credits.c.won).label("won")).where(*mine)
    rows = connection.execute(wanted.group_by(credits.c.insight)).all()
    if not rows:
        return
    heirs = _heirs(connection, owner, [row.insight for row in rows])
    told: dict[str, int | None] = {}
    for row in rows:
        before = told.get(heirs[row.insight])
        told[heirs[row.insight]] = row.won if before is None else before
    for insight, before in told.items():
        new_use, new_win = before is None, int(won) - (before or 0)
        counted = update(insights).where(insights.c.owner == owner, insights.c.id == insight)
        values = {"uses": insights.c.uses + int(new_use), "wins": insights.c.wins + new_win}
        connection.execute(counted.values({**values, "revision": revision}))
        support(connection, owner, insight, run, 1 if won else -1, "used")
    connection.execute(update(credits).where(*mine).values(won=int(won)))
    join(connection, owner, run, sorted(told))
    _join_sources(connection, owner, run, sorted(told))


def turn(connection: Connection, owner: str, run: str, won: bool) -> None:
    """Let a run that ended otherwise than it seemed speak otherwise for what it taught itself."""
    mine = (insight_runs.c.owner == owner, insight_runs.c.run == run)
    taught = update(insight_runs).where(*mine, insight_runs.c.said == "source")
    connection.execute(taught.values(sign=1 if won else -1))


def inherit(connection: Connection, owner: str, heir: str, old: Sequence[str]) -> None:
    """Let one insight have the runs and the record of others; what speaks against them stays so."""
    runs = insight_runs.c
    spoken = select(runs.run, func.min(runs.sign).label("sign"), func.min(runs.said).label("said"))
    mine = spoken.where(runs.owner == owner, runs.insight.in_(old)).group_by(runs.run)
    for row in connection.execute(mine).all():
        support(connection, owner, heir, row.run, row.sign, row.said)
    told = credits.c
    used = select(told.run, told.role, func.max(told.won).label("won"))
    each = used.where(told.owner == owner, told.insight.in_(old)).group_by(told.run, told.role)
    rows = [{"owner": owner, "insight": heir, **row._mapping} for row in connection.execute(each)]
    if rows:
        connection.execute(insert(credits), rows)
    recount(connection, owner, heir)


def recount(connection: Connection, owner: str, insight: str) -> None:
    """Work the record of an insight out from what it was told to; a run counts once."""
    won = credits.c.won
    ended = select(credits.c.run, func.max(won).label("won")).where(
        credits.c.owner == owner, credits.c.insight == insight, won.is_not(None)
    )
    each = ended.group_by(credits.c.run).subquery()
    count = select(func.count(), func.coalesce(func.sum(each.c.won), 0))
    uses, wins = connection.execute(count.select_from(each)).one()
    its = update(insights).where(insights.c.owner == owner, insights.c.id == insight)
    connection.execute(its.values(uses=uses, wins=wins))


def heir(connection: Connection, owner: str, insight: str) -> str:
    """Return which insight stands now for one that may have been joined to others."""
    return _heirs(connection, owner, [insight])[insight]


def support(
    connection: Connection, owner: str, insight: str, run: str, sign: int, said: Said
) -> None:
    """Let a run speak for an insight (1) or against it (-1).

    What a model has said of them is not changed by whether the run that used it ended well.
    """
    row = {"owner": owner, "insight": insight, "run": run, "sign": sign, "said": said}
    new = insert_new(insight_runs).values(row)
    kept = insight_runs.c.said == "model" if said == "used" else None
    changed = new.on_conflict_do_update(
        index_elements=["owner", "insight", "run"],
        set_={"sign": sign, "said": said},
        where=None if kept is None else ~kept,
    )
    connection.execute(changed)


def join(connection: Connection, owner: str, run: str, some: Sequence[str]) -> None:
    """Draw the edges between insights that one run has to do with."""
    pairs = [
        {"owner": owner, "one": one, "other": other, "run": run}
        for one, other in combinations(sorted(some), 2)
    ]
    if pairs:
        connection.execute(insert_new(insight_edges).on_conflict_do_nothing(), pairs)


def join_taught(connection: Connection, owner: str, insight: str, run: str) -> None:
    """Draw the edges between an insight and what else its run has taught."""
    others = select(insight_runs.c.insight).where(
        insight_runs.c.owner == owner,
        insight_runs.c.run == run,
        insight_runs.c.said == "source",
        insight_runs.c.insight != insight,
    )
    for other in connection.execute(others.limit(BESIDE)).scalars().all():
        join(connection, owner, run, [insight, other])


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


def _join_sources(connection: Connection, owner: str, run: str, told: Sequence[str]) -> None:
    """Draw the edges from a run to those whose insights it was told."""
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
