"""The one door to the models: what an answer may look like, and what is read out of it."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from openai import LengthFinishReasonError
from openai.types.chat import ChatCompletion

from calls.gateway import ask
from config.errors import ErrorCode, Problem
from tests.fake_model import Script
from tests.model_calls import STATE, Bee, a_bee, asked, models, written
from tests.places import runtime


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch: pytest.MonkeyPatch, database: None, script: Script):
    """One model, and no other to fall back on."""
    del database, script
    models(tmp_path / "alone.toml", monkeypatch, 'default = "fake:any"\n')


def stopped(text: str, reason: str = "stop") -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": reason})


READ = [
    '{"title": "Maya"}',
    '  {"title": "Maya"}\n\n',
    '\ufeff{"title": "Maya"}',
    '```json\n{"title": "Maya"}\n```',
    '```\n{"title": "Maya"}\n```',
    '```JSON\n{"title": "Maya"}',
    'Here is the answer:\n\n{"title": "Maya"}',
    '{"title": "Maya"}\n\nI hope this helps!',
    'Sure!\n```json\n{"title": "Maya"}\n```\nAnything else?',
    '<think>Is it {"title": "Willy"}?</think>{"title": "Maya"}',
    '<think>\nhm\n</think>\n\n```json\n{"title": "Maya"}\n```',
    '{"title": "Maya",}',
    '{"title": "Maya", "queries": ["a", "b",],}',
    "{'title': 'Maya'}",
    "{title: 'Maya'}",
    '{title: "Maya"}',
    '{"title": “Maya”}',
    '{"title": "Maya"',
    '{"title": "Maya", "queries": ["a", "b"',
    '{"title": "Maya" "queries": ["a"]}',
    '{"title": "Maya", "queries": ["a" "b"]}',
    '{"title": "Maya", "queries": ["a"]]}',
    '{"title": "Maya"}}',
    '{"title": "Maya"} {"title": "Maya"}',
    '{"title": "Willy", "title": "Maya"}',
    '{"title": "Maya", "score": NaN}',
    '{"title": "Maya", "score": Infinity, "more": None, "done": True}',
    '{"title": "Maya", // the bee\n "queries": []}',
    '{"title": "Maya", /* the bee */ "queries": []}',
    '{"title": "Maya", "extra": {"deep": [1, 2, {"a": null}]}}',
    '{\n\t"title":\t"Maya"\r\n}',
    '{"ti\\u0074le": "M\\u0061ya"}',
    '{"title": "Maya", "queries": []}\x00',
]


@pytest.mark.parametrize("text", READ)
async def test_json_is_read_however_a_model_wraps_it(script: Script, text: str):
    script.on("Bee", stopped(text))

    assert await asked() == "Maya"
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (r'{"title": "see \upcite{maya}"}', r"see \upcite{maya}"),
        ('{"title": "two\nlines"}', "two\nlines"),
        ('{"title": "she said "hi" twice"}', 'she said "hi" twice'),
        ('{"title": "蜜蜂🐝"}', "蜜蜂🐝"),
        ('{"title": "<b> & </b>"}', "<b> & </b>"),
    ],
)
async def test_what_stands_in_a_string_stays_as_it_is(script: Script, text: str, title: str):
    script.on("Bee", stopped(text))

    assert await asked() == title


BAD = [
    "Maya.",
    "null",
    "[]",
    '["Maya"]',
    '"Maya"',
    "42",
    "{}",
    '{"titel": "Maya"}',
    '{"title": null}',
    '{"title": ["Maya"]}',
    '{"title": "Maya", "queries": "a"}',
    '{"title": "Maya", "queries": {"a": 1}}',
    '{"title": "Maya \\ud800"}',
    '{"a":' * 5_000,
    '{"a":' * 10_000,
    '{"a":' * 10_000 + "1" + "}" * 10_000,
    '{"title": ' + "[" * 100_000,
    "{" * 50_000,
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
async def test_an_answer_that_does_not_fit_is_repaired(script: Script, text: str):
    script.on("Bee", stopped(text), stopped(text), {"title": "Maya"})

    assert await asked() == "Maya"
    assert len(script.asked) == 3


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
async def test_after_two_repairs_it_is_a_failure(script: Script, text: str):
    script.on("Bee", stopped(text))

    assert await asked() == "answer_invalid"
    assert len(script.asked) == 3


async def test_a_repair_shows_the_answer_and_what_is_wrong_with_it(script: Script):
    script.on("Bee", stopped('{"titel": "Maya"}'), {"title": "Maya"})
    await asked("Which bee?")

    _, (system, question, answer, complaint) = script.asked[1]

    assert "Name one." in str(system.text)
    assert (question.text, answer.text) == ("Which bee?", '{"titel": "Maya"}')
    assert "title" in str(complaint.text)
    assert "`title` is missing." in str(complaint.text)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
async def test_an_answer_cut_off_at_the_limit_is_asked_for_more_shortly(
    script: Script, reason: str
):
    script.on("Bee", stopped('{"title": "Maya"}', reason), {"title": "Short"})

    assert await asked() == "Short"
    assert "Give a shorter answer" in script.prompts("Bee")[-1]


async def test_a_client_that_raises_at_the_limit_is_asked_for_less_too(script: Script):
    cut = ChatCompletion.model_construct(usage=None)
    script.on("Bee", LengthFinishReasonError(completion=cut), {"title": "Short"})

    assert await asked() == "Short"
    assert "Give a shorter answer" in script.prompts("Bee")[-1]
    assert len(script.asked) == 2


async def test_a_refusal_is_told_and_not_asked_again(script: Script):
    script.on("Bee", AIMessage("", additional_kwargs={"refusal": "I cannot help."}))

    assert await asked() == "model_refused"
    assert len(script.asked) == 1


async def test_the_form_of_the_answer_is_bound_and_also_said(script: Script):
    script.on("Bee", {"title": "Maya"})

    await asked()

    (name, messages), *_ = script.asked
    assert name == "Bee"
    assert '"title":{"type":"string"}' in str(messages[0].text)


async def test_what_surrounds_a_failure_to_fit_is_named(script: Script):
    script.on("Bee", stopped("no"))

    with pytest.raises(Problem, match="the planner's answer does not fit Bee"):
        await a_bee()


async def test_a_text_that_was_cut_off_at_the_limit_is_not_complete(script: Script):
    script.on("reporter", stopped("Bees da", "length"), stopped("Bees dance."))

    assert (await written("a?")).complete is False
    assert (await written("b?")).complete is True


async def test_thinking_aloud_is_no_part_of_a_text(script: Script):
    script.on("reporter", stopped("<think>hm</think>\nBees dance.\ud800\x00"))

    assert (await written()).text == "Bees dance."


async def test_an_error_of_ours_is_not_shown_to_the_model_as_a_mistake_of_its(script: Script):
    script.on("Bee", stopped("no"))

    with pytest.raises(Problem) as failure:
        await ask(STATE, runtime(models={"planner": "nobody"}), "planner", "", [], Bee)

    assert failure.value.code == "unknown_model"
    assert script.asked == []


async def test_a_long_answer_that_does_not_fit_is_not_sent_back_whole(script: Script):
    script.on("Bee", stopped("no " * 30_000), {"title": "Maya"})

    assert await asked() == "Maya"
    assert len(str(script.asked[1][1][2].text)) == 30_000


async def test_where_there_is_no_answer_another_may_stand_in(script: Script):
    other = Bee(title="Willy")
    said = [HumanMessage("Which bee?")]

    script.on("Bee", Problem(ErrorCode.MODEL_REFUSED, "no"))
    assert await ask(STATE, runtime(), "planner", "", said, Bee, default=other) == other


async def test_nothing_stands_in_for_an_answer_that_no_call_would_get(script: Script):
    other = Bee(title="Willy")
    said = [HumanMessage("Which bee?")]
    script.on("Bee", Problem(ErrorCode.MODEL_AUTH, "no"))

    with pytest.raises(Problem) as problem:
        await ask(STATE, runtime(), "planner", "", said, Bee, default=other)

    assert problem.value.code == "model_auth"


async def test_each_call_is_answered_by_the_model_of_its_run(script: Script):
    script.on("reporter", stopped("Bees dance."))

    runs = [{"default": "fake:one"}, {"default": "fake:two"}, {"default": "fake:one"}]
    told = [(await written(str(models), models=models)).model for models in runs]

    assert told == ["fake:one", "fake:two", "fake:one"]


async def test_a_typed_answer_goes_straight_to_the_model_without_an_agent(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    def made(*_: object) -> None:
        raise AssertionError("no graph is compiled for one answer")

    monkeypatch.setattr("calls.gateway.get_agent", made)
    monkeypatch.setattr("calls.stack.create_agent", made)
    script.on("Bee", stopped('{"title": "Maya"}'))

    assert await asked() == "Maya"
