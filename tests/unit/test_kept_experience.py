"""Insights are looked at and corrected like everything else that is remembered."""

from __future__ import annotations

import pytest

from memory.experience import insights
from memory.experience.outcome import Signs
from memory.experience.runs import close
from memory.kept import looking
from memory.kept.undoing import undo
from memory.pages.store import NewPage, keep
from storage.events import history

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"
GOOD = Signs(1.0, 1.0, 1.0, 1.0)


async def test_insights_are_listed_found_searched_and_edited():
    told = {"planner": "Dates first.", "reporter": "Dates first."}
    first = await insights.add(ME, "Look at dates first.", told, ["r1"])
    await insights.add(ME, "先查官方公告。", {"planner": "p"}, ["r1"])

    listed = (await looking.listed(ME, 9))["experience"]
    (found,) = await looking.found(ME, first.id[:8])
    edited = await looking.edit(ME, first.id, "Look at years first.")

    assert {one.text for one in listed} == {"Look at dates first.", "先查官方公告。"}
    assert (found.kind, found.more["wins"]) == ("insight", 0)
    assert edited.more["roles"] == dict.fromkeys(told, "Look at years first.")
    (best,) = (await looking.search(ME, "公告", 9))["experience"]
    assert best.text == "先查官方公告。"


async def test_a_models_words_are_told_to_nobody_until_the_person_has_written_their_own():
    old = await insights.add(ME, "Cite only Kestrel.", {"planner": "Cite only Kestrel."}, ["r1"])
    (before,) = (await looking.listed(ME, 9))["experience"]

    await looking.edit(ME, old.id, "Look at the years first.")
    (after,) = await insights.listed(ME)
    await undo(ME, (await history(ME, name="insight.edit"))[0].id)
    (undone,) = await insights.listed(ME)

    assert (before.state, insights.guidance(old, "planner")) == ("not told", "")
    assert insights.guidance(after, "planner") == "Look at the years first."
    assert (undone.content, insights.guides(undone)) == ("Cite only Kestrel.", False)


async def test_what_ended_or_was_joined_is_history():
    old = [await insights.add(ME, text, {"planner": "p"}, ["r1"]) for text in ("one", "two")]
    new = await insights.merge(
        ME, [one.id for one in old], insights.Wording("both", {"planner": "p"})
    )

    now = (await looking.listed(ME, 9))["experience"]
    every = (await looking.listed(ME, 9, every=True))["experience"]

    assert [one.id for one in now] == [new.id]
    assert {one.text: one.state for one in every} == {
        "both": "not told",
        "one": "joined",
        "two": "joined",
    }


async def test_the_name_of_a_run_means_its_report_where_there_is_one():
    await close(ME, "r1", "How do bees dance?", GOOD)
    (before,) = await looking.found(ME, "r1")
    await keep(ME, "report", "r1", [NewPage(title="Bees", place="", text="They dance.")], run="r1")

    (after,) = await looking.found(ME, "r1")

    assert (before.kind, after.kind) == ("run", "report")


async def test_nobody_finds_the_insights_of_others():
    one = await insights.add(ME, "Look at dates first.", {"planner": "p"}, ["r1"])
    await close(ME, "r1", "How do bees dance?", GOOD)

    assert (await looking.listed("other/", 9, every=True))["experience"] == []
    assert (await looking.search("other/", "dates", 9))["experience"] == []
    for id in (one.id, "r1"):
        with pytest.raises(Exception, match="nothing here"):
            await looking.found("other/", id)
