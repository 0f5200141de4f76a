"""A plan is a text box for each step in a chat page, and what a person leaves in them is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Problem
from graph.plan import validate_plan
from graph.plan_fields import read_answer_fields, read_step_fields, render_plan_fields
from graph.records import Plan, Step
from tests.unit.test_plan_text import ODD

STEPS: list[dict[str, Any]] = [
    {"id": "s1", "title": "The dance", "description": "Who decoded it?", "queries": ["waggle"]},
    {"id": "s2", "title": "Winter — cold", "queries": ["Winter — cold"], "need_web_search": False},
    {"id": "s3", "title": "Both (2024)", "kind": "compute", "needs": ["s1", "s2"]},
]
LINES = {
    "step_1": "The dance — Who decoded it?",
    "step_2": "Winter — cold (files only)",
    "step_3": "Both (2024) (after 1, 2; compute)",
}


@pytest.fixture
def plan() -> Plan:
    return validate_plan({"title": "Bees", "steps": STEPS})


def edited(plan: Plan, **fields: str) -> list[Step]:
    return read_step_fields(plan["steps"], {**render_plan_fields(plan), **fields})


def test_each_step_is_a_line_of_text_in_a_field_of_its_own(plan: Plan):
    assert render_plan_fields(plan) == {"title": "Bees", **LINES, "add_steps": ""}


def test_fields_that_were_not_touched_are_the_same_steps(plan: Plan):
    assert edited(plan) == plan["steps"]
    assert read_step_fields(plan["steps"], {}) == plan["steps"]


def test_a_new_title_is_searched_for_and_a_new_purpose_keeps_the_searches(plan: Plan):
    first, second, _ = edited(
        plan, step_1="The dance — Who mocked it?", step_2="Summer (files only)"
    )

    assert (first["title"], first["description"]) == ("The dance", "Who mocked it?")
    assert first["queries"] == ["waggle"]
    assert (second["title"], second["queries"]) == ("Summer", [])
    assert not second["need_web_search"]


def test_an_empty_field_drops_its_step_and_nothing_waits_for_it_any_more(plan: Plan):
    first, second = edited(plan, step_1=" ")

    assert (first["title"], first["queries"]) == ("Winter — cold", ["Winter — cold"])
    assert second["title"] == "Both (2024)"
    assert second["needs"] == [first["id"]]
    assert second["kind"] == "compute"


def test_lines_that_change_places_are_the_steps_they_were(plan: Plan):
    first, second, third = edited(plan, step_1=LINES["step_2"], step_2=LINES["step_1"])

    assert (first["title"], first["need_web_search"]) == ("Winter — cold", False)
    assert (second["title"], second["queries"]) == ("The dance", ["waggle"])
    assert third["needs"] == [second["id"], first["id"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"add_steps": "The queen — How old? (after 1)"},
        {"add_steps": "4. The queen — How old? (after step 1)"},
        {"add_steps": "- The queen（之后 1）\n   How old?"},
        {"step_3": f"{LINES['step_3']}\nThe queen\nafter: 1\n  How old?"},
        {"step_4": "The queen — How old? (after 1)"},
    ],
)
def test_a_further_line_is_a_further_step(plan: Plan, fields: dict[str, str]):
    steps = edited(plan, **fields)

    assert [step["title"] for step in steps[:3]] == ["The dance", "Winter — cold", "Both (2024)"]
    assert (steps[3]["title"], steps[3]["description"]) == ("The queen", "How old?")
    assert steps[3]["needs"] == [steps[0]["id"]]
    assert steps[0]["queries"] == ["waggle"]


def test_marks_that_are_taken_away_no_longer_hold(plan: Plan):
    _, second, third = edited(plan, step_2="Winter — cold", step_3="Both (2024)")

    assert second["need_web_search"]
    assert (third["kind"], third["needs"], third["title"]) == ("research", [], "Both (2024)")


@pytest.mark.parametrize(
    "fields",
    [
        {"step_1": "The dance (after 9)"},
        {"step_1": "The dance (after 3)"},
        {"step_1": "", "step_2": "", "step_3": "\n"},
    ],
)
def test_steps_that_cannot_be_are_refused(plan: Plan, fields: dict[str, str]):
    with pytest.raises(Problem, match="plan_"):
        edited(plan, **fields)


@given(st.lists(ODD, max_size=3).map("\n".join), st.booleans(), st.booleans())
def test_an_edit_changes_nothing_but_what_was_edited(told: str, searches: bool, computes: bool):
    kind = "compute" if computes else "research"
    own: dict[str, Any] = {"description": told, "kind": kind, "need_web_search": searches}
    steps = [{"id": "s1", "title": "Zero"}, STEPS[0] | own | {"id": "s2", "needs": ["s1"]}]
    plan = validate_plan({"steps": [*steps, {"id": "s3", "title": "Last", "needs": ["s2"]}]})
    line = render_plan_fields(plan)["step_2"]

    first, second, third = edited(plan, step_1="One")
    assert (first["title"], second, third) == ("One", plan["steps"][1], plan["steps"][2])

    before, changed, after = edited(plan, step_2=line.replace("The dance", "A waltz", 1))
    assert (before, after) == (plan["steps"][0], plan["steps"][2])
    words = " ".join(told.split())
    named = ("A waltz", "" if words.casefold() == "the dance" else words)
    assert (changed["title"], changed["description"]) == named
    assert {name: changed[name] for name in ("kind", "need_web_search", "needs")} == {
        **{name: own[name] for name in ("kind", "need_web_search")},
        "needs": ["s1"],
    }


@pytest.mark.parametrize("title", ["(compute)", "Both (files only)", "\\(after 1)", "after: 1"])
def test_a_title_that_looks_like_a_mark_is_one(title: str):
    plan = validate_plan({"steps": [{"id": "s1", "title": "One"}, {"id": "s2", "title": title}]})
    line = render_plan_fields(plan)["step_2"]

    (_, second) = edited(plan, step_2=f"{line} (files only)")
    assert (second["title"], second["kind"], second["need_web_search"]) == (
        title,
        "research",
        False,
    )
    (second,) = edited(plan, step_1="")
    assert second == {**plan["steps"][1], "id": "s1"}


QUESTION = {"id": "q1", "question": "Ratio?", "options": ["1:2", "1:3"], "assumed": "1:2"}
SHOWN = "Ratio?\n(1) 1:2\n(2) 1:3\nAnswer (without one, 1:2 is assumed): "


@pytest.mark.parametrize(
    ("left", "answer"),
    [
        (SHOWN, None),
        (SHOWN.strip(), None),
        ("", None),
        (f"{SHOWN}2", "2"),
        (f"{SHOWN}\n1:4,\nroughly", "1:4, roughly"),
        ("Answer: 1:4", "1:4"),
        ("回答：1:4", "1:4"),
        ("Ratio?\n(1) 1:2\n(2) 1:3\nthe second", "the second"),
        ("2", "2"),
    ],
)
def test_an_answer_stands_below_its_question(left: str, answer: str | None):
    plan = validate_plan({"steps": STEPS[:1], "questions": [QUESTION]})

    answers = read_answer_fields(plan, {"question_1": left}, {"question_1": SHOWN})

    assert answers == ({"q1": answer} if answer else {})
