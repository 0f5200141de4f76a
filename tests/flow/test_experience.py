"""How a run went is kept as it goes, and the next one that is like it is told of it."""

from __future__ import annotations

import re

import pytest

from graph.session import ThreadSession, open_session
from memory.experience import insights
from memory.experience.consolidation import CONSOLIDATION_PERIOD
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.related_runs import load_related_runs
from memory.experience.run_history import RunEnding, find_past_run, record_run_end
from memory.experience.utterances import list_utterances
from memory.learning.run_feedback import record_feedback
from prompts.methods import load_methods
from runs.lifecycle import find_run
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage",
    "Rewrite",
    "Draft",
    "researcher",
    "Verdict",
    "Enough",
    "reporter",
    "Checks",
    "Ratings",
    "Lessons",
)

ME = "local/"
BEES = "How do bees dance?"
LIKE = "How long do bees dance?"
GOOD, BAD = OutcomeSignals(1.0, 1.0, 1.0, 1.0), OutcomeSignals(0.0, 0.0, 0.0, 1.0)


def systems(script: Script, name: str) -> list[str]:
    return [str(messages[0].text) for asked, messages in script.asked if asked == name]


async def test_a_run_leaves_what_was_said_and_done_and_how_it_ended(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)

    left = await find_past_run(ME, "t1-1")
    assert left is not None
    assert (left.question, left.status) == (BEES, "resolved")
    every = await list_utterances(ME, "t1-1")
    assert {"planner", "files", "researcher", "reporter"} <= {one.who for one in every}
    searched = [one for one in every if one.who == "files" and one.step]
    assert "dance" in searched[0].observation
    key = await list_utterances(ME, "t1-1", main=True)
    assert key[-1].who == "reporter"
    assert {one.id for one in key} < {one.id for one in every}


async def test_a_run_that_is_not_sure_of_its_answer_says_so_first_and_is_learnt_as_no_win(
    thread: ThreadSession, choices: dict[str, object]
):
    asked = "Who owns the hive where bees dance the waggle dance?"
    keyless = {**choices, "models": {"default": "extractive:"}}

    outcome = await thread.begin(asked, make(keyless), quiet)

    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["notices"][0].startswith("Partial: the passages below")
    assert "owns" in outcome.state["report"]["notices"][0]
    ended = await find_past_run(ME, "t1-1")
    assert ended is not None
    assert ended.status != "resolved"


async def test_what_was_said_so_far_is_there_before_a_run_has_ended(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices, auto_accept=False), quiet)

    assert {"files", "planner"} <= {one.who for one in await list_utterances(ME, "t1-1")}
    assert await find_past_run(ME, "t1-1") is None


