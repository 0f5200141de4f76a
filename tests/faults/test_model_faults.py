"""A whole run over real HTTP, against a model server that fails in every way it knows."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage

from calls.streaming import PROGRESS
from config.errors import Problem
from evals.openai_server import Server
from evals.world import make_rules
from graph.records import entries_of_turn
from graph.session import ThreadSession
from tests.conftest import make

QUESTION = "How do bees live?"

REPORTER = {"system": "You write the report"}


TOPICS = ("waggle dance", "winter cluster")

BRIEF = (60, 60)
"""The words of a finding and of a report: each of their sentences is compared with the pages."""

CALLS = 2 * len(TOPICS) + 5
"""How many calls a run makes in which nothing fails."""


def quiet(event: object) -> None:
    """Watch nothing."""


@pytest.fixture
def model(openai_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that answers every role well, unless a test puts a fault before that."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-value")
    monkeypatch.setenv("OPENAI_BASE_URL", openai_server.url)
    plan = {
        "title": "Bees",
        "thought": "",
        "steps": [{"title": title, "description": "", "queries": [title]} for title in TOPICS],
    }
    usual = [one for one in make_rules(len(TOPICS), *BRIEF) if one.get("schema") != "Draft"]
    openai_server.replace([{"schema": "Draft", "reply": plan}, *usual])
    return openai_server


@pytest.fixture
def paid(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "models": {"default": "openai:gpt-4o"}}


def fail(server: Server, **fault: Any) -> None:
    """Put a fault before the good answers."""
    server.rules.insert(0, fault)


def roles(server: Server) -> list[str]:
    """Name every request by the schema it asked for."""
    return [
        call.body.get("response_format", {}).get("json_schema", {}).get("name", "text")
        for call in server.log
    ]


async def test_a_run_over_http_uses_few_calls(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    outcome = await thread.begin(QUESTION, make(paid), quiet)

    assert outcome.state["status"] == "succeeded"
    assert len(model.log) == CALLS


PASSING = [
    {"error": 429, "headers": {"retry-after": "0"}},
    {"error": 500},
    {"error": 529},
    {"cut": 2},
    {"cut": 2, "clean": True},
    {"cut": 0},
    {"garbage": True},
    {"reply": ""},
    {"reply": "<think>hm</think>"},
    {"body": {"choices": []}},
]

DRAFT = {"schema": "Draft"}


# An answer is read as a whole where it has a schema, whichever that is, or else word by word.
@pytest.mark.parametrize(
    ("role", "fault"),
    [*product([DRAFT, REPORTER], PASSING), ({"schema": "Triage"}, PASSING[1])],
    ids=lambda one: "-".join(f"{name}={value}" for name, value in one.items())[:30],
)
async def test_a_fault_that_passes_costs_one_more_call_and_nothing_else(
    thread: ThreadSession,
    paid: dict[str, object],
    model: Server,
    fault: dict[str, Any],
    role: dict[str, Any],
):
    fail(model, **role, **fault, times=1)

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    assert outcome.state["status"] == "succeeded"
    assert len(model.log) == CALLS + 1
    assert not outcome.state["report"]["notices"]


@pytest.mark.parametrize(("status", "code"), [(401, "model_auth"), (404, "unknown_model")])
async def test_a_refused_key_or_an_unknown_model_ends_the_run_after_its_first_calls(
    thread: ThreadSession, paid: dict[str, object], model: Server, status: int, code: str
):
    fail(model, error=status)

    with pytest.raises(Problem) as problem:
        await thread.begin(QUESTION, make(paid), quiet)

    assert problem.value.code == code
    assert "sk-canary" not in str(problem.value)
    assert len(model.log) == 2


async def test_one_step_that_always_fails_keeps_the_findings_of_the_others(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    fail(model, match="<step>\nwinter cluster", error=400)

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    findings = entries_of_turn(outcome.state["findings"], 1)
    ended = [finding["status"] for finding in findings.values()]
    assert ended == ["ok", "failed"]
    assert outcome.state["status"] == "partial"
    assert "winter cluster" in str(outcome.state["messages"][-1].text)


async def test_a_model_that_is_down_is_stood_in_for_and_the_reader_is_told(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    fail(model, **REPORTER, error=500)

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    assert outcome.state["report"]["cited"]
    assert "extractive" in outcome.state["report"]["notices"][0]


async def test_a_report_that_is_cut_off_is_continued(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    fail(model, **REPORTER, reply="Bees live in hives [S1][S2][S3].", finish="length")
    fail(model, match="Go on exactly", reply="Bees dance in summer [S1][S2][S3].")

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    body = outcome.state["report"]["body"]
    assert "hives" in body
    assert "summer" in body
    assert not outcome.state["report"]["notices"]


async def test_a_typed_answer_that_is_cut_off_is_asked_for_again(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    fail(model, schema="Draft", reply='{"title": "Be', finish="length", times=1)

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    assert outcome.state["plan"]["title"] == "Bees"
    assert roles(model).count("Draft") == 2


async def test_a_server_that_knows_no_schemas_is_asked_in_words(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    for name in ("Triage", "Rewrite", "Draft", "Verdict", "Enough"):
        body = {"error": {"message": "response_format json_schema is unavailable", "type": "x"}}
        fail(model, schema=name, error=400, body=body)

    outcome = await thread.begin(QUESTION, make(paid), quiet)

    assert outcome.state["status"] in ("succeeded", "partial")
    assert roles(model).count("text") > 4


async def test_the_same_question_is_not_paid_for_twice_after_a_stop(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    fail(model, **REPORTER, error=401)
    with pytest.raises(Problem):
        await thread.begin(QUESTION, make(paid), quiet)
    before = len(model.log)
    model.rules.pop(0)

    outcome = await thread.resume(make(paid), quiet)

    assert outcome.state["status"] == "succeeded"
    assert len(model.log) == before + 2


async def streamed(
    thread: ThreadSession, paid: dict[str, object]
) -> tuple[list[str], dict[str, Any]]:
    """Run the question as a chat page does; return the report's parts and the last state."""
    parts, values = [], {}
    stream = thread.graph.astream(
        {"messages": [HumanMessage(QUESTION)]},
        thread.config,
        context=make(paid),
        stream_mode=["messages", "values"],
        subgraphs=True,
    )
    async for _, mode, data in stream:
        if mode == "messages" and isinstance(data[0], AIMessageChunk) and data[0].name != PROGRESS:
            parts.append(str(data[0].text))
        elif mode == "values" and "status" in data:
            values = data
    return parts, values


async def test_the_report_is_streamed_word_by_word(
    thread: ThreadSession, paid: dict[str, object], model: Server
):
    parts, state = await streamed(thread, paid)

    assert "the bees were seen at work" in "".join(parts)
    assert len(parts) > 5
    assert state["status"] == "succeeded"
    assert any(call.body["stream"] for call in model.log)


@pytest.mark.parametrize("fault", [{"cut": 4}, {"cut": 4, "clean": True}, {"error": 500}])
async def test_a_stream_that_breaks_off_is_not_taken_for_the_whole(
    thread: ThreadSession, paid: dict[str, object], model: Server, fault: dict[str, Any]
):
    fail(model, **REPORTER, **fault, times=1)

    _, state = await streamed(thread, paid)

    assert state["status"] == "succeeded"
    assert len(model.log) == CALLS + 1
    assert "at work all day long" in state["report"]["body"]
