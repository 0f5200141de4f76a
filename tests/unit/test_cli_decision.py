"""A plan and its questions at a terminal: what is shown, and what a person types."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.console import Console

from app.cli import review
from app.cli.step_requests import ask_answers, print_requests, suggest_answer
from config.errors import Problem
from graph.plan import validate_plan

PLAN = validate_plan(
    {
        "title": "Bees",
        "perspectives": ["a vet: disease", "a beginner: costs"],
        "steps": [{"id": "s1", "title": "Costs"}],
        "questions": [
            {
                "id": "q1",
                "question": "In which country?",
                "options": ["Germany", "Austria"],
                "assumed": "Germany",
            },
            {"id": "q2", "question": "Since when?", "assumed": "2020"},
        ],
    }
)


def request(**more: Any) -> dict[str, Any]:
    return {"plan": PLAN | more, "note": ""}


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a person type lines, and then close the input."""

    def type_lines(*lines: str) -> None:
        left: Iterator[str] = iter(lines)

        def read() -> str:
            try:
                return next(left)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", read)

    return type_lines


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_plan_is_printed_with_who_would_ask_and_what_it_asks(console: Console):
    review.print_plan(console, request())

    assert "From the point of view of a vet (disease); a beginner (costs)" in printed(console)
    assert "q1. In which country? (1) Germany (2) Austria [Germany]" in printed(console)
    assert "q2. Since when? [2020]" in printed(console)


def test_a_plan_is_printed_with_its_knowledge_bases_and_the_steps_that_compute(console: Console):
    first, *others = PLAN["steps"]
    steps = [{**first, "kind": "compute"}, *others]

    review.print_plan(console, request(steps=steps, knowledge=["hives", "wiki"]))

    (line,) = [one for one in printed(console).splitlines() if f"1. {first['title']}" in one]
    assert "compute" in line
    assert "Knowledge bases that are searched: hives, wiki" in printed(console)


def test_a_plan_is_printed_with_the_steps_that_keep_from_the_web(console: Console):
    first, second = (
        {**PLAN["steps"][0], "id": name, "title": f"Step {name}", "need_web_search": web}
        for name, web in (("s1", False), ("s2", True))
    )

    review.print_plan(console, request(steps=[first, second]))
    mixed = printed(console)
    review.print_plan(console, request(steps=[first]))
    bare = printed(console)[len(mixed) :]

    lines = [one for one in mixed.splitlines() if "Step s" in one]
    assert ["no web" in line for line in lines] == [True, False]
    assert "No step searches the web." in bare
    assert "No step searches the web." not in mixed


def test_a_plan_without_blanks_loses_no_word():
    narrow = Console(file=io.StringIO(), width=50)
    long = (
        "说明--leak-check、--show-leak-kinds、--keep-stacktraces、--freelist-vol各自的作用与默认值"
    )
    step = {**PLAN["steps"][0], "title": long, "description": f"查手册：{long}"}

    review.print_plan(narrow, request(steps=[step], questions=[]))

    assert "…" not in printed(narrow)
    assert "默认值" in printed(narrow)


@pytest.mark.parametrize(("name", "said"), [("ask_user", "q1=TEXT"), ("git_add", "q1=yes")])
def test_the_command_that_answers_a_tool_says_yes(name: str, said: str):
    assert suggest_answer([{"id": "q1", "name": name}, {"id": "q2", "name": "ask_user"}]) == said


def test_arguments_of_a_tool_keep_their_indentation(console: Console):
    action = {"name": "git_add", "args": {"files": ["a"]}, "description": "q1. May it be used?"}

    print_requests(
        console,
        {"note": "", "requests": [{"id": "q1", "step": "s1"}], "action_requests": [action]},
    )

    assert '│   "files": [' in printed(console)


def test_a_tool_that_is_allowed_for_the_run_is_not_asked_for_again(
    console: Console, monkeypatch: pytest.MonkeyPatch
):
    names = ["send", "send", "keep"]
    request = {
        "requests": [{"id": f"q{at}", "step": "s1"} for at in (1, 2, 3)],
        "action_requests": [{"name": name, "args": {}, "description": ""} for name in names],
    }
    typed = iter(["l", "r no"])
    monkeypatch.setattr("builtins.input", lambda: next(typed))

    assert ask_answers(console, request)["decisions"] == [
        {"type": "approve", "for_run": True},
        {"type": "approve"},
        {"type": "reject", "message": "no"},
    ]


def test_a_plan_that_asks_nothing_is_printed_and_decided_without_a_question(
    console: Console, typing: Callable[..., None]
):
    typing("a")
    shown = request(questions=[], perspectives=[])

    review.print_plan(console, shown)

    assert "assumes" not in printed(console)
    assert "view" not in printed(console)
    assert review.ask_decision(console, shown) == {"type": "approve"}


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (("", "", "a"), {"type": "approve"}),
        (("2", "", "a"), {"type": "approve", "answers": {"q1": "2"}}),
        (("Tyrol", "1900", "a"), {"type": "approve", "answers": {"q1": "Tyrol", "q2": "1900"}}),
        (
            ("", "1900", "r", "shorter"),
            {"type": "reject", "message": "shorter", "answers": {"q2": "1900"}},
        ),
        (("", "1900", "r", ""), {"type": "reject", "message": "", "answers": {"q2": "1900"}}),
    ],
)
def test_questions_are_answered_before_the_decision_and_enter_takes_what_is_assumed(
    console: Console,
    typing: Callable[..., None],
    typed: tuple[str, ...],
    decision: dict[str, object],
):
    typing(*typed)

    assert review.ask_decision(console, request()) == decision


def test_who_answers_is_told_what_the_research_hears_and_how_to_have_another_plan(
    console: Console, typing: Callable[..., None]
):
    typing("2", "", "a")

    review.ask_decision(console, request())

    assert "The research is told: In which country? Austria" in printed(console)
    assert "reject the plan" in printed(console)


def test_a_rejection_without_words_needs_an_answer(console: Console, typing: Callable[..., None]):
    typing("", "", "r", "", "a")

    assert review.ask_decision(console, request()) == {"type": "approve"}
    assert "the rejection has no words" in printed(console)


def test_closing_the_input_at_a_question_decides_nothing(
    console: Console, typing: Callable[..., None]
):
    typing("2")

    with pytest.raises(EOFError):
        review.ask_decision(console, request())


def test_answers_of_an_option_are_read_by_the_id_of_their_question():
    assert review.parse_answers(["q1=2", "q2 = a = b "]) == {"q1": "2", "q2": "a = b"}
    assert review.parse_answers([]) == {}


@pytest.mark.parametrize("given", ["Austria", "=Austria", "q1=", "q1= "])
def test_an_answer_without_its_question_or_its_words_is_refused(given: str):
    with pytest.raises(Problem) as failure:
        review.parse_answers([given])

    assert (failure.value.code, failure.value.where) == ("bad_feedback", given)
