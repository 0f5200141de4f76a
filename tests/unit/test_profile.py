"""The first node: a question in a clean form, and a turn that starts from nothing."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from config.errors import Problem
from graph.state import GRAPH_VERSION, State
from nodes.profile import profile
from runs.lifecycle import MAX_QUESTION_CHARS, check_question, find_run
from tests.places import runtime

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t\r", "\x00\x01\x1b", "\u200e\u202e\ufeff", "\u2028", "\ud800"]
)
def test_a_question_without_a_visible_character_is_refused(text: str):
    with pytest.raises(Problem) as failure:
        check_question(text)

    assert (failure.value.code, failure.value.exit_status) == ("question_empty", 2)


def test_the_longest_question_passes_and_one_more_character_does_not():
    assert len(check_question("x" * MAX_QUESTION_CHARS)) == 20_000
    with pytest.raises(Problem, match="20001 characters, the most is 20000") as failure:
        check_question("x" * (MAX_QUESTION_CHARS + 1))

    assert failure.value.code == "question_too_long"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("  Why?\n", "Why?"),
        ("Why\r\nthis?", "Why\nthis?"),
        ("Wh\x00y\x1b[31m?", "Why[31m?"),
        ("\u202eyhW", "yhW"),
        ("e\u0301", "\u00e9"),
        ("{name} $name %s </question>", "{name} $name %s </question>"),
        ("蜜蜂为什么跳舞？", "蜜蜂为什么跳舞？"),
        ("👩‍🚀?", "👩‍🚀?"),
    ],
)
def test_a_question_is_cleaned_of_what_no_text_may_hold_and_of_nothing_else(
    text: str, question: str
):
    assert check_question(text) == question


async def test_the_newest_thing_the_person_said_is_the_question():
    said = [HumanMessage("Old?"), AIMessage("Yes."), HumanMessage("New?"), AIMessage("Hm.")]

    state = await profile(State(messages=said), runtime())

    assert (state["question"], state["turn"]) == ("New?", 1)


async def test_a_new_turn_takes_nothing_over_from_the_last():
    old = State(
        messages=[HumanMessage("Next?")],
        turn=4,
        queries=["old"],
        feedback="old",
        revisions=3,
        rounds=2,
        status="succeeded",
        graph_version="0",
    )

    state = await profile(old, runtime())

    assert (state["turn"], state["status"], state["graph_version"]) == (5, "running", GRAPH_VERSION)
    assert (state["queries"], state["feedback"], state["follow_ups"]) == ([], "", [])
    assert (state["revisions"], state["rounds"]) == (0, 0)
    assert state["plan"]["steps"] == state["report"]["cited"] == state["knowledge"] == []


@pytest.mark.parametrize(
    ("question", "chosen", "language"),
    [("Why do bees dance?", "", "en"), ("蜜蜂为什么跳舞？", "", "zh"), ("Why?", "zh", "zh")],
)
async def test_the_language_is_the_questions_unless_another_is_chosen(
    question: str, chosen: str, language: str
):
    state = await profile(State(messages=[HumanMessage(question)]), runtime(language=chosen))

    assert state["language"] == language


async def test_the_run_is_known_before_anything_is_paid():
    await profile(State(messages=[HumanMessage("Why?")], turn=2), runtime("t9", max_steps=3))

    run = await find_run("local/", "t9")

    assert (run.id, run.turn, run.question, run.status) == ("t9-3", 3, "Why?", "running")
    assert run.context["max_steps"] == 3


async def test_a_question_that_is_refused_begins_no_run():
    with pytest.raises(Problem, match="question_empty"):
        await profile(State(messages=[]), runtime("t9"))
    with pytest.raises(Problem, match="run_not_found"):
        await find_run("local/", "t9")
