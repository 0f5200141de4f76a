"""Turn lessons of runs into insights, merge those that say the same, and retire the useless."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy import Connection, func, or_, select

from config.errors import ErrorCode, Problem
from memory.experience import insights
from memory.experience.credit_assignment import win_rate_upper_bound
from memory.experience.insights import Insight, InsightText, has_guidance
from memory.experience.run_history import (
    PastRun,
    compare_meanings,
    find_past_run,
    find_past_run_in,
    find_past_runs_in,
    load_question_matrix,
    merge_scored_runs,
    question_vector,
)
from memory.experience.tables import experience_edges, experiences, insight_runs
from memory.experience.tables import insights as table
from memory.experience.utterances import Utterance, list_utterances_in
from prompts.methods import load_methods
from storage.engine import run_read, run_write
from storage.events import Event, lock_owner, log_event
from storage.tables import events
from text.tfidf import group_similar_texts

ALIKE = 0.3
"""The least cosine of a run that is compared with a new one."""

COMPARED = 12
"""Among so many similar runs those are looked for that a new one is compared with."""

SUCCESSES = 3
"""With so many earlier successes a new one is compared at the most."""

MAX_LESSONS = 5
"""So many lessons one run may teach."""


class Lesson(BaseModel):
    """One change of the insights; it holds no words of a model, which may be those of any page."""

    action: Literal["add", "agree", "disagree"]
    method: str = Field(
        default="",
        description="the name of the method to add",
        json_schema_extra={"enum": ["", *load_methods()]},
    )
    insight: int = Field(default=0, description="the number of the insight it is about")


class Lessons(BaseModel):
    """What was learnt."""

    lessons: list[Lesson]


class RunComparison(NamedTuple):
    """A run that ended, beside others that asked something similar."""

    new: PastRun
    steps: Sequence[Utterance]
    others: Sequence[tuple[PastRun, Sequence[Utterance]]]
    insights: Sequence[Insight]


async def load_run_comparison(owner: str, run: str) -> RunComparison | None:
    """Return a run with what it is best compared with; `None` where there is nothing to compare.

    The most similar run that ended otherwise, for a contrast; the most similar that were resolved
    like it, for what they have in common; and the insights of all of them.
    """
    asked = await find_past_run(owner, run)
    meanings = await compare_meanings(owner, asked.question, without=run) if asked else {}

    def look(connection: Connection) -> RunComparison | None:
        new = find_past_run_in(connection, owner, run)
        if new is None:
            return None
        matrix = load_question_matrix(connection, owner)
        words = matrix.nearest(question_vector(new.question), COMPARED, ALIKE, without=run)
        near = merge_scored_runs(words, meanings, COMPARED, ALIKE)
        known = {
            one.run: one for one in find_past_runs_in(connection, owner, [name for name, _ in near])
        }
        past = [known[name] for name, _ in near if name in known]
        good = new.status == "resolved"
        contrast = [one for one in past if (one.status == "resolved") != good][:1]
        common = [one for one in past if good and one.status == "resolved"][:SUCCESSES]
        compared = [*contrast, *common]
        if not compared:
            return None
        runs = [run, *(one.run for one in compared)]
        spoken = select(insight_runs.c.insight).where(
            insight_runs.c.owner == owner, insight_runs.c.run.in_(runs)
        )
        wanted = select(table).where(
            table.c.owner == owner, table.c.live == 1, table.c.id.in_(spoken)
        )
        held = [
            one
            for one in map(insights.insight_from_row, connection.execute(wanted))
            if has_guidance(one)
        ]
        steps = {one: list_utterances_in(connection, owner, one, main=True) for one in runs}
        others = [(one, steps[one.run]) for one in compared]
        return RunComparison(new, steps[run], others, sorted(held, key=lambda one: -one.score))

    return await run_read(look)


async def apply_lessons(
    owner: str, seen: RunComparison, lessons: Sequence[Lesson], language: str
) -> list[str]:
    """Change the insights as the lessons say; return the names that are no method.

    A number that was not shown changes nothing. The sentences that other runs are told are those
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
            said, run = method.sentence(language), seen.new.run
            told = {method.role: said}
            why = f"learnt of {run}"
            await insights.add_insight(owner, said, told, _teachers(seen), why=why, run=run)
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


def _teachers(seen: RunComparison) -> list[str]:
    """Return the runs that speak for a lesson: those that went well, or else what they all lacked.

    Of a contrast, the run that went well speaks for it.
    """
    every = [seen.new, *(past for past, _ in seen.others)]
    good = [one.run for one in every if _resolved(one)]
    return good or [one.run for one in every]


def _resolved(one: PastRun) -> bool:
    return one.status == "resolved"


CONSOLIDATION_PERIOD = 20
"""After so many runs of an owner the insights of these runs are looked through."""

