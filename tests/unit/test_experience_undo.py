"""What was done to insights, and that a run teaches anything, can be taken back."""

from __future__ import annotations

import pytest

from config.errors import Problem
from memory.experience import insights, tidying
from memory.experience.credits import credit
from memory.experience.outcome import Signs
from memory.experience.recalling import learnt, prepare
from memory.experience.runs import close
from memory.kept.undoing import undo, undo_run
from storage.events import history

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"
GOOD, BAD = Signs(1.0, 1.0, 1.0, 1.0), Signs(0.0, 0.0, 0.0, 1.0)
BEES = "How do honey bees tell each other where food is?"


async def newest(name: str) -> int:
    return (await history(ME, name=name))[0].id


async def contents() -> list[str]:
    return sorted(one.content for one in await insights.listed(ME))


def worded(text: str) -> insights.Wording:
    return insights.Wording(text, {"planner": text})


async def test_an_addition_is_taken_back_once_and_brought_back_by_undoing_that():
    await insights.add(ME, "A", {"planner": "p"}, ["r1"])
    added = await newest("insight.add")

    (undone,) = await undo(ME, added)
    after = await contents()
    with pytest.raises(Problem, match="taken back already"):
        await undo(ME, added)
    await undo(ME, undone.id)

    assert (after, await contents()) == ([], ["A"])


async def test_an_edit_is_taken_back_and_what_was_changed_since_is_not():
    one = await insights.add(ME, "A", {"planner": "p"}, ["r1"])
    await insights.edit(ME, one.id, worded("B"))
    first = await newest("insight.edit")
    with pytest.raises(Problem, match="changed since"):
        await undo(ME, await newest("insight.add"))
    await insights.edit(ME, one.id, worded("C"))
    with pytest.raises(Problem, match="changed since"):
        await undo(ME, first)

    await undo(ME, await newest("insight.edit"))

    assert await contents() == ["B"]


async def test_a_merge_is_taken_back_with_the_record_of_each():
    a, b = [await insights.add(ME, text, {"planner": "p"}, ["r1"]) for text in "AB"]
    await credit(ME, "x", "planner", [a.id])
    await insights.merge(ME, [a.id, b.id], worded("M"))
    await close(ME, "x", BEES, GOOD)

    await undo(ME, await newest("insight.merge"))

    assert await contents() == ["A", "B"]
    record = {one.content: (one.wins, one.uses) for one in await insights.listed(ME)}
    assert record == {"A": (1, 1), "B": (0, 0)}


async def test_a_disagreement_is_taken_back():
    one = await insights.add(ME, "A", {"planner": "p"}, ["r1"])
    await insights.agree(ME, one.id, "r2", agrees=False)

    await undo(ME, await newest("insight.disagree"))

    assert (await insights.supporters(ME))[one.id] == [("r1", 1)]


async def test_an_insight_that_a_person_brought_back_does_not_end_again():
    one = await insights.add(ME, "A", {"planner": "p"}, ["r1"])
    for number in range(8):
        await credit(ME, f"x{number}", "planner", [one.id])
        await close(ME, f"x{number}", BEES, BAD)
    assert await tidying.retire(ME) == [one.id]

    await undo(ME, await newest("insight.end"))

    assert await tidying.retire(ME) == []
    assert await contents() == ["A"]


async def test_a_run_that_is_taken_back_teaches_nothing_until_that_is_taken_back():
    await close(ME, "r1", BEES, BAD)
    await close(ME, "r1", BEES, GOOD)
    await insights.add(ME, "A", {"planner": "p"}, ["r1"], run="r1")

    undone = await undo_run(ME, "r1")
    gone = [one.past.run for one in await prepare(ME, "new", BEES)]
    left = await contents()
    await undo(ME, undone.event)

    assert (gone, left, undone.left) == ([], [], [])
    again = await prepare(ME, "newer", BEES)
    assert [one.past.run for one in again] == ["r1"]
    assert [one.insight.content for one in await learnt(ME, again)] == ["A"]
