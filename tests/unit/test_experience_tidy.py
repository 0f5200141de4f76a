"""Insights that came to say the same are joined every few runs, and no other is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from memory.experience import insights
from memory.experience.insights import Insight
from memory.experience.lessons import Lesson
from memory.experience.outcome import Signs
from memory.experience.runs import close
from memory.experience.tidying import PERIOD, due, tidy

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"
GOOD = Signs(1.0, 1.0, 1.0, 1.0)
CHECK = "Check every date against the official announcement before it is reported"


async def ran(count: int) -> None:
    for number in range(count):
        await close(ME, f"r{number}", f"question number {number}", GOOD)


async def contents() -> list[str]:
    return sorted(one.content for one in await insights.listed(ME))


async def test_the_insights_are_looked_through_every_few_runs():
    await ran(PERIOD - 1)
    before = await due(ME)
    for run in ("last", "and one more"):
        await close(ME, run, "question", GOOD)
    now = sorted(await asyncio.gather(*(due(ME) for _ in range(3))))

    assert (before, now, await due("other/")) == (False, [False, False, True], False)


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        (f"{CHECK}.", f"{CHECK}!", "Search the archive of the newspaper first."),
        ("先核对官方公告的日期，再写报告。", "先核对官方公告的日期，再写报告！", "先查报纸档案。"),
    ],
)
async def test_the_same_in_nearly_the_same_words_is_joined_without_a_model(
    one: str, same: str, other: str
):
    await ran(3)
    old = [
        await insights.add(ME, text, {role: text}, [run])
        for text, role, run in ((one, "planner", "r0"), (same, "reporter", "r1"))
    ]
    kept = await insights.add(ME, other, {"planner": other}, ["r2"])

    (joined,) = await tidy(ME)

    assert {was.id for was in joined.old} == {was.id for was in old}
    assert set(joined.insight.projections) == {"planner", "reporter"}
    assert dict((await insights.supporters(ME))[joined.insight.id]) == {"r0": 1, "r1": 1}
    assert await contents() == sorted([joined.insight.content, other])
    assert kept in await insights.listed(ME)
    gone = [was for was in await insights.listed(ME, every=True) if not was.live]
    assert {was.merged_into for was in gone} == {joined.insight.id}


async def test_a_model_joins_what_was_shown_and_each_insight_once():
    await ran(3)
    for number in range(3):
        await insights.add(ME, f"lesson {number}", {"planner": "p"}, [f"r{number}"])

    async def ask(known: Sequence[Insight]) -> list[Lesson]:
        assert len(known) == 3
        return [
            Lesson(action="merge", insights=[1, 2, 2, 9], content="both", planner="p"),
            Lesson(action="merge", insights=[2, 3], content="again", planner="p"),
            Lesson(action="merge", insights=[3], content="alone", planner="p"),
        ]

    joined = await tidy(ME, ask)

    assert [one.insight.content for one in joined] == ["both"]
    assert len(await contents()) == 2


async def test_what_belongs_to_others_is_never_joined():
    await ran(2)
    await insights.add(ME, CHECK, {"planner": "p"}, ["r0"])
    await insights.add("other/", f"{CHECK}.", {"planner": "p"}, ["r1"])

    assert await tidy(ME) == await tidy("other/") == []
