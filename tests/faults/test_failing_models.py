"""What becomes of a run whose model fails at one of its roles, and goes on once it works again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_openai.chat_models import base

from config.errors import Problem
from graph.records import entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from report.findings import clip_answer
from report.labels import describe_reason, describe_role, get_label
from runs.incomplete import list_failed_findings
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.model_calls import BAD_KEY, DOWN, EMPTY, REFUSED, SLOW_DOWN, TIMEOUT, models, status

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "researcher", "reporter", "Checks")

DANCE = "Karl von Frisch described the waggle dance in 1927 [S1]."

QUESTION = "How do bees live?"

ROLES = {
    "coordinator": "Triage",
    "rewriter": "Rewrite",
    "planner": "Draft",
    "researcher": "researcher",
    "reflector": "Verdict",
    "judge": "Enough",
    "reporter": "reporter",
    "checker": "Checks",
    "memorizer": "Learnt",
}
"""What the script calls the work of a role."""

UNREADABLE = AIMessage("I would rather not.", response_metadata={"finish_reason": "stop"})

FATAL = {
    "401": (BAD_KEY, "model_auth"),
    "403": (status(base.OpenAIPermissionDeniedError, 403), "model_auth"),
    "404": (status(base.OpenAIModelNotFoundError, 404), "unknown_model"),
}
PASSING = {
    "429": (SLOW_DOWN, "rate_limited"),
    "500": (DOWN, "model_unavailable"),
    "timeout": (TIMEOUT, "model_timeout"),
    "connection refused": (ConnectionRefusedError(), "model_unavailable"),
    "empty": (EMPTY, "answer_empty"),
}
ITS_OWN = {
    "refused": (REFUSED, "model_refused"),
    "unreadable": (UNREADABLE, "answer_invalid"),
}
FAULTS = {**FATAL, **PASSING, **ITS_OWN}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    """One model, no other to fall back on, and answers for two steps."""
    models(tmp_path / "alone.toml", monkeypatch, 'default = "fake:any"\n')
    script.on("Draft", draft("waggle dance", "winter cluster"))
    # What a review leaves open is worth a judge.
    script.on("Verdict", {"passed": True, "open": ["wasps"]})
    script.on("Enough", {"enough": True})


async def begun(thread: ThreadSession, choices: dict[str, object]) -> SessionOutcome | Problem:
    try:
        return await thread.begin(QUESTION, make(choices), quiet)
    except Problem as problem:
        return problem


def rules(script: Script) -> dict[str, Any]:
    """Return what the script says, to say it again later."""
    return {**script.rules}


async def mended(
    thread: ThreadSession, choices: dict[str, object], script: Script, good: Any
) -> SessionOutcome:
    """Go on with a run once its model works again; only what is asked then is in the script."""
    script.rules = {**good}
    script.asked.clear()
    return await thread.resume(make(choices), quiet)


def failures(**faults: Sequence[str]) -> Any:
    """Return parameters for each fault of each role."""
    return pytest.mark.parametrize(
        ("role", "fault"), [(role, one) for role, some in faults.items() for one in some]
    )


@failures(
    coordinator=["401"],
    rewriter=["404"],
    planner=["403"],
    researcher=[*FATAL, *PASSING, "refused"],
    judge=["401"],
    reporter=["401"],
)
async def test_without_the_model_a_run_fails_with_its_error_and_goes_on_where_it_stood(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str, fault: str
):
    failure, code = FAULTS[fault]
    good = rules(script)
    script.on(ROLES[role], failure)

    told = await begun(thread, choices)
    done = set(script.names()) - {ROLES[role]}
    outcome = await mended(thread, choices, script, good)

    assert isinstance(told, Problem)
    assert told.code == code
    assert outcome.state["status"] == "succeeded"
    assert not outcome.state["report"]["notices"]
    assert not done & set(script.names())


@failures(
    coordinator=["500", "refused"],
    rewriter=["429", "unreadable"],
    reflector=["401", "timeout", "unreadable"],
    judge=["connection refused", "unreadable"],
)
async def test_a_part_that_is_done_without_the_model_is_named_in_the_first_line(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str, fault: str
):
    script.on(ROLES[role], FAULTS[fault][0])

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    assert outcome.state["status"] == "succeeded"
    (notice,) = outcome.state["report"]["notices"]
    why = describe_reason(FAULTS[fault][1], "failed", "en")
    assert notice.startswith(f"The model failed in part of the work: {why}.")
    assert describe_role(role, [], "en") in notice


@failures(checker=["401", "500", "refused"])
async def test_a_second_reader_that_fails_is_told_with_the_reason(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str, fault: str
):
    script.on(ROLES[role], FAULTS[fault][0])

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    why = describe_reason(FAULTS[fault][1], "failed", "en")
    assert f"({why})" in outcome.state["report"]["notices"][0]


@failures(memorizer=["401", "500"])
async def test_a_memorizer_that_fails_costs_no_answer(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str, fault: str
):
    script.on(ROLES[role], FAULTS[fault][0])

    await thread.begin("My name is Ada and I keep 40 hives.", make(choices), quiet)
    outcome = await thread.begin(QUESTION, make(choices), quiet)

    assert "Learnt" in script.names()
    assert outcome.state["status"] == "succeeded"


def winter(messages: list[BaseMessage]) -> bool:
    return "<step>\nwinter cluster" in str(messages[-1].text)


async def test_of_two_steps_the_one_that_failed_is_told_and_done_again_alone(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    good = rules(script)
    script.on("researcher", lambda messages: TIMEOUT if winter(messages) else DANCE)

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["notices"][0] == (
        "Partial: the model failed: the model took too long. Done without it, or left out: "
        "the research (s2). Once it works again, complete the missing parts with: "
        "dossier resume t1-1"
    )
    assert "**winter cluster**: the model took too long" in str(outcome.state["messages"][-1].text)

    again = await mended(thread, choices, script, good)

    assert again.state["status"] == "succeeded"
    assert [*map(winter, [said for name, said in script.asked if name == "researcher"])] == [True]
    assert not {"Draft", "Rewrite", "Triage"} & set(script.names())
    assert "honey" in again.state["report"]["body"]
    assert len(again.state["messages"]) == len(outcome.state["messages"]) == 2


async def test_a_finished_run_that_lacks_nothing_is_not_gone_on_with(
    thread: ThreadSession, choices: dict[str, object]
):
    await thread.begin(QUESTION, make(choices), quiet)

    with pytest.raises(Problem, match="not_waiting"):
        await thread.resume(make(choices), quiet)


@failures(reporter=["500", "empty", "refused"])
async def test_a_report_that_the_model_did_not_write_is_written_again_alone(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str, fault: str
):
    good = rules(script)
    script.on("reporter", FAULTS[fault][0])

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["cited"]
    why = describe_reason(FAULTS[fault][1], "failed", "en")
    assert outcome.state["report"]["notices"][0].startswith(f"Partial: the model failed: {why}.")

    again = await mended(thread, choices, script, good)

    assert again.state["status"] == "succeeded"
    assert not {"Draft", "researcher", "Verdict"} & set(script.names())
    assert len(again.state["messages"]) == len(outcome.state["messages"]) == 2


async def test_where_nothing_is_found_by_a_plan_without_the_model_the_run_has_failed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    good = rules(script)
    script.on("Draft", DOWN)
    script.on("researcher", "Nothing in these pages says it.")

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    assert outcome.state["status"] == "failed"
    assert outcome.state["report"]["notices"][0].startswith("Failed: the model failed")

    again = await mended(thread, choices, script, good)

    assert again.state["status"] == "succeeded"
    assert "Rewrite" not in script.names()
    assert len(entries_of_turn(again.state["findings"], 1)) == 2


async def test_sources_that_were_judged_and_say_nothing_are_a_lack_of_evidence(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("researcher", "Nothing in these pages says it.")

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    assert outcome.state["status"] == "insufficient_evidence"


@pytest.fixture
def stood_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in model stands in for the scripted one."""
    models(tmp_path / "two.toml", monkeypatch, 'default = "fake:any"\nfallback = "extractive:"\n')


