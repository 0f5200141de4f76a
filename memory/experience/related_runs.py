"""Find the past runs that a run can learn from, and the insights that these speak for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from memory.experience import run_history
from memory.experience.credit_assignment import win_rate_lower_bound
from memory.experience.insights import Insight, insight_from_row
from memory.tables import credits, insight_runs, insights, recalls
from runs.call_site import thread_of_run
from storage.engine import run_read, run_write

MAX_SIMILAR = 16
"""The most runs that are similar by themselves."""

MIN_COSINE = 0.2
"""The least cosine of the question of a similar run."""

MIN_RELATIVE_SIMILARITY = 0.5
"""Candidates are kept whose similarity is at least this part of the best one's."""

EDGE_DECAY = 0.5
"""The part of a run's similarity that is left after an edge.

One edge is followed from a similar run; the paper finds that best.
"""

MAX_UNRATED = 5
"""So few candidates are used without a rating: there is little to choose, and no call for it."""

MAX_CANDIDATES = 16
"""The most candidates that are rated."""


class RelatedRun(NamedTuple):
    """An earlier run that a new one may learn from."""

    past: run_history.PastRun
    similarity: float
    hops: int
    rating: float
    """How relevant it is and how well it ended, in 0..1."""


class RelevantInsight(NamedTuple):
    """An insight, its worth to a question in 0..1, and the question of a run that supports it."""

    insight: Insight
    worth: float
    question: str
    """The question of the best fitting run that supports it: there it is known to hold."""


RunRater = Callable[[str, Sequence[run_history.PastRun]], Awaitable[Mapping[str, float]]]
"""Rates how relevant earlier runs are to a question: run to 0..1; those left out are not rated."""


async def store_related_runs(
    owner: str, run: str, question: str, *, rate: RunRater | None = None
) -> list[RelatedRun]:
    """Find the runs that a run can learn from, and store them, when the run is planned.

    Similar questions, then edges, then a rating of each candidate: by `rate` if there is enough to
    choose from, else by similarity and outcome; a rating of 0 excludes. Later calls of the run
    learn from these runs alone, also in another process.

    Args:
        owner: Whose runs.
        run: The new run; it is never its own candidate.
        question: What it asks.
        rate: Rates the candidates, with a model for example.
    """
    meanings = await run_history.compare_meanings(owner, question, without=run)

    def look(connection: Connection) -> list[RelatedRun]:
        """Return runs with a similar question, and those linked to them, by likeness."""
        similar = run_history.find_similar_runs(
            connection, owner, question, meanings, MAX_SIMILAR, MIN_COSINE, without=run
        )
        reached = {other: (cosine, 0) for other, cosine in similar}
        for other, weight in run_history.find_linked_runs(connection, owner, dict(similar)).items():
            reached[other] = (EDGE_DECAY * weight, 1)
        reached.pop(run, None)
        best = sorted(reached, key=lambda one: -reached[one][0])[: 2 * MAX_CANDIDATES]
        found = run_history.find_past_runs_in(connection, owner, best)
        return [_rate(past, *reached[past.run]) for past in found]

    candidates = _drop_distant(await run_read(look))
    if rate is not None and _is_worth_rating(run, candidates):
        ratings = await rate(question, [one.past for one in candidates])
        rated = [one._replace(rating=ratings.get(one.past.run, one.rating)) for one in candidates]
        candidates = sorted((one for one in rated if one.rating), key=lambda one: -one.rating)
    await run_write(lambda connection: _store_related(connection, owner, run, candidates))
    return candidates


async def load_related_runs(owner: str, run: str) -> list[RelatedRun]:
    """Return the runs that were found for a run when it was planned, the best first."""
    its = recalls.c
    wanted = select(its.other, its.similarity, its.hops, its.rating).filter_by(owner=owner, run=run)
    best_first = wanted.order_by(its.rating.desc(), its.other)

    def look(connection: Connection) -> list[RelatedRun]:
        fits = {other: fit for other, *fit in connection.execute(best_first)}
        found = run_history.find_past_runs_in(connection, owner, list(fits)) if fits else []
        return [RelatedRun(past, *fits[past.run]) for past in found]

    return await run_read(look)


