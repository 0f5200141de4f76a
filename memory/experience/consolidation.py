"""Turn lessons of runs into insights, merge insights that say the same, and retire useless ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, func, or_, select

from config.errors import ErrorCode, Problem
from memory.experience import insights, run_history
from memory.experience.credit_assignment import win_rate_upper_bound
from memory.experience.insights import Insight, InsightText, has_guidance
from memory.experience.utterances import Utterance, list_utterances_in
from memory.tables import experience_edges, experiences, insight_runs
from memory.tables import insights as table
from prompts.methods import load_methods
from storage.engine import run_read, run_write
from storage.events import Event, lock_owner, log_event
from storage.tables import events
from text.tfidf import group_similar_texts

MIN_COSINE = 0.3
"""The least cosine of a run that is compared with a new one."""

MAX_SIMILAR = 12
"""The most similar runs among which those to compare with are chosen."""

MAX_SUCCESSES = 3
"""The most earlier successes that a new one is compared with."""

MAX_LESSONS = 5
"""The most lessons of one run."""


class Lesson(BaseModel):
    """One change of the insights; it holds no words of a model, which may be those of any page."""

    action: Literal["add", "agree", "disagree"]
    method: str = ""
    insight: int = 0


class Lessons(BaseModel):
    """The lessons of a run."""

    lessons: list[Lesson]


class RunComparison(NamedTuple):
    """A run that ended, and others that asked something similar."""

    new: run_history.PastRun
    steps: Sequence[Utterance]
    others: Sequence[tuple[run_history.PastRun, Sequence[Utterance]]]
    insights: Sequence[Insight]


async def load_run_comparison(owner: str, run: str) -> RunComparison | None:
    """Return a run with the runs to compare it with; `None` if there are none.

    The most similar run that ended otherwise, for a contrast; the most similar ones that were
    resolved like it, for what they have in common; and the insights of all of them.
    """
    past = await run_history.find_past_run(owner, run)
    if past is None:
        return None
    meanings = await run_history.compare_meanings(owner, past.question, without=run)

    def look(connection: Connection) -> RunComparison | None:
        # It may have been rated or forgotten while its meaning was compared.
        new = run_history.find_past_run_in(connection, owner, run)
        if new is None:
            return None
        limits = (MAX_SIMILAR, MIN_COSINE)
        near = run_history.find_similar_runs(
            connection, owner, new.question, meanings, *limits, without=run, on_topic=False
        )
        similar = run_history.find_past_runs_in(connection, owner, [name for name, _ in near])
        successes = [one for one in similar if _is_resolved(one)]
        compared = successes[:1]
        if _is_resolved(new):
            failures = [one for one in similar if not _is_resolved(one)]
            compared = [*failures[:1], *successes[:MAX_SUCCESSES]]
        if not compared:
            return None
        runs = [run, *(one.run for one in compared)]
        steps = {one: list_utterances_in(connection, owner, one, main=True) for one in runs}
        others = [(one, steps[one.run]) for one in compared]
        known = _select_guidance(connection, owner, insight_runs.c.run.in_(runs))
        return RunComparison(new, steps[run], others, known)

    return await run_read(look)


def _select_guidance(
    connection: Connection, owner: str, supported: ColumnElement[bool], limit: int | None = None
) -> list[Insight]:
    """Return the newest live insights of some runs that any role may be given, the best first."""
    ids = select(insight_runs.c.insight).where(insight_runs.c.owner == owner, supported)
    wanted = select(table).where(table.c.owner == owner, table.c.live == 1, table.c.id.in_(ids))
    rows = connection.execute(wanted.order_by(table.c.revision.desc()).limit(limit))
    found = [one for one in map(insights.insight_from_row, rows) if has_guidance(one)]
    return sorted(found, key=lambda one: -one.score)


async def apply_lessons(
    owner: str, seen: RunComparison, lessons: Sequence[Lesson], language: str
) -> list[str]:
    """Apply lessons to the insights; return the names in them that are no method.

    A number that was not shown changes nothing. The sentences that other runs are given are those
    of `prompts/methods.toml`, in `language`.
    """
    unknown: list[str] = []
    for lesson in lessons[:MAX_LESSONS]:
        method = load_methods().get(lesson.method)
        if lesson.action != "add":
            await _agree(owner, seen, lesson)
        elif method is None:
            unknown.append(lesson.method)
        else:
            sentence, run = method.sentence(language), seen.new.run
            words = InsightText(sentence, {method.role: sentence}, "model", f"learnt of {run}", run)
            await insights.add_insight(owner, words, _supporting_runs(seen))
    return unknown


async def _agree(owner: str, seen: RunComparison, lesson: Lesson) -> None:
    if not 1 <= lesson.insight <= len(seen.insights):
        return
    known = seen.insights[lesson.insight - 1].id
    try:
        await insights.record_agreement(owner, known, seen.new.run, agrees=lesson.action == "agree")
    except Problem as problem:
        # An insight may have ended since it was shown.
        if problem.code != ErrorCode.INSIGHT_NOT_FOUND:
            raise


def _supporting_runs(seen: RunComparison) -> list[str]:
    """Return the runs that support a lesson: those that went well, or else all of them."""
    compared = [seen.new, *(past for past, _ in seen.others)]
    return [one.run for one in compared if _is_resolved(one)] or [one.run for one in compared]


def _is_resolved(one: run_history.PastRun) -> bool:
    return one.status == "resolved"


CONSOLIDATION_PERIOD = 20
"""After how many runs of an owner their insights are consolidated."""

MAX_CONSOLIDATED = 60
"""The most insights that are consolidated at once, the newest."""

TIDY = "tidy"
"""The item of the event of a consolidation."""

SAME = 0.7
"""From this mean cosine on, insights say the same in nearly the same words."""

MERGE_REASON = "they say the same"

MIN_WIN_RATE = 0.5
"""An insight ends when its share of wins is likely below this (`win_rate_upper_bound`)."""

MIN_LOSSES = 7
"""No insight with fewer losses is that bad."""

InsightGrouper = Callable[[Sequence[Insight]], Awaitable[Sequence[Sequence[int]]]]
"""Asks a model which insights say the same, by their positions from 1."""


class MergedInsight(NamedTuple):
    """An insight, and those it was merged from."""

    insight: Insight
    merged: Sequence[Insight]


async def claim_consolidation(owner: str) -> bool:
    """Tell whether a consolidation is due; only one caller gets `True`."""

    def claim(connection: Connection) -> bool:
        """Log the tidying if enough runs ended since the last; of two processes one does."""
        lock_owner(connection, owner)
        its, runs = events.c, experiences.c
        last = select(func.max(its.id)).where(its.owner == owner, its.item == TIDY)
        after = connection.execute(last).scalar() or 0
        count = select(func.count()).where(runs.owner == owner, runs.revision > after)
        ended: int = connection.execute(count).scalar_one()
        if ended < CONSOLIDATION_PERIOD:
            return False
        log_event(connection, Event(owner, "insight.tidy", TIDY, None, {"runs": ended}, "tool"))
        return True

    return await run_write(claim)


async def consolidate_insights(
    owner: str, ask: InsightGrouper | None = None
) -> list[MergedInsight]:
    """Merge what says the same among the insights of the latest runs and their neighbors.

    A model may name those that say the same in other words; without one, those in nearly the same
    words are merged. They get the words of the best of them. A merged insight is kept with the id
    of the one that it was merged into.

    Args:
        owner: Whose insights.
        ask: Asks a model.
    """
    known = await run_read(lambda connection: _latest(connection, owner))
    if len(known) < 2:
        return []
    groups = (
        await asyncio.to_thread(_alike, known) if ask is None else _named(known, await ask(known))
    )
    return [MergedInsight(await _merge_group(owner, group), group) for group in groups]


async def _merge_group(owner: str, group: Sequence[Insight]) -> Insight:
    """Merge insights into one that gives each role the words of the best one that has any for it.

    Its own words are those of the best one; if a role is given words that are no method's, those of
    the insight that these are from, since its provenance vouches for them.
    """
    guidance = {
        role: (said, one)
        for one in reversed(group)
        for role in one.projections
        if (said := insights.get_role_guidance(one, role))
    }
    own_words = [
        one for role, (said, one) in guidance.items() if not insights.is_method_sentence(said, role)
    ]
    best = min(own_words or group, key=group.index)
    projections = {role: said for role, (said, _) in guidance.items()}
    words = InsightText(best.content, projections, best.provenance, MERGE_REASON)
    return await insights.merge_insights(owner, [one.id for one in group], words)


async def retire_insights(owner: str, run: str = "") -> list[str]:
    """End the insights that were used often and did not help; return their ids.

    One that a person brought back stays.
    """

    def work(connection: Connection) -> list[str]:
        """End insights that hardly ever help, except those that a person has brought back."""
        lock_owner(connection, owner)
        live = select(table).filter_by(owner=owner, live=1)
        used = live.where(table.c.uses - table.c.wins >= MIN_LOSSES)
        known = map(insights.insight_from_row, connection.execute(used))
        hopeless = [one for one in known if win_rate_upper_bound(one.wins, one.uses) < MIN_WIN_RATE]
        restored = _restored(connection, owner, [one.id for one in hopeless])
        ended = [one for one in hopeless if one.id not in restored]
        for one in ended:
            before = insights.insight_event_data(one) | {"wins": one.wins, "uses": one.uses}
            event = Event(owner, "insight.end", one.id, before, None, "tool", run=run)
            insights.update_insight(connection, event, {"live": 0})
        return [one.id for one in ended]

    return await run_write(work)


def _latest(connection: Connection, owner: str) -> list[Insight]:
    """Return the insights of the latest runs and of the runs one edge away, the best first."""
    runs, edges = experiences.c, experience_edges.c
    ended = select(runs.run).filter_by(owner=owner).order_by(runs.created.desc())
    latest = list(connection.execute(ended.limit(CONSOLIDATION_PERIOD)).scalars())
    beside = select(edges.other).filter_by(owner=owner).where(edges.run.in_(latest))
    near = or_(insight_runs.c.run.in_(latest), insight_runs.c.run.in_(beside))
    return _select_guidance(connection, owner, near, MAX_CONSOLIDATED)


def _named(known: Sequence[Insight], groups: Sequence[Sequence[int]]) -> list[list[Insight]]:
    """Return the groups that a model named, each insight at most once, the best first."""
    left = dict(enumerate(known, start=1))
    found = []
    for group in groups:
        members = [left.pop(number) for number in dict.fromkeys(group) if number in left]
        if len(members) > 1:
            found.append(sorted(members, key=known.index))
    return found


def _alike(known: Sequence[Insight]) -> list[list[Insight]]:
    """Return which insights have nearly the same words, each group behind its best one."""
    groups = group_similar_texts([one.content for one in known], SAME)
    return [[known[place] for place in group] for group in groups]


def _restored(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    """Return those of some insights that a person brought back."""
    undone = select(events.c.item).where(events.c.owner == owner, events.c.item.in_(ids))
    return {*connection.execute(undone.filter_by(name="insight.undo")).scalars()}
