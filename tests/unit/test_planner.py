"""A plan is made of whatever a model drafts."""

from __future__ import annotations

import json
import re

import pytest

from nodes.planner import Draft, DraftQuestion, DraftStep, plan_from_draft
from nodes.team import Enough
from prompts.loader import render_prompt


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


def test_a_plan_keeps_who_would_ask_and_what_it_asks():
    asked = [
        DraftQuestion(question="Where?", options=["Germany", " Germany", "Austria"], assumed="EU"),
        DraftQuestion(question="Since when?", options=["2020"]),
    ]
    draft = Draft(
        title="Bees",
        perspectives=["a vet:  disease", "", "a vet: disease", *"abcdef"],
        steps=[DraftStep(title="a")],
        questions=asked,
    )

    plan = plan_from_draft(draft, 4)

    assert plan["perspectives"] == ["a vet: disease", *"abcd"]
    assert plan["questions"] == [
        {"id": "q1", "question": "Where?", "options": ["Germany", "Austria"], "assumed": "EU"},
        {"id": "q2", "question": "Since when?", "options": ["2020"], "assumed": "2020"},
    ]


def test_a_question_without_a_likely_answer_is_not_asked_and_never_more_than_three():
    asked = [DraftQuestion(question="Why?"), DraftQuestion(question=" ", assumed="yes")]
    asked += [DraftQuestion(question=f"Part {name}?", assumed="yes") for name in "abcd"]

    plan = plan_from_draft(Draft(title="Bees", steps=[DraftStep(title="a")], questions=asked), 4)

    questions = [(one["id"], one["question"]) for one in plan["questions"]]
    assert questions == [("q1", "Part a?"), ("q2", "Part b?"), ("q3", "Part c?")]


def test_a_draft_is_read_though_a_model_writes_objects_for_texts_or_texts_for_objects():
    views = [{"who": "a vet", "wants": "disease"}, "a beginner: costs"]
    steps = [{"title": "Costs"}]

    draft = Draft.model_validate(
        {"title": "Bees", "perspectives": views, "steps": steps, "questions": ["Where?"]}
    )

    assert draft.perspectives == ["a vet: disease", "a beginner: costs"]
    assert draft.questions == []


def test_where_programs_run_a_step_that_computes_stays_one_with_what_it_needs():
    steps = [DraftStep(title="Rents"), DraftStep(title="Mean", kind="compute", needs=[1])]
    plan = plan_from_draft(Draft(title="Flats", steps=steps), 5, computes=True)

    assert [(one["kind"], one["needs"]) for one in plan["steps"]] == [
        ("research", []),
        ("compute", ["s1"]),
    ]
    assert plan["steps"][1]["description"] == ""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("name", "schema"), [("planner", Draft), ("judge", Enough)])
def test_the_example_of_a_prompt_has_every_field_of_its_answer(
    name: str, schema: type[Draft] | type[Enough], language: str
):
    values = {"today": "2026-01-01", "depth": "", "most": 2, "web": "", "kind": ""}
    values |= {"web_field": ', "need_web_search": true'}
    (example,) = re.findall(r"^\{.*\}$", render_prompt(name, language=language, **values), re.M)

    schema.model_validate_json(example)
    fields = schema.model_json_schema()
    assert set(json.loads(example)) == set(fields["properties"])
    inner = {"Draft": ("steps", "DraftStep"), "Enough": ("missing", "Missing")}[schema.__name__]
    assert set(json.loads(example)[inner[0]][0]) == set(fields["$defs"][inner[1]]["properties"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_depth_with_a_plan_has_its_words(language: str):
    said = {render_prompt(f"plan_{depth}", language=language) for depth in ("standard", "deep")}

    assert len(said) == 2
