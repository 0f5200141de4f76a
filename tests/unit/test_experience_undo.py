"""What was done to insights, and that a run teaches anything, can be taken back."""

from __future__ import annotations

import pytest

from config.errors import Problem
from memory.experience import consolidation, insights
from memory.experience.credit_assignment import OutcomeSignals, credit_insights
from memory.experience.related_runs import list_relevant_insights, store_related_runs
from memory.experience.run_history import RunEnding, record_run_end
from memory.registry import undo_event, undo_run
from storage.events import list_events

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"
GOOD, BAD = OutcomeSignals(1.0, 1.0, 1.0, 1.0), OutcomeSignals(0.0, 0.0, 0.0, 1.0)
BEES = "How do honey bees tell each other where food is?"


async def newest(name: str) -> int:
    return (await list_events(ME, name=name))[0].id


async def contents() -> list[str]:
    return sorted(one.content for one in await insights.list_insights(ME))


def worded(text: str) -> insights.InsightText:
    return insights.InsightText(text, {"planner": text})


async def test_an_addition_is_taken_back_once_and_brought_back_by_undoing_that():
    await insights.add_insight(ME, insights.InsightText("A", {"planner": "p"}), ["r1"])
    added = await newest("insight.add")

    (undone,) = await undo_event(ME, added)
    after = await contents()
    with pytest.raises(Problem, match="taken back already"):
        await undo_event(ME, added)
    await undo_event(ME, undone.id)

    assert (after, await contents()) == ([], ["A"])


async def test_an_edit_is_taken_back_and_what_was_changed_since_is_not():
    one = await insights.add_insight(ME, insights.InsightText("A", {"planner": "p"}), ["r1"])
    await insights.edit_insight(ME, one.id, worded("B"))
    first = await newest("insight.edit")
    with pytest.raises(Problem, match="changed since"):
        await undo_event(ME, await newest("insight.add"))
    await insights.edit_insight(ME, one.id, worded("C"))
    with pytest.raises(Problem, match="changed since"):
        await undo_event(ME, first)

    await undo_event(ME, await newest("insight.edit"))

    assert await contents() == ["B"]


async def test_a_merge_is_taken_back_with_the_record_of_each():
    a, b = [
        await insights.add_insight(ME, insights.InsightText(text, {"planner": "p"}), ["r1"])
        for text in "AB"
    ]
    await credit_insights(ME, "x", "planner", [a.id])
    await insights.merge_insights(ME, [a.id, b.id], worded("M"))
    await record_run_end(ME, "x", RunEnding(BEES, GOOD))

    await undo_event(ME, await newest("insight.merge"))

    assert await contents() == ["A", "B"]
    record = {one.content: (one.wins, one.uses) for one in await insights.list_insights(ME)}
    assert record == {"A": (1, 1), "B": (0, 0)}


async def test_a_disagreement_is_taken_back():
    one = await insights.add_insight(ME, insights.InsightText("A", {"planner": "p"}), ["r1"])
    await insights.record_agreement(ME, one.id, "r2", agrees=False)

    await undo_event(ME, await newest("insight.disagree"))

    assert (await insights.list_insight_support(ME))[one.id] == [("r1", 1)]


async def test_an_insight_that_a_person_brought_back_does_not_end_again():
    one = await insights.add_insight(ME, insights.InsightText("A", {"planner": "p"}), ["r1"])
    for number in range(8):
        await credit_insights(ME, f"x{number}", "planner", [one.id])
        await record_run_end(ME, f"x{number}", RunEnding(BEES, BAD))
    assert await consolidation.retire_insights(ME) == [one.id]

    await undo_event(ME, await newest("insight.end"))

    assert await consolidation.retire_insights(ME) == []
    assert await contents() == ["A"]


async def test_a_run_that_is_taken_back_teaches_nothing_until_that_is_taken_back():
    await record_run_end(ME, "r1", RunEnding(BEES, BAD))
    await record_run_end(ME, "r1", RunEnding(BEES, GOOD))
    await insights.add_insight(ME, insights.InsightText("A", {"planner": "p"}, run="r1"), ["r1"])

    undone = await undo_run(ME, "r1")
    gone = [one.past.run for one in await store_related_runs(ME, "new", BEES)]
    left = await contents()
    await undo_event(ME, undone.event)

    assert (gone, left, undone.conflicts) == ([], [], [])
    again = await store_related_runs(ME, "newer", BEES)
    assert [one.past.run for one in again] == ["r1"]
    assert [one.insight.content for one in await list_relevant_insights(ME, again)] == ["A"]
