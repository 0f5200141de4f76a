"""A decision on a plan may be plain words, where a client can send no more."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from nodes.human_feedback import Review, parse_decision
from tests.cases import each_case


@each_case(
    [
        *("approve", "Yes.", "Go ahead!", "OK, go on please", "yes, that looks good", "LGTM"),
        *("Looks good to me, start", "I agree with the plan", "Great, thank you. Proceed."),
        *("批准", "好的", "可以，开始吧。", "同意，谢谢"),
    ]
)
def test_words_that_all_agree_approve(words: str):
    assert parse_decision(words) == {"decisions": [{"type": "approve"}]}


@each_case(
    [
        ("no, leave out history", "leave out history"),
        ("No", ""),
        ("reject: too many steps", "too many steps"),
        ("Yes, but only the tides", "Yes, but only the tides"),
        ("ok without step 2", "ok without step 2"),
        ("do not start", "do not start"),
        ("not good", "not good"),
        ("Nothing on prices please", "Nothing on prices please"),
        ("is it good?", "is it good?"),
        ("please", "please"),
        ("不行，只看性能", "只看性能"),
        ("不要历史部分", "不要历史部分"),
        ("可以吗", "可以吗"),
    ]
)
def test_all_other_words_are_said_against_the_plan(words: str, message: str):
    assert parse_decision(words) == {"decisions": [{"type": "reject", "message": message}]}


def test_a_decision_written_as_json_is_that_decision():
    said = {"decisions": [{"type": "reject", "message": "shorter"}]}

    assert Review.model_validate(parse_decision(json.dumps(said))).decisions[0].type == "reject"


@pytest.mark.parametrize("said", ["", "  ", "{broken"])
def test_no_words_are_no_decision(said: str):
    assert not isinstance(parse_decision(said), dict)


@pytest.mark.parametrize(
    ("words", "decision"),
    [
        ("q1: Austria", {"type": "approve", "answers": {"q1": "Austria"}}),
        ("Q1：奥地利；q2：2", {"type": "approve", "answers": {"q1": "奥地利", "q2": "2"}}),
        ("ok, go ahead\nq2 = since 2020", {"type": "approve", "answers": {"q2": "since 2020"}}),
        (
            "no, shorter; q1: Austria",
            {"type": "reject", "message": "shorter", "answers": {"q1": "Austria"}},
        ),
        ("q1:", {"type": "reject", "message": ""}),
        ("what is q1: Austria", {"type": "reject", "message": "what is q1: Austria"}),
    ],
)
def test_answers_stand_beside_a_decision_and_approve_alone(words: str, decision: dict[str, object]):
    assert parse_decision(words) == {"decisions": [decision]}


def test_every_decision_may_bring_answers_and_no_other_values_than_texts():
    answers = {"q1": "Austria"}

    for kind in ("approve", "reject"):
        said = {"decisions": [{"type": kind, "answers": answers}]}
        assert Review.model_validate(said).decisions[0].answers == answers
    with pytest.raises(ValidationError):
        Review.model_validate({"decisions": [{"type": "approve", "answers": {"q1": ["a"]}}]})
