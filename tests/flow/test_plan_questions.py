"""What a plan asks is answered with the decision on it, or assumed."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from calls.attempts import list_attempts
from graph.context import Context
from graph.session import SessionOutcome, ThreadSession
from memory.experience.utterances import PERSON_SPEAKER, list_utterances
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_wishes import LATER, rejection, told

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

COUNTRY = {"question": "In which country?", "options": ["Germany", "Austria"], "assumed": "Germany"}
HIVES = {"question": "How many hives?", "options": ["few", "many"], "assumed": "few"}
ASKED = {"id": "q1", **COUNTRY}


@pytest.fixture
def reviewed(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "auto_accept": False}


@pytest.fixture(autouse=True)
def asking(script: Script) -> None:
    """A plan that asks two questions, until it is rejected."""
    views = ["a vet: disease", "a beginner: costs"]
    first = draft("waggle dance") | {"questions": [COUNTRY, HIVES], "perspectives": views}
    script.on("Draft", first, draft("winter cluster") | {"questions": [COUNTRY]})


async def begun(thread: ThreadSession, context: Context) -> SessionOutcome:
    return await thread.begin("How do bees dance?", context, quiet)


def notices(outcome: SessionOutcome) -> list[str]:
    return [one for one in outcome.state["report"]["notices"] if one.startswith("Assumed")]


async def test_the_questions_are_asked_in_the_review_of_the_plan(
    thread: ThreadSession, reviewed: dict[str, object]
):
    outcome = await begun(thread, make(reviewed))

    assert outcome.request
    (request,) = outcome.request["action_requests"]
    assert outcome.request["questions"] == [ASKED, {"id": "q2", **HIVES}]
    shown_below = "(1) Germany\n(2) Austria\nAnswer (without one, Germany is assumed): "
    assert request["args"]["question_1"] == f"In which country?\n{shown_below}"
    shown = str(outcome.state["messages"][-1].text)
    for text in (request["description"], shown):
        assert "From the point of view of a vet (disease); a beginner (costs)" in text
        assert "q1. In which country? (1) Germany (2) Austria (assumed: Germany)" in text


async def test_an_answer_reaches_every_later_call_and_what_is_not_answered_is_assumed(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    await begun(thread, make(reviewed))

    approval = {"type": "approve", "answers": {"q1": "2"}}
    outcome = await thread.answer_review(approval, make(reviewed), quiet)

    assert outcome.state["decision"] == "approve"
    assert outcome.state["wishes"] == ["In which country? Austria"]
    assert notices(outcome) == ["Assumed, as there was no answer: How many hives? few"]
    for name in LATER:
        if name != "Enough":
            assert told(script, name), name
        assert all("In which country? Austria" in prompt for prompt in told(script, name)), name
    assert "<!-- assumed: How many hives? few -->" in script.prompts("reporter")[0]


async def test_a_plan_that_nobody_reviews_goes_by_what_is_assumed(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await begun(thread, make(choices))

    assert outcome.state["wishes"] == []
    assert notices(outcome) == [
        "Assumed, as there was no answer: In which country? Germany; How many hives? few"
    ]


async def test_answers_to_all_questions_leave_nothing_assumed(
    thread: ThreadSession, reviewed: dict[str, object]
):
    await begun(thread, make(reviewed))

    approval = {"type": "approve", "answers": {"q1": "Germany", "q2": "about twelve"}}
    outcome = await thread.answer_review(approval, make(reviewed), quiet)

    assert notices(outcome) == []


async def test_words_with_answers_are_a_decision(
    thread: ThreadSession, reviewed: dict[str, object]
):
    await begun(thread, make(reviewed))

    outcome = await thread._run(thread_command("q1: Austria"), make(reviewed), quiet)

    assert outcome.state["wishes"] == ["In which country? Austria"]
    assert outcome.state["report"]["created"]


def thread_command(words: str) -> Any:
    """Return what a client sends that can send no more than text."""
    return Command(resume=words)


async def test_answers_with_a_rejection_make_another_plan_that_does_not_ask_again(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    await begun(thread, make(reviewed))

    decision = rejection("without honey") | {"answers": {"q1": "Austria"}}
    outcome = await thread.answer_review(decision, make(reviewed), quiet)

    assert outcome.request
    assert "questions" not in outcome.request
    assert outcome.state["wishes"] == ["In which country? Austria", "without honey"]
    shown = script.prompts("Draft")[-1]
    assert "<!-- answered: In which country? Austria -->" in shown
    assert "<feedback>\nIn which country? Austria\nwithout honey\n</feedback>" in shown


async def test_answers_alone_are_enough_to_have_the_plan_made_again(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    await begun(thread, make(reviewed))

    decision = {"type": "reject", "answers": {"q1": "Austria"}}
    outcome = await thread.answer_review(decision, make(reviewed), quiet)

    assert script.names().count("Draft") == 2
    assert outcome.state["plan"]["steps"][0]["title"] == "winter cluster"


async def test_an_answer_to_what_was_not_asked_is_told_and_the_review_waits_on(
    thread: ThreadSession, reviewed: dict[str, object]
):
    await begun(thread, make(reviewed))

    decision = {"type": "approve", "answers": {"q3": "yes"}}
    outcome = await thread.answer_review(decision, make(reviewed), quiet)

    assert outcome.request
    assert "there is no question 'q3'" in outcome.request["note"]
    assert outcome.request["plan"]["questions"][0] == ASKED


@pytest.mark.parametrize(
    ("changes", "decided"),
    [
        ({}, "approve"),
        ({"steps": "1. The queen"}, "edit"),
        ({"step_1": "The queen"}, "edit"),
    ],
)
@pytest.mark.parametrize("old", [True, False], ids=["lines", "fields"])
async def test_a_chat_page_sends_answers_among_the_fields_of_the_plan(
    thread: ThreadSession,
    reviewed: dict[str, object],
    changes: dict[str, str],
    decided: str,
    old: bool,
):
    outcome = await begun(thread, make(reviewed))
    assert outcome.request
    shown = outcome.request["action_requests"][0]["args"]
    answers = {"answers": "q1: \nq2: 2\n"} if old else {"question_2": f"{shown['question_2']}2"}
    args = shown | changes | answers

    edit = {"type": "edit", "edited_action": {"name": "research_plan", "args": args}}
    outcome = await thread.answer_review(edit, make(reviewed), quiet)

    assert outcome.state["decision"] == decided
    assert outcome.state["wishes"] == ["How many hives? many"]
    assert notices(outcome) == ["Assumed, as there was no answer: In which country? Germany"]


async def test_an_edited_plan_keeps_its_questions_whatever_a_client_makes_of_them(
    thread: ThreadSession, reviewed: dict[str, object]
):
    outcome = await begun(thread, make(reviewed))
    assert outcome.request
    plan = outcome.request["plan"] | {"questions": [{**ASKED, "answer": "France"}]}

    edit = {"type": "edit", "edited_action": {"name": "research_plan", "args": plan}}
    outcome = await thread.answer_review(edit, make(reviewed), quiet)

    assert outcome.state["wishes"] == []
    assert "In which country? Germany" in notices(outcome)[0]


async def test_only_words_of_their_own_count_as_said_by_the_person(
    thread: ThreadSession, reviewed: dict[str, object]
):
    await begun(thread, make(reviewed))

    approval = {"type": "approve", "answers": {"q1": "2", "q2": "one at Lindenhof"}}
    outcome = await thread.answer_review(approval, make(reviewed), quiet)

    done = await list_utterances(join_owner("local", ""), outcome.state["run"])
    assert [one.action for one in done if one.who == PERSON_SPEAKER] == ["one at Lindenhof"]


async def test_a_password_in_an_answer_is_masked(
    thread: ThreadSession, reviewed: dict[str, object]
):
    await begun(thread, make(reviewed))

    words = "the password is hunter2hunter2"
    approval = {"type": "approve", "answers": {"q2": words}}
    outcome = await thread.answer_review(approval, make(reviewed), quiet)

    assert "hunter2" not in str(outcome.state["wishes"]) + str(outcome.state["plan"])


async def test_questions_cost_no_call_of_their_own(
    thread: ThreadSession, reviewed: dict[str, object]
):
    outcome = await begun(thread, make(reviewed))
    await thread.answer_review({"type": "approve", "answers": {"q1": "2"}}, make(reviewed), quiet)

    planned = [one for one in await list_attempts(outcome.state["run"]) if one.role == "planner"]
    assert len(planned) == 1
