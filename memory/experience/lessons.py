"""Turn what was learnt of runs into changes of the insights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from config.errors import Problem
from memory.experience import insights
from memory.experience.gate import heard_in, refusal
from memory.experience.insights import LONGEST, Insight, Wording
from memory.experience.memory import ROLES
from memory.experience.runs import Experience, found, found_each, found_in
from memory.experience.similar import joined, matrix_of, meant, vector_of
from memory.experience.utterances import Utterance, said_in
from storage.engine import read
from storage.tables import insight_runs
from storage.tables import insights as table

ALIKE = 0.3
"""The least cosine of a run that is compared with a new one."""

COMPARED = 12
"""Among so many similar runs those are looked for that a new one is compared with."""

SUCCESSES = 3
"""With so many earlier successes a new one is compared at the most."""


class Lesson(BaseModel):
    """One change of the insights."""

    action: Literal["add", "edit", "agree", "disagree", "merge"]
    insights: list[int] = Field(default=[], description="numbers of the insights it is about")
    when: str = Field(default="", description="in which case it holds: for which kind of question")
    content: str = Field(default="", description="what to do differently, in one sentence")
    planner: str = Field(default="", description="what it means for who plans; empty if nothing")
    researcher: str = Field(default="", description="the same for who searches and reads")
    coder: str = Field(default="", description="the same for who computes")
    reflector: str = Field(default="", description="the same for who reviews a finding")
    reporter: str = Field(default="", description="the same for who writes the report")


class Lessons(BaseModel):
    """What was learnt."""

    lessons: list[Lesson]


class Case(NamedTuple):
    """A run that ended, beside others that asked something similar."""

    new: Experience
    steps: Sequence[Utterance]
    others: Sequence[tuple[Experience, Sequence[Utterance]]]
    known: Sequence[Insight]


async def case(owner: str, run: str) -> Case | None:
    """Return a run with what it is best compared with; `None` where there is nothing to compare.

    The most similar run that ended otherwise, for a contrast; the most similar that were resolved
    like it, for what they have in common; and the insights of all of them.
    """
    asked = await found(owner, run)
    meanings = await meant(owner, asked.question, without=run) if asked else {}

    def look(connection: Connection) -> Case | None:
        new = found_in(connection, owner, run)
        if new is None:
            return None
        matrix = matrix_of(connection, owner)
        words = matrix.nearest(vector_of(new.question), COMPARED, ALIKE, without=run)
        near = joined(words, meanings, COMPARED, ALIKE)
        known = {one.run: one for one in found_each(connection, owner, [name for name, _ in near])}
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
        held = [insights.read_row(row) for row in connection.execute(wanted)]
        steps = {one: said_in(connection, owner, one, main=True) for one in runs}
        others = [(one, steps[one.run]) for one in compared]
        return Case(new, steps[run], others, sorted(held, key=lambda one: -one.score))

    return await read(look)


async def learn(owner: str, seen: Case, lessons: Sequence[Lesson]) -> list[str]:
    """Change the insights as the lessons say; return why some may not be kept.

    A number that was not shown, or a lesson without words, changes nothing.
    """
    refused: list[str] = []
    heard = await heard_in(owner, [seen.new.run, *(past.run for past, _ in seen.others)])
    for lesson in lessons:
        if why := await refusal(said_by(lesson), heard):
            refused.append(why)
            continue
        ids = [seen.known[n - 1].id for n in lesson.insights if 1 <= n <= len(seen.known)]
        try:
            await _learn(owner, seen, lesson, list(dict.fromkeys(ids)), heard.provenance)
        except Problem as problem:
            # An insight may have ended since it was shown.
            if problem.code != "insight_not_found":
                raise
    return refused


def said_by(lesson: Lesson) -> list[str]:
    """Return all that a lesson says."""
    return [lesson.when, lesson.content, *(str(getattr(lesson, role)) for role in ROLES)]


async def _learn(
    owner: str, seen: Case, lesson: Lesson, ids: Sequence[str], provenance: str
) -> None:
    told, run = projections(lesson), seen.new.run
    content = _in_case(lesson.when, lesson.content)
    new = Wording(content, told, provenance, f"learnt of {run}", run)
    worded = bool(new.content and told)
    if lesson.action == "add" and worded:
        await insights.add(
            owner, content, told, _teachers(seen), provenance=provenance, why=new.why, run=run
        )
    elif lesson.action == "edit" and len(ids) == 1 and worded:
        await insights.edit(owner, ids[0], new)
    elif lesson.action in ("agree", "disagree") and len(ids) == 1:
        await insights.agree(owner, ids[0], run, agrees=lesson.action == "agree")
    elif lesson.action == "merge" and len(ids) > 1 and worded:
        await insights.merge(owner, ids, new)


def _teachers(seen: Case) -> list[str]:
    """Return the runs that speak for a lesson: those that went well, or else what they all lacked.

    Of a contrast, the run that went well speaks for it.
    """
    every = [seen.new, *(past for past, _ in seen.others)]
    good = [one.run for one in every if _resolved(one)]
    return good or [one.run for one in every]


def projections(lesson: Lesson) -> Mapping[str, str]:
    """Return what a lesson says to each role it concerns, with the case in which it holds."""
    said = {role: _in_case(lesson.when, str(getattr(lesson, role))) for role in ROLES}
    return {role: text for role, text in said.items() if text}


def _in_case(when: str, said: str) -> str:
    """Return what to do behind the case in which to do it, unless it says so itself."""
    when, said = when.strip().rstrip(".:,;。：，；"), said.strip()
    if not said or not when or said.casefold().startswith(when.casefold()):
        return said[:LONGEST]
    return f"{when}{': ' if when.isascii() else '：'}{said}"[:LONGEST]


def _resolved(one: Experience) -> bool:
    return one.status == "resolved"
