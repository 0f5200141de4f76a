"""Find the earlier runs that a new one can learn from, and what they say to each role."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from memory.experience.insights import Insight, read_row
from memory.experience.outcome import least
from memory.experience.runs import Experience, beside, found_each, on_topic
from memory.experience.similar import joined, matrix_of, meant, vector_of
from runs.place import thread_of
from storage.engine import read, write
from storage.tables import credits, insight_runs, insights, recalls

NEAREST = 16
"""So many similar runs are looked at."""

ALIKE = 0.2
"""The least cosine of a question that is looked at."""

NEAR = 0.5
"""Candidates are kept whose similarity is at least this part of the best one's."""

HOPS = 1
"""From a similar run so many edges are followed; the paper finds one best."""

FADES = 0.5
"""What an edge leaves of a run's similarity."""

FEW = 5
"""So few candidates are told without a rating: there is little to choose, and no call for it."""

MOST = 16
"""So many candidates are rated at the most."""


class Candidate(NamedTuple):
    """An earlier run that a new one may learn from."""

    past: Experience
    similarity: float
    hops: int
    rating: float
    """How well it fits the question and how well it ended, in 0..1."""


class Learnt(NamedTuple):
    """An insight, what it is worth to a question in 0..1, and the question that taught it."""

    insight: Insight
    worth: float
    question: str
    """Of the run that speaks for it and fits best: the case in which it is known to hold."""


Rate = Callable[[str, Sequence[Experience]], Awaitable[Mapping[str, float]]]
"""Rates how relevant earlier runs are to a question: run to 0..1; those left out are not rated."""


async def prepare(
    owner: str, run: str, question: str, *, rate: Rate | None = None, hops: int = HOPS
) -> list[Candidate]:
    """Find the runs that a run can learn from, and write them down; it is done when it is planned.

    Coarse similarity, then edges, then a rating of each candidate: by `rate` where there is one and
    something to choose, else by similarity and outcome; what it rates 0 is none. Later calls of the
    run are told of these runs alone, also in another process; what was learnt of them meanwhile is
    told too.

    Args:
        owner: Whose runs.
        run: The new run; it is never its own candidate.
        question: What it asks.
        rate: Asks a model, say.
        hops: How many edges are followed from a similar run.
    """
    vector = await asyncio.to_thread(vector_of, question)
    meanings = await meant(owner, question, without=run)

    def look(connection: Connection) -> list[Candidate]:
        words = matrix_of(connection, owner).nearest(vector, NEAREST, ALIKE, without=run)
        words = on_topic(connection, owner, question, words)
        near = joined(words, meanings, NEAREST, ALIKE)
        reached = _reached(connection, owner, dict(near), hops)
        reached.pop(run, None)
        best = sorted(reached, key=lambda one: -reached[one][0])[: 2 * MOST]
        return [_rated(past, *reached[past.run]) for past in found_each(connection, owner, best)]

    candidates = _near(await read(look))
    if rate is not None and _worth_rating(run, candidates):
        given = await rate(question, [one.past for one in candidates])
        rated = [one._replace(rating=given.get(one.past.run, one.rating)) for one in candidates]
        candidates = sorted((one for one in rated if one.rating), key=lambda one: -one.rating)
    await write(lambda connection: _keep(connection, owner, run, candidates))
    return candidates


async def prepared(owner: str, run: str) -> list[Candidate]:
    """Return what was found for a run when it was planned, the best first."""
    mine = (recalls.c.owner == owner, recalls.c.run == run)
    wanted = select(recalls).where(*mine).order_by(recalls.c.rating.desc(), recalls.c.other)

    def look(connection: Connection) -> list[Candidate]:
        rows = {row.other: row for row in connection.execute(wanted)}
        found = {past.run: past for past in found_each(connection, owner, list(rows))}
        return [
            Candidate(found[run], row.similarity, row.hops, row.rating)
            for run, row in rows.items()
            if run in found
        ]

    return await read(look)


