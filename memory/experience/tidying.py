"""Join insights that came to say the same, every few runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select

from memory.experience import insights
from memory.experience.insights import Insight, Wording
from memory.experience.outcome import most
from memory.experience.similar import vector_of
from storage.engine import read, write
from storage.events import Event, hold, log
from storage.tables import events, experience_edges, experiences, insight_runs
from storage.tables import insights as table

PERIOD = 20
"""After so many runs of an owner the insights of these runs are looked through."""

MOST = 60
"""So many insights are looked through at the most, the newest."""

TIDY = "tidy"
"""What the event is about that says when the insights were looked through last."""

SAME = 0.8
"""From this cosine on, two insights say the same in nearly the same words."""

SAYS = "they say the same"

HOPELESS = 0.5
"""An insight ends when its share of wins is likely below this (`outcome.most`)."""

FEWEST_LOST = 7
"""No insight that has lost less often is that bad."""

Ask = Callable[[Sequence[Insight]], Awaitable[Sequence[Sequence[int]]]]
"""Asks a model which of some insights say the same; their numbers are their places, from 1."""


class Joined(NamedTuple):
    """An insight, and those it was made of."""

    insight: Insight
    old: Sequence[Insight]


async def due(owner: str) -> bool:
    """Say whether as many runs have ended as are looked through together; one caller is told so."""

    def claim(connection: Connection) -> bool:
        hold(connection, owner)
        its = events.c
        last = select(func.max(its.id)).where(its.owner == owner, its.item == TIDY)
        after = connection.execute(last).scalar() or 0
        runs = experiences.c
        count = select(func.count()).where(runs.owner == owner, runs.revision > after)
        ended: int = connection.execute(count).scalar_one()
        if ended < PERIOD:
            return False
        log(connection, Event(owner, "insight.tidy", TIDY, None, {"runs": ended}, "tool"))
        return True

    return await write(claim)


async def tidy(owner: str, ask: Ask | None = None) -> list[Joined]:
    """Join what says the same among the insights of the latest runs and of those beside them.

    A model that is asked may name those that say the same in other words; without one, those are
    joined that say it in nearly the same words. Either way they get the words of the best of them.
    An insight that is not joined stays as it is, and one that is joined is kept and says into
    which, so nothing that is known gets lost.

    Args:
        owner: Whose insights.
        ask: Asks a model.
    """
    known = await read(lambda connection: _latest(connection, owner))
    if len(known) < 2:
        return []
    groups = _alike(known) if ask is None else _named(known, await ask(known))
    return [Joined(await _joined(owner, group), group) for group in groups]


async def _joined(owner: str, group: Sequence[Insight]) -> Insight:
    """Join insights into one that tells each role the words of the best that may tell it any.

    It is in the words of the best one; where it tells words that are no method's, in those of the
    insight whose words they are, since they are told for its provenance.
    """
    told = {
        role: (said, one)
        for one in reversed(group)
        for role in one.projections
        if (said := insights.guidance(one, role))
    }
    free = [one for role, (said, one) in told.items() if not insights.is_method(said, role)]
    best = min(free or group, key=group.index)
    projections = {role: said for role, (said, _) in told.items()}
    words = Wording(best.content, projections, best.provenance, SAYS)
    return await insights.merge(owner, [one.id for one in group], words)


async def retire(owner: str, run: str = "") -> list[str]:
    """End the insights that were used often and to no good; return their ids.

    One that a person brought back stays.
    """

    def work(connection: Connection) -> list[str]:
        hold(connection, owner)
        live = select(table).where(table.c.owner == owner, table.c.live == 1)
        used = live.where(table.c.uses - table.c.wins >= FEWEST_LOST)
        bad = [one for one in map(insights.read_row, connection.execute(used)) if _hopeless(one)]
        back = _brought_back(connection, owner, [one.id for one in bad])
        for one in bad:
            if one.id not in back:
                insights.change(connection, _ended(owner, one, run), {"live": 0})
        return [one.id for one in bad if one.id not in back]

    return await write(work)


def _latest(connection: Connection, owner: str) -> list[Insight]:
    """Return the insights of the latest runs and of the runs one edge away, the best first.

    Those that nobody is told are none of them: their words are no guidance.
    """
    runs, edges = experiences.c, experience_edges.c
    ended = select(runs.run).where(runs.owner == owner).order_by(runs.created.desc()).limit(PERIOD)
    latest = list(connection.execute(ended).scalars())
    beside = select(edges.other).where(edges.owner == owner, edges.run.in_(latest))
    near = or_(insight_runs.c.run.in_(latest), insight_runs.c.run.in_(beside))
    spoken = select(insight_runs.c.insight).where(insight_runs.c.owner == owner, near)
    wanted = select(table).where(table.c.owner == owner, table.c.live == 1, table.c.id.in_(spoken))
    newest = wanted.order_by(table.c.revision.desc()).limit(MOST)
    found = filter(insights.guides, map(insights.read_row, connection.execute(newest)))
    return sorted(found, key=lambda one: -one.score)


def _named(known: Sequence[Insight], groups: Sequence[Sequence[int]]) -> list[list[Insight]]:
    """Return which insights a model joins; each at most once, and only such as were shown."""
    left = dict(enumerate(known, start=1))
    named = []
    for group in groups:
        own = [left.pop(number) for number in dict.fromkeys(group) if number in left]
        if len(own) > 1:
            named.append(sorted(own, key=known.index))
    return named


def _alike(known: Sequence[Insight]) -> list[list[Insight]]:
    """Return which insights have nearly the same words, each group behind its best one."""
    vectors = {one.id: vector_of(one.content) for one in known}
    left, groups = list(known), []
    while left:
        best = left[0]
        same = [one for one in left if float(vectors[best.id] @ vectors[one.id]) >= SAME]
        left = [one for one in left if one not in same and one is not best]
        if len(same) > 1:
            groups.append(same)
    return groups


def _ended(owner: str, one: Insight, run: str) -> Event:
    was = {
        **insights.words(one),
        "wins": one.wins,
        "uses": one.uses,
    }
    return Event(owner, "insight.end", one.id, was, None, "tool", run=run)


def _hopeless(one: Insight) -> bool:
    return most(one.wins, one.uses) < HOPELESS


def _brought_back(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    undone = select(events.c.item).where(events.c.owner == owner, events.c.item.in_(ids))
    return {*connection.execute(undone.where(events.c.name == "insight.undo")).scalars()}
