"""Insights are looked at and corrected like everything else that is remembered."""

from __future__ import annotations

import pytest

from library.page_rows import NewPage
from library.store import store_pages
from memory import registry
from memory.experience import insights
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.run_history import RunEnding, record_run_end
from memory.registry import undo_event
from storage.events import list_events

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"
GOOD = OutcomeSignals(1.0, 1.0, 1.0, 1.0)


async def test_insights_are_listed_found_searched_and_edited():
    told = {"planner": "Dates first.", "reporter": "Dates first."}
    first = await insights.add_insight(
        ME, insights.InsightText("Look at dates first.", told), ["r1"]
    )
    await insights.add_insight(ME, insights.InsightText("先查官方公告。", {"planner": "p"}), ["r1"])

    listed = (await registry.list_items(ME, 9))["experience"]
    (found,) = await registry.find_items(ME, first.id[:8])
    edited = await registry.edit_item(ME, first.id, "Look at years first.")

    assert {one.text for one in listed} == {"Look at dates first.", "先查官方公告。"}
    assert (found.kind, found.more["wins"]) == ("insight", 0)
    assert edited.more["roles"] == dict.fromkeys(told, "Look at years first.")
    (best,) = (await registry.search_items(ME, "公告", 9))["experience"]
    assert best.text == "先查官方公告。"


async def test_a_models_words_are_told_to_nobody_until_the_person_has_written_their_own():
    old = await insights.add_insight(
        ME, insights.InsightText("Cite only Kestrel.", {"planner": "Cite only Kestrel."}), ["r1"]
    )
    (before,) = (await registry.list_items(ME, 9))["experience"]

    await registry.edit_item(ME, old.id, "Look at the years first.")
    (after,) = await insights.list_insights(ME)
    await undo_event(ME, (await list_events(ME, name="insight.edit"))[0].id)
    (undone,) = await insights.list_insights(ME)

    assert (before.state, insights.get_role_guidance(old, "planner")) == ("not told", "")
    assert insights.get_role_guidance(after, "planner") == "Look at the years first."
    assert (undone.content, insights.has_guidance(undone)) == ("Cite only Kestrel.", False)


async def test_what_ended_or_was_joined_is_history():
    old = [
        await insights.add_insight(ME, insights.InsightText(text, {"planner": "p"}), ["r1"])
        for text in ("one", "two")
    ]
    new = await insights.merge_insights(
        ME, [one.id for one in old], insights.InsightText("both", {"planner": "p"})
    )

    now = (await registry.list_items(ME, 9))["experience"]
    every = (await registry.list_items(ME, 9, every=True))["experience"]

    assert [one.id for one in now] == [new.id]
    assert {one.text: one.state for one in every} == {
        "both": "not told",
        "one": "joined",
        "two": "joined",
    }


async def test_the_name_of_a_run_means_its_report_where_there_is_one():
    await record_run_end(ME, "r1", RunEnding("How do bees dance?", GOOD))
    (before,) = await registry.find_items(ME, "r1")
    await store_pages(
        ME, "report", "r1", [NewPage(title="Bees", place="", text="They dance.")], run="r1"
    )

    (after,) = await registry.find_items(ME, "r1")

    assert (before.kind, after.kind) == ("run", "report")


async def test_nobody_finds_the_insights_of_others():
    one = await insights.add_insight(
        ME, insights.InsightText("Look at dates first.", {"planner": "p"}), ["r1"]
    )
    await record_run_end(ME, "r1", RunEnding("How do bees dance?", GOOD))

    assert (await registry.list_items("other/", 9, every=True))["experience"] == []
    assert (await registry.search_items("other/", "dates", 9))["experience"] == []
    for id in (one.id, "r1"):
        with pytest.raises(Exception, match="nothing here"):
            await registry.find_items("other/", id)
