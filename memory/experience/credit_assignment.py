"""Score how a run ended, and credit the insights that it was given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from memory.tables import credits, experience_edges, insight_edges, insight_runs, insights, recalls
from storage.engine import write_in_group
from storage.upsert import dialect_insert

RunOutcome = Literal["resolved", "partial", "failed"]

OUTCOME_WEIGHTS: Mapping[str, float] = {
    "coverage": 0.4,
    "citations": 0.3,
    "reflection": 0.2,
    "budget": 0.1,
}
"""The weight of each automatic signal of an outcome."""

PERSON_WEIGHT = 3.0
"""The weight of a person's verdict beside all automatic signals together, which weigh 1."""

RESOLVED, PARTIAL = 0.7, 0.35
"""The least outcomes of a resolved run and of a partial one."""

MAX_OUTCOMES: Mapping[float, float] = {1.0: 1.0, 0.5: 0.69, 0.0: 0.34}
"""The best outcome of a run that answered, answered in part, or did not answer at all."""

Z = 1.96
"""The two-sided 95 % quantile of the normal distribution."""


class OutcomeSignals(NamedTuple):
    """The signals of how a run ended, each in 0..1."""

    coverage: float
    """The share of the plan's steps that came out well."""
    citations: float
    """The share of the report's sentences that the checks let stand."""
    reflection: float
    """The share of findings that were reviewed and passed."""
    budget: float
    """1 if the run came to its own end, 0 if a limit ended it."""
    person: float | None = None
    """1 for a thumb up, 0 for a thumb down or a correction; `None` without a verdict."""
    answered: float = 1.0
    """1 for an answer, 0.5 for a part of one or one that is not sure, 0 for none."""


def score_outcome(signs: OutcomeSignals) -> float:
    """Return how well a run ended, in 0..1.

    The mean of the automatic signals, weighted by `OUTCOME_WEIGHTS`, but at most `MAX_OUTCOMES`: a
    run that did not answer is no success, however well it went. With a person's verdict, the mean
    of both, in which the verdict weighs `PERSON_WEIGHT`. Reflexion (Shinn et al. 2023, arXiv
    2303.11366) calls these internal and external feedback.
    """
    weighted = (weight * getattr(signs, name) for name, weight in OUTCOME_WEIGHTS.items())
    automatic: float = min(sum(weighted), MAX_OUTCOMES[signs.answered])
    if signs.person is None:
        return automatic
    return (automatic + PERSON_WEIGHT * signs.person) / (1 + PERSON_WEIGHT)


def classify_outcome(value: float) -> RunOutcome:
    """Return the class of an outcome."""
    return "resolved" if value >= RESOLVED else "partial" if value >= PARTIAL else "failed"


def win_rate_lower_bound(wins: float, uses: float) -> float:
    """Return the lower bound of the share of wins behind a record, in 0..1.

    The Wilson score interval (Wilson 1927) at 95 %. One win and one use are added, so that a new
    insight gets a chance: it begins at 0.21, and one failure leaves it 0.09.
    """
    return _wilson(wins + 1, uses + 1, -1)


def win_rate_upper_bound(wins: float, uses: float) -> float:
    """Return the upper bound of the same interval, in 0..1."""
    return _wilson(wins + 1, uses + 1, 1)


def _wilson(wins: float, uses: float, side: int) -> float:
    share = wins / uses
    spread = Z * math.sqrt(share * (1 - share) / uses + Z * Z / (4 * uses * uses))
    return (share + Z * Z / (2 * uses) + side * spread) / (1 + Z * Z / uses)


EvidenceSource = Literal["source", "used", "model"]
"""Why a run supports or contradicts an insight."""

MAX_SIBLINGS = 10
"""The most other insights of its run that an insight is linked with."""


async def credit_insights(owner: str, run: str, role: str, told: Sequence[str]) -> None:
    """Record that a role of a run was given insights; a second time changes nothing."""

    def work(connection: Connection) -> None:
        """Record the insights that are the owner's; what is recorded already stays."""
        mine = select(insights.c.id).where(insights.c.owner == owner, insights.c.id.in_(told))
        place = {"owner": owner, "run": run, "role": role}
        rows = [{**place, "insight": one} for one in connection.execute(mine).scalars()]
        if rows:
            connection.execute(dialect_insert(credits).on_conflict_do_nothing(), rows)

    if told:
        await write_in_group(work)


def record_outcome(connection: Connection, owner: str, run: str, won: bool, revision: int) -> None:
    """Count a run's end for the insights it was given, once; a changed end replaces the former."""
    mine = (credits.c.owner == owner, credits.c.run == run)
    wanted = select(credits.c.insight, func.max(credits.c.won).label("won")).where(*mine)
    rows = connection.execute(wanted.group_by(credits.c.insight)).all()
    if not rows:
        return
    heirs = find_successors(connection, owner, [row.insight for row in rows])
    counted_as: dict[str, int | None] = {}
    for row in rows:
        before = counted_as.get(heirs[row.insight])
        counted_as[heirs[row.insight]] = row.won if before is None else before
    for insight, before in counted_as.items():
        new_use, new_win = before is None, int(won) - (before or 0)
        counted = update(insights).filter_by(owner=owner, id=insight)
        values = {"uses": insights.c.uses + int(new_use), "wins": insights.c.wins + new_win}
        connection.execute(counted.values({**values, "revision": revision}))
        set_support(connection, owner, insight, run, 1 if won else -1, "used")
    connection.execute(update(credits).where(*mine).values(won=int(won)))
    link_insights(connection, owner, run, sorted(counted_as))
    _link_source_runs(connection, owner, run, sorted(counted_as))