async def list_relevant_insights(
    owner: str, candidates: Sequence[RelatedRun]
) -> list[RelevantInsight]:
    """Return the insights of some runs with their worth, in 0..1, the best first.

    The worth is the rating of the best run that supports the insight, times the lower bound of its
    share of wins (`win_rate_lower_bound`) in these runs alone, weighted by their ratings: what
    helped with other questions need not help with this one. A run that came to the insight by
    itself counts as a win, and one that speaks against it as a loss.
    """
    ratings = {one.past.run: one.rating for one in candidates}
    questions = {one.past.run: one.past.question for one in candidates}
    supports = select(insight_runs.c.insight, insight_runs.c.run, insight_runs.c.sign)
    supports = supports.filter_by(owner=owner).where(insight_runs.c.run.in_(ratings))
    used = select(credits.c.insight, credits.c.run, credits.c.won).distinct().filter_by(owner=owner)
    used = used.where(credits.c.run.in_(ratings), credits.c.won.is_not(None))

    def look(connection: Connection) -> list[RelevantInsight]:
        best: dict[str, str] = {}
        won = {(insight, run): won for insight, run, won in connection.execute(used)}
        for insight, run, sign in connection.execute(supports):
            if sign > 0:
                best[insight] = max(run, best.get(insight, run), key=lambda one: ratings[one])
            won.setdefault((insight, run), int(sign > 0))
        wins: dict[str, float] = defaultdict(float)
        uses: dict[str, float] = defaultdict(float)
        for (insight, run), is_win in won.items():
            wins[insight] += ratings[run] * is_win
            uses[insight] += ratings[run]
        wanted = select(insights).filter_by(owner=owner, live=1).where(insights.c.id.in_(best))
        found = []
        for one in map(insight_from_row, connection.execute(wanted)):
            run = best[one.id]
            worth = ratings[run] * win_rate_lower_bound(wins[one.id], uses[one.id])
            found.append(RelevantInsight(one, worth, questions[run]))
        return sorted(found, key=lambda one: (-one.worth, one.insight.created, one.insight.id))

    return await run_read(look) if ratings else []


def _is_worth_rating(run: str, candidates: Sequence[RelatedRun]) -> bool:
    """Tell whether there are many candidates outside of the run's own thread."""
    others = [one for one in candidates if thread_of_run(one.past.run) != thread_of_run(run)]
    return len(others) > MAX_UNRATED


def _drop_distant(found: Sequence[RelatedRun]) -> list[RelatedRun]:
    """Return the candidates that are not much less similar than the best, by their ratings.

    A lesson in the wrong place helps nobody, and is blamed for what it did not do. The bound decays
    with each edge as similarities do.
    """
    best = max((one.similarity for one in found), default=0.0)
    least = MIN_RELATIVE_SIMILARITY * best
    near = [one for one in found if one.similarity >= least * EDGE_DECAY**one.hops]
    return sorted(near, key=lambda one: -one.rating)[:MAX_CANDIDATES]


def _rate(past: run_history.PastRun, similarity: float, hops: int) -> RelatedRun:
    """Rate by similarity and outcome; a run that failed teaches something too."""
    return RelatedRun(past, similarity, hops, similarity * (0.5 + 0.5 * past.outcome))


def _store_related(
    connection: Connection, owner: str, run: str, candidates: Sequence[RelatedRun]
) -> None:
    connection.execute(delete(recalls).filter_by(owner=owner, run=run))
    rows = [
        {"owner": owner, "run": run, "other": past.run}
        | {"similarity": similarity, "hops": hops, "rating": rating}
        for past, similarity, hops, rating in candidates
    ]
    if rows:
        connection.execute(insert(recalls), rows)
