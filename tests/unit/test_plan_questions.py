"""A plan may ask questions: an answer holds, and without one what is assumed."""

from __future__ import annotations

import pytest

from config.errors import Problem
from graph.plan import parse_plan, render_plan, validate_plan
from graph.plan_questions import (
    answer_questions,
    list_answers,
    list_assumptions,
    list_own_answers,
    render_perspectives,
)
from graph.records import EMPTY_PLAN, Plan, PlanQuestion


def question(name: str, asked: str, *options: str, assumed: str = "") -> PlanQuestion:
    return PlanQuestion(id=name, question=asked, options=[*options], assumed=assumed or options[0])


COUNTRY = question("q1", "In which country?", "Germany", "Austria")
HIVES = question("q2", "How many hives?", "2", "10 or more")


def asking(*questions: PlanQuestion) -> Plan:
    return validate_plan(
        {"title": "Bees", "steps": [{"id": "s1", "title": "Costs"}], "questions": [*questions]}
    )


def test_what_nobody_answers_is_assumed():
    plan = asking(COUNTRY, HIVES)

    assert list_assumptions(plan) == ["In which country? Germany", "How many hives? 2"]
    assert list_answers(plan) == []
    assert answer_questions(plan, {"q1": "  "})["questions"] == plan["questions"]


def test_a_plan_of_an_older_thread_asks_and_assumes_nothing():
    assert (list_answers(EMPTY_PLAN), list_assumptions(EMPTY_PLAN)) == ([], [])
    assert answer_questions(EMPTY_PLAN, {}) == EMPTY_PLAN


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("2", "Austria"),
        ("Austria", "Austria"),
        ("3", "3"),
        ("0", "0"),
        ("only\nTyrol ", "only Tyrol"),
    ],
)
def test_an_answer_is_the_number_of_an_option_or_other_words(said: str, answer: str):
    plan = answer_questions(asking(COUNTRY, HIVES), {"q1": said})

    assert list_answers(plan) == [f"In which country? {answer}"]
    assert list_assumptions(plan) == ["How many hives? 2"]


def test_a_number_that_is_an_option_itself_means_that_option():
    assert list_answers(answer_questions(asking(HIVES), {"q2": "2"})) == ["How many hives? 2"]


def test_words_that_were_offered_are_not_the_persons_own():
    plan = answer_questions(asking(COUNTRY, HIVES), {"q1": "2", "q2": "three in Tyrol"})

    assert list_own_answers(plan) == ["three in Tyrol"]


@pytest.mark.parametrize(("plan", "hint"), [(asking(COUNTRY), "q1"), (EMPTY_PLAN, "leave")])
def test_an_answer_to_what_was_not_asked_is_refused(plan: Plan, hint: str):
    with pytest.raises(Problem) as failure:
        answer_questions(plan, {"q7": "yes"})

    assert failure.value.code == "bad_feedback"
    assert hint in failure.value.hint


def test_the_text_of_a_plan_says_what_it_rests_on_and_is_read_back_without_it():
    plan = asking(COUNTRY, HIVES) | {"perspectives": ["a -->\n1. forger", "vets: disease"]}
    plan = answer_questions(plan, {"q1": "Austria"})

    text = render_plan(plan)

    assert text == (
        "# Bees\n\n"
        "<!-- views: a –> 1. forger; vets (disease) -->\n"
        "<!-- answered: In which country? Austria -->\n"
        "<!-- assumed: How many hives? 2 -->\n\n"
        "1. Costs\n"
    )
    assert [step["title"] for step in parse_plan(text)["steps"]] == ["Costs"]


@pytest.mark.parametrize(
    ("views", "line"),
    [
        ([], ""),
        (["anybody"], "anybody"),
        (["a vet: disease: which?", "兽医：疾病"], "a vet (disease: which?); 兽医 (疾病)"),
    ],
)
def test_who_would_ask_is_told_in_one_line(views: list[str], line: str):
    assert render_perspectives(asking() | {"perspectives": views}) == line


def test_a_plan_with_questions_is_checked_and_passes_again_as_it_is():
    plan = answer_questions(asking(COUNTRY, HIVES), {"q1": "Austria"})

    assert validate_plan(plan) == plan
    assert "questions" not in validate_plan({"steps": [{"id": "s1", "title": "Costs"}]})


@pytest.mark.parametrize(
    "wrong",
    [{"id": "1"}, {"assumed": ""}, {"question": ""}, {"options": ["x"] * 20}, {"more": "x"}],
)
def test_a_question_that_cannot_be_asked_is_refused_with_its_place(wrong: dict[str, object]):
    plan = {"steps": [{"id": "s1", "title": "Costs"}], "questions": [COUNTRY | wrong]}

    with pytest.raises(Problem) as failure:
        validate_plan(plan)

    assert failure.value.code == "plan_field"
    assert failure.value.where.startswith("questions.0")
