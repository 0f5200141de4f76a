"""Turn what was learnt of runs into changes of the insights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from config.errors import Problem
from memory.experience import insights
from memory.experience.insights import Insight, guides
from memory.experience.runs import Experience, found, found_each, found_in
from memory.experience.similar import joined, matrix_of, meant, vector_of
from memory.experience.utterances import Utterance, said_in
from prompts.methods import methods
from storage.engine import read
from storage.tables import insight_runs
from storage.tables import insights as table

ALIKE = 0.3
"""The least cosine of a run that is compared with a new one."""

COMPARED = 12
"""Among so many similar runs those are looked for that a new one is compared with."""

SUCCESSES = 3
"""With so many earlier successes a new one is compared at the most."""

MOST = 5
"""So many lessons one run may teach."""


class Lesson(BaseModel):
    """One change of the insights; it holds no words of a model, which may be those of any page."""

    action: Literal["add", "agree", "disagree"]
    method: str = Field(
        default="",
        description="the name of the method to add",
        json_schema_extra={"enum": ["", *methods()]},
    )
    insight: int = Field(default=0, description="the number of the insight it is about")


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
        held = [one for one in map(insights.read_row, connection.execute(wanted)) if guides(one)]
        steps = {one: said_in(connection, owner, one, main=True) for one in runs}
        others = [(one, steps[one.run]) for one in compared]
        return Case(new, steps[run], others, sorted(held, key=lambda one: -one.score))

    return await read(look)


async def learn(owner: str, seen: Case, lessons: Sequence[Lesson], language: str) -> list[str]:
    """Change the insights as the lessons say; return the names that are no method.

    A number that was not shown changes nothing. The sentences that other runs are told are those
    of `prompts/methods.toml`, in `language`.
    """
    unknown: list[str] = []
    for lesson in lessons[:MOST]:
        method = methods().get(lesson.method)
        if lesson.action != "add":
            await _agree(owner, seen, lesson)
        elif method is None:
            unknown.append(lesson.method)
        else:
            said, run = method.said(language), seen.new.run
            told = {method.role: said}
            why = f"learnt of {run}"
            await insights.add(owner, said, told, _teachers(seen), why=why, run=run)
    return unknown


async def _agree(owner: str, seen: Case, lesson: Lesson) -> None:
    if not 1 <= lesson.insight <= len(seen.known):
        return
    known = seen.known[lesson.insight - 1].id
    try:
        await insights.agree(owner, known, seen.new.run, agrees=lesson.action == "agree")
    except Problem as problem:
        # An insight may have ended since it was shown.
        if problem.code != "insight_not_found":
            raise


def _teachers(seen: Case) -> list[str]:
    """Return the runs that speak for a lesson: those that went well, or else what they all lacked.

    Of a contrast, the run that went well speaks for it.
    """
    every = [seen.new, *(past for past, _ in seen.others)]
    good = [one.run for one in every if _resolved(one)]
    return good or [one.run for one in every]


def _resolved(one: Experience) -> bool:
    return one.status == "resolved"