@pytest.mark.usefixtures("stood_in")
@pytest.mark.parametrize("role", ["planner", "researcher", "reporter"])
async def test_what_the_built_in_model_did_for_another_is_named_and_can_be_done_again(
    thread: ThreadSession, choices: dict[str, object], script: Script, role: str
):
    good = rules(script)
    script.on(ROLES[role], DOWN)

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    notice = outcome.state["report"]["notices"][0]
    assert "extractive model, which quotes the sources and adds nothing, stood in for it" in notice
    assert f"in: {describe_role(role, [], 'en')}" in notice
    if role == "planner":
        return
    assert outcome.state["status"] == "partial"

    again = await mended(thread, choices, script, good)

    assert again.state["status"] == "succeeded"
    assert not again.state["report"]["notices"]


@pytest.mark.usefixtures("stood_in")
async def test_what_the_built_in_model_is_not_sure_of_is_missing_because_the_other_failed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "why the dance of bees tires the queen"))
    script.on("researcher", lambda said: DOWN if "tires" in str(said[-1].text) else DANCE)

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    (missing,) = list_failed_findings(outcome.state)
    assert (missing["status"], missing["reason"]) == ("partial", "model_unavailable")


@pytest.mark.usefixtures("stood_in")
async def test_what_the_built_in_model_does_not_find_for_another_is_no_lack_of_evidence(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(QUESTION))
    script.on("researcher", TIMEOUT)

    told = await begun(thread, choices)

    assert isinstance(told, Problem)
    assert told.code == "model_timeout"