MAX_INSIGHTS = 60
"""So many insights are looked through at the most, the newest."""

TIDY = "tidy"
"""What the event is about that says when the insights were looked through last."""

SAME = 0.7
"""From this mean cosine on, insights say the same in nearly the same words."""

MERGE_REASON = "they say the same"

HOPELESS = 0.5
"""An insight ends when its share of wins is likely below this (`outcome.most`)."""

FEWEST_LOST = 7
"""No insight that has lost less often is that bad."""

InsightGrouper = Callable[[Sequence[Insight]], Awaitable[Sequence[Sequence[int]]]]
"""Asks a model which of some insights say the same; their numbers are their places, from 1."""


class MergedInsight(NamedTuple):
    """An insight, and those it was made of."""

    insight: Insight
    merged: Sequence[Insight]


async def claim_consolidation(owner: str) -> bool:
    """Say whether as many runs have ended as are looked through together; one caller is told so."""

    def claim(connection: Connection) -> bool:
        lock_owner(connection, owner)
        its = events.c
        last = select(func.max(its.id)).where(its.owner == owner, its.item == TIDY)
        after = connection.execute(last).scalar() or 0
        runs = experiences.c
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
    """Join what says the same among the insights of the latest runs and of those beside them.

    A model that is asked may name those that say the same in other words; without one, those are
    joined that say it in nearly the same words. Either way they get the words of the best of them.
    An insight that is not joined stays as it is, and one that is joined is kept and says into
    which, so nothing that is known gets lost.

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
    """Join insights into one that tells each role the words of the best that may tell it any.

    It is in the words of the best one; where it tells words that are no method's, in those of the
    insight whose words they are, since they are told for its provenance.
    """
    told = {
        role: (said, one)
        for one in reversed(group)
        for role in one.projections
        if (said := insights.get_role_guidance(one, role))
    }
    free = [
        one for role, (said, one) in told.items() if not insights.is_method_sentence(said, role)
    ]
    best = min(free or group, key=group.index)
    projections = {role: said for role, (said, _) in told.items()}
    words = InsightText(best.content, projections, best.provenance, MERGE_REASON)
    return await insights.merge_insights(owner, [one.id for one in group], words)


async def retire_insights(owner: str, run: str = "") -> list[str]:
    """End the insights that were used often and to no good; return their ids.

    One that a person brought back stays.
    """

    def work(connection: Connection) -> list[str]:
        lock_owner(connection, owner)
        live = select(table).where(table.c.owner == owner, table.c.live == 1)
        used = live.where(table.c.uses - table.c.wins >= FEWEST_LOST)
        bad = [
            one
            for one in map(insights.insight_from_row, connection.execute(used))
            if _hopeless(one)
        ]
        back = _brought_back(connection, owner, [one.id for one in bad])
        for one in bad:
            if one.id not in back:
                insights.update_insight(connection, _ended(owner, one, run), {"live": 0})
        return [one.id for one in bad if one.id not in back]

    return await run_write(work)


def _latest(connection: Connection, owner: str) -> list[Insight]:
    """Return the insights of the latest runs and of the runs one edge away, the best first.

    Those that nobody is told are none of them: their words are no guidance.
    """
    runs, edges = experiences.c, experience_edges.c
    ended = (
        select(runs.run)
        .where(runs.owner == owner)
        .order_by(runs.created.desc())
        .limit(CONSOLIDATION_PERIOD)
    )
    latest = list(connection.execute(ended).scalars())
    beside = select(edges.other).where(edges.owner == owner, edges.run.in_(latest))
    near = or_(insight_runs.c.run.in_(latest), insight_runs.c.run.in_(beside))
    spoken = select(insight_runs.c.insight).where(insight_runs.c.owner == owner, near)
    wanted = select(table).where(table.c.owner == owner, table.c.live == 1, table.c.id.in_(spoken))
    newest = wanted.order_by(table.c.revision.desc()).limit(MAX_INSIGHTS)
    found = filter(
        insights.has_guidance, map(insights.insight_from_row, connection.execute(newest))
    )
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
    groups = group_similar_texts([one.content for one in known], SAME)
    return [[known[place] for place in group] for group in groups]


def _ended(owner: str, one: Insight, run: str) -> Event:
    was = {
        **insights.insight_event_data(one),
        "wins": one.wins,
        "uses": one.uses,
    }
    return Event(owner, "insight.end", one.id, was, None, "tool", run=run)


def _hopeless(one: Insight) -> bool:
    return win_rate_upper_bound(one.wins, one.uses) < HOPELESS


def _brought_back(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    undone = select(events.c.item).where(events.c.owner == owner, events.c.item.in_(ids))
    return {*connection.execute(undone.where(events.c.name == "insight.undo")).scalars()}
