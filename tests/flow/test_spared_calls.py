"""A run makes no call that cannot change anything."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Finding, entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

TRUE = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'
LONGER = "A longer waggle run means that the food is farther away [S1]."
WRONG = "A longer waggle run means that the food is sweeter and warmer [S1]."


def finding_of(outcome: SessionOutcome) -> Finding:
    found: list[Finding] = list(entries_of_turn(outcome.state["findings"], 1).values())
    return found[0]


async def begun(thread: ThreadSession, choices: dict[str, object], **more: Any) -> SessionOutcome:
    return await thread.begin("How do bees dance?", make(choices, **more), quiet)


async def test_nobody_judges_findings_that_all_passed_and_left_nothing_open(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Verdict", {"passed": True})
    await begun(thread, choices)

    assert "Enough" not in script.names()


@pytest.mark.parametrize(
    "verdict",
    [{"passed": True, "open": ["round dances"]}, {"passed": False, "feedback": "Say when."}],
)
async def test_findings_are_judged_where_a_review_objected_or_left_something_open(
    thread: ThreadSession, choices: dict[str, object], script: Script, verdict: dict[str, Any]
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", verdict)
    await begun(thread, choices)

    assert "Enough" in script.names()


async def test_the_judge_is_told_what_reviews_left_open(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True, "open": ["round dances"]})
    await begun(thread, choices)

    assert "<open>\nround dances\n</open>" in script.prompts("Enough")[0]


@pytest.mark.parametrize("again", [[], ["round dances"]])
async def test_what_a_review_left_open_is_reviewed_again_with_the_step_that_builds_on_it(
    thread: ThreadSession, choices: dict[str, object], script: Script, again: list[str]
):
    plan: Any = draft("waggle dance", "winter cluster")
    plan["steps"][1]["needs"] = [1]
    script.on("Draft", plan)
    script.on(
        "Verdict",
        {"passed": True, "open": ["round dances"]},
        {"passed": True, "open": again},
    )
    await begun(thread, choices)

    first, second = script.prompts("Verdict")
    assert "<open>" not in first
    assert "<open>\nround dances\n</open>" in second
    judged = script.prompts("Enough")
    assert len(judged) == len(again)
    assert all(one.count("round dances") == 1 for one in judged)


async def test_nobody_judges_where_no_round_is_left(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True, "open": ["round dances"]})
    await begun(thread, choices, max_rounds=0)

    assert "Enough" not in script.names()


async def test_a_review_is_told_the_other_steps(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    await begun(thread, choices)

    shown = next(one for one in script.prompts("Verdict") if "<step>\nwaggle" in one)
    assert "<others>\nwinter cluster\n</others>" in shown


async def test_a_step_that_cannot_be_done_again_is_not_reviewed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    outcome = await begun(thread, choices, max_reflections=0)

    assert "Verdict" not in script.names()
    assert (finding_of(outcome)["status"], finding_of(outcome)["review"]) == ("ok", "")


async def test_a_redo_that_mends_what_was_wrong_is_not_reviewed_and_stands(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {WRONG}", f"{TRUE} {LONGER}")
    script.on("Verdict", {"passed": False, "wrong": [WRONG], "feedback": "Farther, not sweeter."})
    outcome = await begun(thread, choices)

    assert script.names().count("Verdict") == 1
    assert finding_of(outcome)["status"] == "ok"
    assert "farther away" in finding_of(outcome)["text"]


async def test_a_redo_that_keeps_what_was_wrong_loses_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {WRONG}", f"{TRUE} {LONGER} {WRONG}")
    script.on("Verdict", {"passed": False, "wrong": [WRONG], "feedback": "Farther, not sweeter."})
    outcome = await begun(thread, choices)

    assert script.names().count("Verdict") == 1
    finding = finding_of(outcome)
    assert (finding["status"], finding["review"]) == ("partial", "failed")
    assert "sweeter" not in finding["text"]
    assert "farther away" in finding["text"]


async def test_a_redo_that_changes_nothing_does_not_pass(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("Verdict", {"passed": False, "feedback": "Say who described it first."})
    outcome = await begun(thread, choices)

    assert (finding_of(outcome)["status"], finding_of(outcome)["review"]) == ("partial", "failed")