async def test_an_answer_that_its_models_limit_has_cut_before_it_said_anything_is_no_evidence(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    thinking = AIMessage("<think>Bees…", response_metadata={"finish_reason": "length"})
    script.on("researcher", thinking)

    told = await begun(thread, choices)

    assert isinstance(told, Problem)
    assert told.code == "answer_too_long"


UNUSABLE = {
    "a refusal": "I cannot help with this topic, but I can suggest other questions.",
    "a refusal in Chinese": "对不起，我无法协助处理这个请求。",
    "an error": "Error: the upstream model is overloaded, please retry later.",
    "an error page": "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>",
    "words without a source": "Bees live in hives and make honey.",
}


@pytest.mark.parametrize("said", UNUSABLE.values(), ids=UNUSABLE)
async def test_an_answer_that_is_none_is_told_as_the_models_failure_and_asked_for_again(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
):
    good = rules(script)
    script.on("researcher", said)

    told = await begun(thread, choices)
    again = await mended(thread, choices, script, good)

    assert isinstance(told, Problem)
    assert told.code == "answer_unusable"
    assert clip_answer(said) in told.what
    assert again.state["status"] == "succeeded"
    assert not again.state["report"]["notices"]


async def test_of_two_steps_the_one_that_was_refused_is_told_in_the_models_words(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    refusal = UNUSABLE["a refusal in Chinese"]
    script.on("researcher", lambda messages: refusal if winter(messages) else DANCE)

    outcome = await thread.begin(QUESTION, make(choices), quiet)

    shown = str(outcome.state["messages"][-1].text)
    why = describe_reason(f"answer_unusable: {refusal}", "failed", "en")
    assert outcome.state["status"] == "partial"
    assert (
        describe_reason("answer_unusable", "failed", "en") in outcome.state["report"]["notices"][0]
    )
    assert why in shown
    assert describe_reason("no_evidence", "failed", "en") not in shown


async def test_a_refusal_that_passes_costs_no_more_than_another_try(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", "I'm sorry, but I can't assist with that request.", DANCE)

    outcome = await begun(thread, choices)

    assert isinstance(outcome, SessionOutcome)
    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert (finding["status"], finding["attempts"]) == ("ok", 2)
    assert not any(
        describe_role("researcher", [], "en") in one for one in outcome.state["report"]["notices"]
    )


@pytest.mark.parametrize(
    "said", ["The pages do not say how bees live.", "我无法从资料中回答这个问题。"]
)
async def test_an_honest_word_that_the_pages_are_silent_stays_a_lack_of_evidence(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
):
    script.on("researcher", said)

    outcome = await thread.begin(QUESTION, make(choices), quiet)

    assert outcome.state["status"] == "insufficient_evidence"


async def test_where_claims_were_removed_no_page_is_called_silent(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("researcher", 'Bees <q s="S1">sleep in the sea all winter long</q>.')

    outcome = await thread.begin(QUESTION, make(choices), quiet)

    shown = str(outcome.state["messages"][-1].text)
    assert outcome.state["status"] == "insufficient_evidence"
    assert get_label("unconfirmed", "en") in shown
    assert get_label("nothing", "en") not in shown
    assert describe_reason("no_evidence", "failed", "en") not in shown
