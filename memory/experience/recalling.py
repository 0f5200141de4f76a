"""Find the earlier runs that a new one can learn from, and what they say to each role."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from memory.experience.insights import Insight, read_row
from memory.experience.outcome import least
from memory.experience.runs import Experience, beside, found_each
from memory.experience.similar import matrix_of, vector_of
from storage.engine import read, write
from storage.tables import insight_runs, insights, recalls

NEAREST = 6
"""So many similar runs are looked at."""

ALIKE = 0.2
"""The least cosine of a question that is looked at."""

HOPS = 1
"""From a similar run so many edges are followed; the paper finds one best."""

FADES = 0.5
"""What an edge leaves of a run's similarity."""

MOST = 8
"""So many candidates are rated at the most."""


class Candidate(NamedTuple):
    """An earlier run that a new one may learn from."""

    past: Experience
    similarity: float
    hops: int
    rating: float
    """How well it fits the question and how well it ended, in 0..1."""


Rate = Callable[[str, Sequence[Experience]], Awaitable[Mapping[str, float]]]
"""Rates how relevant earlier runs are to a question: run to 0..1; those left out are not rated."""


async def prepare(
    owner: str, run: str, question: str, *, rate: Rate | None = None, hops: int = HOPS
) -> list[Candidate]:
    """Find the runs that a run can learn from, and write them down; it is done when it is planned.

    Coarse similarity, then edges, then a rating of each candidate: by `rate` where there is one,
    else by similarity and outcome. What a later call of the run is told rests on this alone, so it
    is the same in another process, and whatever other runs do meanwhile.

    Args:
        owner: Whose runs.
        run: The new run; it is never its own candidate.
        question: What it asks.
        rate: Asks a model, say.
        hops: How many edges are followed from a similar run.
    """
    vector = await asyncio.to_thread(vector_of, question)

    def look(connection: Connection) -> list[Candidate]:
        near = matrix_of(connection, owner).nearest(vector, NEAREST, ALIKE, without=run)
        reached = _reached(connection, owner, dict(near), hops)
        reached.pop(run, None)
        best = sorted(reached, key=lambda one: -reached[one][0])[: 2 * MOST]
        return [_rated(past, *reached[past.run]) for past in found_each(connection, owner, best)]

    candidates = sorted(await read(look), key=lambda one: -one.rating)[:MOST]
    if rate is not None and candidates:
        given = await rate(question, [one.past for one in candidates])
        rated = [one._replace(rating=given.get(one.past.run, one.rating)) for one in candidates]
        candidates = sorted(rated, key=lambda one: -one.rating)
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


async def learnt(owner: str, candidates: Sequence[Candidate]) -> list[tuple[Insight, float]]:
    """Return the insights of some runs with their worth, in 0..1, the best first.

    An insight is worth the lower bound of its wins, raised by how well the run that speaks for it
    fits: the square root of their product. One that every run of them speaks against is left out.
    """
    rated = {one.past.run: one.rating for one in candidates}
    signs = select(insight_runs.c.insight, insight_runs.c.run, insight_runs.c.sign).where(
        insight_runs.c.owner == owner, insight_runs.c.run.in_(rated)
    )

    def look(connection: Connection) -> list[tuple[Insight, float]]:
        fits: dict[str, float] = {}
        for insight, run, sign in connection.execute(signs):
            if sign > 0:
                fits[insight] = max(rated[run], fits.get(insight, 0.0))
        wanted = select(insights).where(
            insights.c.owner == owner, insights.c.live == 1, insights.c.id.in_(fits)
        )
        found = [read_row(row) for row in connection.execute(wanted)]
        worth = [(one, (least(one.wins, one.uses) * fits[one.id]) ** 0.5) for one in found]
        return sorted(worth, key=lambda one: (-one[1], one[0].id))

    return await read(look) if rated else []


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
        new = {
            run: FADES * weight * max(edge.values(), default=0.0)
            for run, weight in beside(connection, owner, list(edge)).items()
            if run not in reached
        }
        reached |= {run: (alike, hop) for run, alike in new.items()}
        edge = new
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