def flip_sign(connection: Connection, owner: str, run: str, won: bool) -> None:
    """Flip the support of a run for the insights it taught, when its outcome changes."""
    taught = update(insight_runs).filter_by(owner=owner, run=run, said="source")
    connection.execute(taught.values(sign=1 if won else -1))


def inherit_record(connection: Connection, owner: str, heir: str, old: Sequence[str]) -> None:
    """Give an insight the runs and the record of others; one run against any counts against it."""
    runs = insight_runs.c
    spoken = select(runs.run, func.min(runs.sign).label("sign"), func.min(runs.said).label("said"))
    mine = spoken.where(runs.owner == owner, runs.insight.in_(old)).group_by(runs.run)
    for row in connection.execute(mine).all():
        set_support(connection, owner, heir, row.run, row.sign, row.said)
    told = credits.c
    used = select(told.run, told.role, func.max(told.won).label("won"))
    each = used.where(told.owner == owner, told.insight.in_(old)).group_by(told.run, told.role)
    rows = [{"owner": owner, "insight": heir, **row._mapping} for row in connection.execute(each)]
    if rows:
        connection.execute(insert(credits), rows)
    recount_wins(connection, owner, heir)


def recount_wins(connection: Connection, owner: str, insight: str) -> None:
    """Count the record of an insight anew from its credits; a run counts once."""
    run, won = credits.c.run, credits.c.won
    mine = select(run, func.max(won).label("won")).filter_by(owner=owner, insight=insight)
    each = mine.where(won.is_not(None)).group_by(run).subquery()
    count = select(func.count(), func.coalesce(func.sum(each.c.won), 0))
    uses, wins = connection.execute(count.select_from(each)).one()
    its = update(insights).filter_by(owner=owner, id=insight)
    connection.execute(its.values(uses=uses, wins=wins))


def set_support(
    connection: Connection, owner: str, insight: str, run: str, sign: int, said: EvidenceSource
) -> None:
    """Record that a run supports an insight (1) or contradicts it (-1).

    The end of a run that used an insight does not change what a model said of them.
    """
    values = {"sign": sign, "said": said}
    new = dialect_insert(insight_runs).values(owner=owner, insight=insight, run=run, **values)
    changed = new.on_conflict_do_update(
        index_elements=["owner", "insight", "run"],
        set_=values,
        where=insight_runs.c.said != "model" if said == "used" else None,
    )
    connection.execute(changed)


def link_insights(connection: Connection, owner: str, run: str, some: Sequence[str]) -> None:
    """Draw the edges between the insights of one run."""
    edge = {"owner": owner, "run": run}
    pairs = [{**edge, "one": one, "other": other} for one, other in combinations(sorted(some), 2)]
    if pairs:
        connection.execute(dialect_insert(insight_edges).on_conflict_do_nothing(), pairs)


def link_siblings(connection: Connection, owner: str, insight: str, run: str) -> None:
    """Draw the edges between an insight and the others that its run taught."""
    taught = select(insight_runs.c.insight).filter_by(owner=owner, run=run, said="source")
    others = taught.where(insight_runs.c.insight != insight).limit(MAX_SIBLINGS)
    for other in connection.execute(others).scalars().all():
        link_insights(connection, owner, run, [insight, other])


def find_successors(connection: Connection, owner: str, told: Sequence[str]) -> dict[str, str]:
    """Return the live insight for each: a merged one stands for its successor."""
    mine = select(insights.c.id, insights.c.merged_into).filter_by(owner=owner)
    merged = mine.where(insights.c.merged_into != "")
    heirs = {one: one for one in told}
    left = {*told}
    while left:
        rows = connection.execute(merged.where(insights.c.id.in_(left)))
        into = {row.id: row.merged_into for row in rows}
        left = {*into.values()}
        heirs = {one: into.get(heir, heir) for one, heir in heirs.items()}
    return heirs


def _link_source_runs(connection: Connection, owner: str, run: str, told: Sequence[str]) -> None:
    """Draw the edges from a run to those whose insights it was given."""
    its = insight_runs.c
    related = select(recalls.c.other, recalls.c.similarity).filter_by(owner=owner, run=run)
    taught = related.join(insight_runs, its.run == recalls.c.other)
    sources = taught.where(its.owner == owner, its.insight.in_(told), its.sign == 1)
    row = {"owner": owner, "run": run, "kind": "used"}
    rows = [
        {**row, "other": other, "weight": alike}
        for other, alike in connection.execute(sources.distinct())
    ]
    if rows:
        connection.execute(dialect_insert(experience_edges).on_conflict_do_nothing(), rows)
