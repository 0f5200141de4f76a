"""What a person says against a plan holds for the rest of the run."""

from __future__ import annotations

import pytest

from graph.records import entries_of_turn
from graph.session import ThreadSession, open_session
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_memory import QUESTION, say

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

LATER = ("researcher", "Verdict", "Enough", "reporter")
"""Who works behind the approval of a plan, by the schema or the role."""


@pytest.fixture
def reviewed(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "auto_accept": False}


def rejection(words: str) -> dict[str, object]:
    return {"type": "reject", "message": words}


def told(script: Script, name: str) -> list[str]:
    """Return the system prompts of the calls of a name, oldest first."""
    return [str(messages[0].text) for asked, messages in script.asked if asked == name]


async def test_what_was_said_against_a_plan_reaches_every_later_call(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", "Bees dance [S1].")
    script.on("Verdict", {"passed": False, "feedback": "more"}, {"passed": True})
    await thread.begin("How do bees dance?", make(reviewed), quiet)
    await thread.answer_review(rejection("leave the honey yields out"), make(reviewed), quiet)

    await thread.answer_review({"type": "approve"}, make(reviewed), quiet)

    assert len(told(script, "researcher")) == 2
    for name in LATER:
        assert told(script, name), name
        assert all("leave the honey yields out" in prompt for prompt in told(script, name)), name


async def test_the_memory_researcher_beside_the_steps_is_told_them_too(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    await say("Nora likes her parrot.")
    script.on("Rewrite", {"question": QUESTION, "queries": []})
    script.on("Draft", draft("the parrot"))
    script.on("Lookup", {"keywords": ["parrot"], "meanings": []})
    script.on("Notes", {"facts": []})
    await thread.begin(QUESTION, make(reviewed), quiet)
    await thread.answer_review(rejection("leave the cage out"), make(reviewed), quiet)

    await thread.answer_review({"type": "approve"}, make(reviewed), quiet)

    for name in ("Lookup", "Notes"):
        assert told(script, name), name
        assert all("leave the cage out" in prompt for prompt in told(script, name)), name


async def test_the_words_of_several_rejections_hold_together(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees dance?", make(reviewed), quiet)
    for words in ("no figures, please", "nothing about <wasps>"):
        await thread.answer_review(rejection(words), make(reviewed), quiet)

    await thread.answer_review({"type": "approve"}, make(reviewed), quiet)

    assert "no figures, please" in told(script, "Draft")[-1]
    wishes = "<wish>\nno figures, please\n</wish>\n<wish>\nnothing about <wasps>\n</wish>"
    assert all(wishes in prompt for name in LATER for prompt in told(script, name))


async def test_they_hold_behind_an_edit_and_when_no_more_plans_are_made(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make(reviewed, max_revisions=0)
    outcome = await thread.begin("How do bees dance?", context, quiet)
    assert outcome.request
    await thread.answer_review(rejection("without the history"), context, quiet)

    action = {"name": "research_plan", "args": outcome.request["plan"]}
    await thread.answer_review({"type": "edit", "edited_action": action}, context, quiet)

    assert all("without the history" in prompt for prompt in told(script, "reporter"))


async def test_they_hold_after_the_run_was_taken_up_again_by_another_process(
    choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make({**choices, "auto_accept": False})
    async with open_session("t2") as first:
        await first.begin("蜜蜂怎么跳舞？", context, quiet)
        await first.answer_review(rejection("不要提黄蜂"), context, quiet)

    async with open_session("t2") as second:
        await second.answer_review({"type": "approve"}, context, quiet)

    (prompt,) = told(script, "reporter")
    assert "<wish>\n不要提黄蜂\n</wish>" in prompt
    assert "`<wishes>` 是用户就这个问题的计划说过的话" in prompt


async def test_they_are_over_with_the_question_they_were_said_about(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees dance?", make(reviewed), quiet)
    await thread.answer_review(rejection("leave the honey yields out"), make(reviewed), quiet)
    await thread.answer_review({"type": "approve"}, make(reviewed), quiet)
    before = len(script.asked)

    await thread.begin("How do bees spend the winter?", make(choices_of(reviewed)), quiet)

    later = [str(messages[0].text) for _, messages in script.asked[before:]]
    assert not any("<wishes>\n" in prompt for prompt in later)


async def test_an_empty_rejection_is_no_wish(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees dance?", make(reviewed), quiet)

    outcome = await thread.answer_review(rejection(" "), make(reviewed), quiet)

    assert outcome.state["wishes"] == []


def choices_of(reviewed: dict[str, object]) -> dict[str, object]:
    return {**reviewed, "auto_accept": True}


async def test_without_a_model_what_a_person_does_not_want_is_not_quoted(
    thread: ThreadSession, reviewed: dict[str, object]
):
    keyless = make({**reviewed, "models": {"default": "extractive:"}})
    await thread.begin("How do bees form a winter cluster?", keyless, quiet)
    await thread.answer_review(rejection("please leave the honey out"), keyless, quiet)

    state = (await thread.answer_review({"type": "approve"}, keyless, quiet)).state

    assert "14 degrees" in state["report"]["body"]
    assert "honey" not in state["report"]["body"]


async def test_nothing_is_added_to_a_plan_that_a_person_has_edited(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Enough", {"enough": False, "missing": [{"title": "winter cluster"}]})
    await thread.begin("How do bees dance, and how do they winter?", make(reviewed), quiet)
    edit = {"name": "research_plan", "args": {"steps": "1. The waggle dance"}}

    outcome = await thread.answer_review(
        {"type": "edit", "edited_action": edit}, make(reviewed), quiet
    )

    assert [one["title"] for one in entries_of_turn(outcome.state["findings"], 1).values()] == [
        "The waggle dance"
    ]
    assert not outcome.state["follow_ups"]
