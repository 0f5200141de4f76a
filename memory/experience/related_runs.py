"""Tell each role of a run what related past runs teach."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from memory.experience.credit_assignment import win_rate_lower_bound
from memory.experience.insights import Insight, insight_from_row
from memory.experience.run_history import (
    PastRun,
    compare_meanings,
    filter_on_topic,
    find_linked_runs,
    find_past_runs_in,
    load_question_matrix,
    merge_scored_runs,
    question_vector,
)
from memory.experience.tables import credits, insight_runs, insights, recalls
from runs.call_site import thread_of_run
from storage.engine import run_read, run_write

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


class RelatedRun(NamedTuple):
    """An earlier run that a new one may learn from."""

    past: PastRun
    similarity: float
    hops: int
    rating: float
    """How well it fits the question and how well it ended, in 0..1."""


class RelevantInsight(NamedTuple):
    """An insight, what it is worth to a question in 0..1, and the question that taught it."""

    insight: Insight
    worth: float
    question: str
    """Of the run that speaks for it and fits best: the case in which it is known to hold."""


RunRater = Callable[[str, Sequence[PastRun]], Awaitable[Mapping[str, float]]]
"""Rates how relevant earlier runs are to a question: run to 0..1; those left out are not rated."""


async def store_related_runs(
    owner: str, run: str, question: str, *, rate: RunRater | None = None, hops: int = HOPS
) -> list[RelatedRun]:
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
    vector = await asyncio.to_thread(question_vector, question)
    meanings = await compare_meanings(owner, question, without=run)

    def look(connection: Connection) -> list[RelatedRun]:
        words = load_question_matrix(connection, owner).nearest(vector, NEAREST, ALIKE, without=run)
        words = filter_on_topic(connection, owner, question, words)
        near = merge_scored_runs(words, meanings, NEAREST, ALIKE)
        reached = _reached(connection, owner, dict(near), hops)
        reached.pop(run, None)
        best = sorted(reached, key=lambda one: -reached[one][0])[: 2 * MOST]
        return [
            _rated(past, *reached[past.run]) for past in find_past_runs_in(connection, owner, best)
        ]

    candidates = _drop_distant(await run_read(look))
    if rate is not None and _worth_rating(run, candidates):
        given = await rate(question, [one.past for one in candidates])
        rated = [one._replace(rating=given.get(one.past.run, one.rating)) for one in candidates]
        candidates = sorted((one for one in rated if one.rating), key=lambda one: -one.rating)
    await run_write(lambda connection: _store_related(connection, owner, run, candidates))
    return candidates


async def load_related_runs(owner: str, run: str) -> list[RelatedRun]:
    """Return what was found for a run when it was planned, the best first."""
    mine = (recalls.c.owner == owner, recalls.c.run == run)
    wanted = select(recalls).where(*mine).order_by(recalls.c.rating.desc(), recalls.c.other)

    def look(connection: Connection) -> list[RelatedRun]:
        rows = {row.other: row for row in connection.execute(wanted)}
        found = {past.run: past for past in find_past_runs_in(connection, owner, list(rows))}
        return [
            RelatedRun(found[run], row.similarity, row.hops, row.rating)
            for run, row in rows.items()
            if run in found
        ]

    return await run_read(look)


async def list_relevant_insights(
    owner: str, candidates: Sequence[RelatedRun]
) -> list[RelevantInsight]:
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

    def look(connection: Connection) -> list[RelevantInsight]:
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
        found = [insight_from_row(row) for row in connection.execute(wanted)]
        told = [
            RelevantInsight(
                one, fits[best[one.id]] * win_rate_lower_bound(*record[one.id]), asked[best[one.id]]
            )
            for one in found
        ]
        return sorted(told, key=lambda one: (-one.worth, one.insight.created, one.insight.id))

    return await run_read(look) if fits else []


def _worth_rating(run: str, candidates: Sequence[RelatedRun]) -> bool:
    """Tell whether there is much to choose; of what the thread itself did, calls know without.

    Of a few runs, similarity and outcome show which to tell.
    """
    others = [one for one in candidates if thread_of_run(one.past.run) != thread_of_run(run)]
    return len(others) > FEW


def _drop_distant(found: Sequence[RelatedRun]) -> list[RelatedRun]:
    """Return the candidates that are not much further away than the nearest, the best first.

    A lesson told where it does not belong helps nobody, and is blamed for what it did not do. What
    an edge leads to has faded by as much as the bound has.
    """
    best = max((one.similarity for one in found), default=0.0)
    near = [one for one in found if one.similarity >= NEAR * best * FADES**one.hops]
    return sorted(near, key=lambda one: -one.rating)[:MOST]


def _rated(past: PastRun, similarity: float, hops: int) -> RelatedRun:
    """Rate by similarity and outcome; a run that failed teaches something too."""
    return RelatedRun(past, similarity, hops, similarity * (0.5 + 0.5 * past.outcome))


def _reached(
    connection: Connection, owner: str, near: Mapping[str, float], hops: int
) -> dict[str, tuple[float, int]]:
    """Return the similar runs and those up to so many edges away, each with its similarity."""
    reached = {run: (cosine, 0) for run, cosine in near.items()}
    edge = dict(near)
    for hop in range(1, hops + 1):
        steps = find_linked_runs(connection, owner, edge)
        edge = {run: FADES * alike for run, alike in steps.items() if run not in reached}
        reached |= {run: (alike, hop) for run, alike in edge.items()}
    return reached


def _store_related(
    connection: Connection, owner: str, run: str, candidates: Sequence[RelatedRun]
) -> None:
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