async def test_what_the_memory_asks_about_other_runs_is_no_step_of_this_one(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    for run in "abcdef":
        await record_run_end(ME, run, RunEnding(BEES, GOOD))
    await thread.begin(f"My hives stand in Oslo. {BEES}", make(choices), quiet)

    assert {"Ratings", "Learnt", "Lessons"} <= {*script.names()}
    assert "memorizer" not in {one.who for one in await list_utterances(ME, "t1-1")}


async def test_the_next_run_of_this_kind_is_told_and_its_end_is_credited(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)
    one = await insights.add_insight(
        ME,
        insights.InsightText("Look for dates.", {"planner": "Plan for dates."}, provenance="user"),
        ["t1-1"],
    )

    async with open_session("t2") as other:
        await other.begin(LIKE, make(choices), quiet)

    assert "Plan for dates." in systems(script, "Draft")[-1]
    assert "Plan for dates." not in systems(script, "reporter")[-1]
    assert dict((await insights.list_insight_support(ME))[one.id]) == {"t1-1": 1, "t2-1": 1}
    (now,) = await insights.list_insights(ME)
    assert (now.wins, now.uses) == (1, 1)


async def test_a_model_rates_the_runs_that_may_teach_something(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    runs = "abcdef"
    for run in runs:
        await record_run_end(ME, run, RunEnding(f"{BEES} {run}", GOOD))
    script.on("Ratings", {"ratings": [{"run": 1, "relevance": 2}, {"run": 9, "relevance": 9}]})

    await thread.begin(BEES, make(choices), quiet)

    rated = {one.past.run: one.rating for one in await load_related_runs(ME, "t1-1")}
    assert set(rated) == {*runs}
    assert 0.2 in rated.values()


async def test_no_call_is_spent_on_rating_where_there_is_nothing_to_choose(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    for run in "abcde":
        await record_run_end(ME, run, RunEnding(f"{BEES} {run}", GOOD))
    for number in range(3):
        await record_run_end(
            ME, f"trains{number}", RunEnding("How do I configure signals of trains?", GOOD)
        )

    await thread.begin(BEES, make(choices), quiet)
    for question in ("How long do bees dance?", "How fast do bees dance?"):
        await thread.begin(question, make(choices), quiet)

    assert {one.past.run for one in await load_related_runs(ME, "t1-1")} == {*"abcde"}
    assert "Ratings" not in script.names()


async def test_a_question_that_stands_alone_is_told_nothing_of_what_was_asked_before_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)
    await thread.begin("How do I configure signals of trains?", make(choices), quiet)

    assert await load_related_runs(ME, "t1-2") == []


async def test_a_run_is_compared_with_one_that_ended_otherwise(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await record_run_end(ME, "bad", RunEnding(f"{BEES} 1927", BAD, reason="no_evidence"))
    script.on("Lessons", {"lessons": [{"action": "add", "method": "add_the_year"}]})

    await thread.begin(BEES, make(choices), quiet)

    (asked,) = script.prompts("Lessons")
    assert 'ended="failed"' in asked
    assert 'why="no_evidence"' in asked
    (one,) = await insights.list_insights(ME)
    assert (one.content, (await insights.list_insight_support(ME))[one.id]) == (
        "Add the year to the query.",
        [("t1-1", 1)],
    )


async def test_every_few_runs_a_model_says_which_insights_are_the_same(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    for number in range(CONSOLIDATION_PERIOD - 1):
        await record_run_end(
            ME, f"r{number}", RunEnding(f"a question of trains, number {number}", GOOD)
        )
    for number, name in enumerate(("add_the_year", "other_words", "narrower")):
        said = load_methods()[name].english
        await insights.add_insight(
            ME, insights.InsightText(said, {"researcher": said}), [f"r{number}"]
        )
    script.on("Same", {"groups": [[1, 2]]})

    await thread.begin(BEES, make(choices), quiet)

    assert "Same" in script.names()
    assert len(await insights.list_insights(ME)) == 2


async def test_a_persons_word_outweighs_how_the_run_seemed_to_end(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin(BEES, make(choices), quiet)

    await record_feedback(await find_run(ME, "t1-1"), "down")

    left = await find_past_run(ME, "t1-1")
    assert left is not None
    assert left.status != "resolved"


async def test_a_memory_that_cannot_be_asked_costs_only_the_lesson(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
):
    await record_run_end(ME, "a", RunEnding(BEES, GOOD))
    script.on("Ratings", "no json at all")
    script.on("Lessons", "no json at all")

    outcome = await thread.begin(LIKE, make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert await insights.list_insights(ME) == []


async def test_what_was_learnt_of_a_thread_is_not_told_back_to_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    reviewed = make(choices, auto_accept=False)
    await thread.begin(BEES, reviewed, quiet)
    await thread.answer_review(
        {"type": "reject", "message": "nothing about wasps"}, reviewed, quiet
    )
    await thread.answer_review({"type": "approve"}, reviewed, quiet)
    await insights.add_insight(
        ME,
        insights.InsightText("Look for dates.", {"planner": "Plan for dates."}, provenance="user"),
        ["t1-1"],
    )

    await thread.begin(LIKE, make(choices), quiet)

    assert [one.past.run for one in await load_related_runs(ME, "t1-2")] == ["t1-1"]
    for role in ("Draft", "researcher", "reporter"):
        (told,) = re.findall(r"<experience>.*?</experience>", systems(script, role)[-1], re.DOTALL)
        assert "how a similar question was answered" not in told
        assert "Plan for dates." not in told
        assert told.count("nothing about wasps") == 1
        assert "of this conversation" in told


async def test_what_the_person_rejected_is_told_to_the_next_run_of_this_kind(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    reviewed = make(choices, auto_accept=False)
    await thread.begin(BEES, reviewed, quiet)
    await thread.answer_review(
        {"type": "reject", "message": "nothing about wasps"}, reviewed, quiet
    )
    await thread.answer_review({"type": "approve"}, reviewed, quiet)

    async with open_session("t2") as other:
        await other.begin(LIKE, make(choices), quiet)

    for role in ("Draft", "researcher", "Verdict", "reporter"):
        assert "person, against a plan: nothing about wasps" in systems(script, role)[-1]
    assert "planner:" not in systems(script, "reporter")[-1]
    told = [text for role in ("Draft", "researcher") for text in systems(script, role)]
    assert not [
        text for text in told if re.search(r"wrote \d+ words|^\w+: [{\[]", text, re.MULTILINE)
    ]


async def test_a_success_without_a_model_leaves_no_insight(
    thread: ThreadSession, choices: dict[str, object]
):
    await thread.begin("Who described the waggle dance?", make({**choices, "models": {}}), quiet)

    left = await find_past_run(ME, "t1-1")
    assert left is not None
    assert left.status == "resolved"
    assert await insights.list_insights(ME) == []


async def test_a_run_that_ended_without_evidence_is_not_won(
    thread: ThreadSession, choices: dict[str, object]
):
    await record_run_end(ME, "a", RunEnding("What is quantum chromodynamics?", GOOD))
    await insights.add_insight(
        ME,
        insights.InsightText("Look for dates.", {"planner": "Plan for dates."}, provenance="user"),
        ["a"],
    )
    context = make({**choices, "models": {}})

    outcome = await thread.begin("Who invented quantum chromodynamics?", context, quiet)

    left = await find_past_run(ME, "t1-1")
    assert left is not None
    assert outcome.state["status"] != "succeeded"
    assert left.status != "resolved"
    assert {one.wins for one in await insights.list_insights(ME)} == {0}


async def test_small_talk_is_no_run_to_learn_from(
    thread: ThreadSession, choices: dict[str, object]
):
    await thread.begin("Hello!", make({**choices, "models": {}}), quiet)

    assert await find_past_run(ME, "t1-1") is None
