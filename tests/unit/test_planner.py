"""A plan is made of whatever a model drafts."""

from __future__ import annotations

import pytest

from nodes.planner import Draft, DraftStep, plan_from_draft


def test_a_step_builds_on_earlier_steps_only_however_they_are_named():
    steps = [DraftStep(title="a", needs=[1, 2]), DraftStep(title="b", needs=["s1", "1", 2, "s9"])]

    plan = plan_from_draft(Draft(title="Bees", steps=steps), 4)

    assert [step["needs"] for step in plan["steps"]] == [[], ["s1"]]


@pytest.mark.parametrize(("language", "word"), [("en", "computed"), ("zh", "计算")])
def test_a_step_that_would_compute_is_researched_and_says_so(language: str, word: str):
    step = DraftStep(title="Mean", description="The mean of both." * 150, kind="compute")

    (made,) = plan_from_draft(Draft(title="Bees", steps=[step]), 4, language)["steps"]

    assert made["kind"] == "research"
    assert word in made["description"][-100:]
    assert made["description"].startswith("The mean of both.")


def test_a_plan_is_no_longer_than_it_may_be_and_needs_nothing_that_was_cut():
    steps = [DraftStep(title=title, needs=[number]) for number, title in enumerate("abc")]

    plan = plan_from_draft(Draft(title="Bees", steps=steps), 2)

    assert [(step["id"], step["needs"]) for step in plan["steps"]] == [("s1", []), ("s2", ["s1"])]