async def learnt(owner: str, candidates: Sequence[Candidate]) -> list[Learnt]:
    """Return the insights of some runs with their worth, in 0..1, the best first.

    An insight is worth how well the run fits that speaks for it, times the lower bound of its share
    of wins (`outcome.least`) in these runs alone, each counted as far as it fits: what helped with
    other questions need not help with this one. A run that came to it by itself, without being
    told, counts as a win, and one that speaks against it as a loss.
    """
    fits = {one.past.run: one.rating for one in candidates}
    near = insight_runs.c.run.in_(fits)
    spoken = select(insight_runs.c.insight, insight_runs.c.run, insight_runs.c.sign).where(
        insight_runs.c.owner == owner, near
    )
    used = select(credits.c.insight, credits.c.run, credits.c.won).distinct()
    used = used.where(credits.c.owner == owner, credits.c.run.in_(fits), credits.c.won.is_not(None))

    asked = {one.past.run: one.past.question for one in candidates}

    def look(connection: Connection) -> list[Learnt]:
        best: dict[str, str] = {}
        ways = {(insight, run): won for insight, run, won in connection.execute(used)}
        for insight, run, sign in connection.execute(spoken):
            if sign > 0:
                best[insight] = max(run, best.get(insight, run), key=lambda one: fits[one])
            ways.setdefault((insight, run), int(sign > 0))
        record = {one: [0.0, 0.0] for one in best}
        for (insight, run), won in ways.items():
            if insight in record:
                record[insight][0] += fits[run] * won
                record[insight][1] += fits[run]
        wanted = select(insights).where(
            insights.c.owner == owner, insights.c.live == 1, insights.c.id.in_(best)
        )
        found = [read_row(row) for row in connection.execute(wanted)]
        told = [
            Learnt(one, fits[best[one.id]] * least(*record[one.id]), asked[best[one.id]])
            for one in found
        ]
        return sorted(told, key=lambda one: (-one.worth, one.insight.created, one.insight.id))

    return await read(look) if fits else []


def _worth_rating(run: str, candidates: Sequence[Candidate]) -> bool:
    """Tell whether there is much to choose; of what the thread itself did, calls know without.

    Of a few runs, similarity and outcome show which to tell.
    """
    others = [one for one in candidates if thread_of(one.past.run) != thread_of(run)]
    return len(others) > FEW


def _near(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are not much further away than the nearest, the best first.

    A lesson told where it does not belong helps nobody, and is blamed for what it did not do. What
    an edge leads to has faded by as much as the bound has.
    """
    best = max((one.similarity for one in found), default=0.0)
    near = [one for one in found if one.similarity >= NEAR * best * FADES**one.hops]
    return sorted(near, key=lambda one: -one.rating)[:MOST]


def _rated(past: Experience, similarity: float, hops: int) -> Candidate:
    """Rate by similarity and outcome; a run that failed teaches something too."""
    return Candidate(past, similarity, hops, similarity * (0.5 + 0.5 * past.outcome))


def _reached(
    connection: Connection, owner: str, near: Mapping[str, float], hops: int
) -> dict[str, tuple[float, int]]:
    """Return the similar runs and those up to so many edges away, each with its similarity."""
    reached = {run: (cosine, 0) for run, cosine in near.items()}
    edge = dict(near)
    for hop in range(1, hops + 1):
        steps = beside(connection, owner, edge)
        edge = {run: FADES * alike for run, alike in steps.items() if run not in reached}
        reached |= {run: (alike, hop) for run, alike in edge.items()}
    return reached


def _keep(connection: Connection, owner: str, run: str, candidates: Sequence[Candidate]) -> None:
    mine = (recalls.c.owner == owner, recalls.c.run == run)
    connection.execute(delete(recalls).where(*mine))
    rows = [
        {
            "owner": owner,
            "run": run,
            "other": one.past.run,
            "similarity": one.similarity,
            "hops": one.hops,
            "rating": one.rating,
        }
        for one in candidates
    ]
    if rows:
        connection.execute(insert(recalls), rows)
