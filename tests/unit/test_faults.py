"""What a client raises, and what a person is told."""

from __future__ import annotations

import json
import socket

import httpx
import httpx2
import openai
import pytest
from langchain_core.exceptions import (
    ModelAuthenticationError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelRateLimitError,
)
from langchain_core.messages import AIMessage
from langchain_openai.chat_models import base
from openai.types.chat import ChatCompletion

from calls.replies import finish_reason, reply_problem, reply_text
from config.errors import ErrorCode, Problem
from models.faults import (
    FATAL,
    REPLACEABLE,
    RETRYABLE,
    client_errors,
    raise_if_fatal,
    requested_wait,
    to_model_problem,
)
from tests.cases import each_case

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")

CUT = ChatCompletion.model_validate(
    {
        "id": "x",
        "model": "m",
        "object": "chat.completion",
        "created": 0,
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "message": {"role": "assistant", "content": '{"ti'},
            }
        ],
    }
)


def answered(
    kind: type[openai.APIStatusError], status: int, said: str = "no", **headers: str
) -> openai.APIStatusError:
    """Return the error of a client that was answered with a status."""
    reply = httpx2.Response(status, headers=headers, request=REQUEST)
    return kind(said, response=reply, body={"message": said, "code": said})


TOLD = [
    (answered(base.OpenAIContextOverflowError, 400), "model_context"),
    (answered(base.OpenAIInvalidRequestError, 400), "model_rejected"),
    (answered(openai.BadRequestError, 400, "context_length_exceeded"), "model_context"),
    (answered(base.OpenAIAuthenticationError, 401), "model_auth"),
    (answered(base.OpenAIPermissionDeniedError, 403), "model_auth"),
    (answered(base.OpenAIModelNotFoundError, 404), "unknown_model"),
    (answered(openai.APIStatusError, 408), "model_unavailable"),
    (answered(openai.ConflictError, 409), "model_unavailable"),
    (answered(openai.APIStatusError, 413), "model_context"),
    (answered(openai.UnprocessableEntityError, 422), "model_rejected"),
    (answered(base.OpenAIRateLimitError, 429), "rate_limited"),
    (answered(base.OpenAIRateLimitError, 429, "insufficient_quota"), "model_quota"),
    (answered(base.OpenAIAPIError, 500), "model_unavailable"),
    (answered(base.OpenAIAPIError, 503), "model_unavailable"),
    (answered(base.OpenAIAPIError, 529), "model_unavailable"),
    (base.OpenAIConnectionError(request=REQUEST), "model_unavailable"),
    (base.OpenAITimeoutError(request=REQUEST), "model_timeout"),
    (openai.APIError("overloaded", REQUEST, body=None), "model_unavailable"),
    (openai.LengthFinishReasonError(completion=CUT), "answer_too_long"),
    (openai.ContentFilterFinishReasonError(), "model_refused"),
    (httpx.ConnectError("refused"), "model_unavailable"),
    (httpx.ReadTimeout("slow"), "model_timeout"),
    (httpx2.ReadTimeout("slow"), "model_timeout"),
    (httpx2.RemoteProtocolError("gone"), "model_unavailable"),
    (TimeoutError(), "model_timeout"),
    (ConnectionResetError(), "model_unavailable"),
    (socket.gaierror("no such host"), "model_unavailable"),
    (json.JSONDecodeError("Expecting value", "", 0), "model_unavailable"),
    (ValueError("Expected a dict, got str: '<html>'"), "model_unavailable"),
    (TypeError("null value for 'choices'"), "model_unavailable"),
    (IndexError("list index out of range"), "model_unavailable"),
    (AttributeError("'str' object has no attribute 'choices'"), "model_unavailable"),
    (AssertionError(), "model_unavailable"),
    (ModelAuthenticationError("another provider's"), "model_auth"),
    (ModelNotFoundError("another provider's"), "unknown_model"),
    (ModelRateLimitError("another provider's"), "rate_limited"),
    (ModelInvalidRequestError("another provider's"), "model_rejected"),
]


@each_case(TOLD)
def test_what_a_client_raises_is_caught_and_told(error: Exception, code: str):
    assert isinstance(error, client_errors())
    assert to_model_problem(error).code == code


def test_what_is_told_stays_one_short_line():
    problem = str(to_model_problem(ValueError("first\nsecond " * 100)))

    assert "\n" not in problem
    assert len(problem) < 400


def test_a_refused_key_is_not_repeated():
    error = answered(base.OpenAIAuthenticationError, 401, "Incorrect API key provided: sk-12ab")

    assert "sk-12ab" not in str(to_model_problem(error))


def test_only_what_may_pass_is_asked_again_and_nothing_of_that_is_fatal():
    assert RETRYABLE <= REPLACEABLE
    assert not REPLACEABLE & FATAL
    assert not RETRYABLE & {"model_auth", "model_rejected", "model_refused", "budget_spent"}


def test_a_failure_of_one_call_is_borne_and_one_of_every_call_is_raised():
    raise_if_fatal(Problem(ErrorCode.MODEL_REFUSED, "no"))

    with pytest.raises(Problem) as problem:
        raise_if_fatal(Problem(ErrorCode.MODEL_AUTH, "no"))

    assert problem.value.code == "model_auth"


@pytest.mark.parametrize("name", ["busy", "corrupt", "full", "unavailable"])
def test_nothing_more_is_paid_for_while_nothing_can_be_kept(name: str):
    assert f"storage_{name}" in FATAL


@each_case(
    [
        ("0", 0),
        ("7", 7),
        ("1.5", 1.5),
        ("60", 60),
        ("86400", 60),
        ("-3", 0),
        ("soon", 0),
        ("", 0),
        ("1.2.3", 0),
        ("²", 0),
        ("nan", 0),
        ("inf", 0),
    ]
)
def test_a_server_may_ask_for_a_minute_at_most(asked: str, seconds: float):
    header = (b"retry-after", asked.encode("latin-1"))
    reply = httpx2.Response(429, headers=[header], request=REQUEST)
    error = openai.RateLimitError("slow down", response=reply, body=None)

    assert requested_wait(error) == seconds


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Fri, 01 Jan 2900 00:00:00 GMT", 60),
        ("Fri, 01 Jan 99999999999999999999 00:00:00 GMT", 0),
        ("Fri, 32 Jan 2900 00:00:00 GMT", 0),
    ],
)
def test_a_server_may_name_the_time_to_come_back(date: str, seconds: float):
    reply = httpx2.Response(429, headers={"retry-after": date}, request=REQUEST)
    error = openai.RateLimitError("slow down", response=reply, body=None)

    assert requested_wait(error) == seconds


@pytest.mark.parametrize("error", [None, TimeoutError(), answered(base.OpenAIAPIError, 500)])
def test_a_server_that_does_not_ask_is_not_waited_for(error: Exception | None):
    assert requested_wait(error) == 0


def said(text: str | list[object] = "Bees.", finish: str = "stop", **more: object) -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": finish}, **more)


CALL = {"name": "search", "args": {}, "id": "1"}


@each_case(
    [
        (said(), None),
        (said(tool_calls=[CALL], text="", finish="tool_calls"), None),
        (said("", "length"), None),
        (said("half a", "length"), None),
        (said([{"type": "text", "text": "Bees."}]), None),
        (AIMessage("Bees.", response_metadata={"stop_reason": "end_turn"}), None),
        (AIMessage("Bees.", response_metadata={"done_reason": "stop"}), None),
        (said(""), "answer_empty"),
        (said(" \n\t"), "answer_empty"),
        (said("<think>hm</think>"), "answer_empty"),
        (said("<think>hm, this never ends"), "answer_empty"),
        (said("\u200e\ufeff\x00"), "answer_empty"),
        (AIMessage("half a"), "answer_cut"),
        (said(finish=""), "answer_cut"),
        (said("no", "content_filter"), "model_refused"),
        (said("", "SAFETY"), "model_refused"),
        (AIMessage("no", response_metadata={"stop_reason": "refusal"}), "model_refused"),
        (said("", additional_kwargs={"refusal": "I cannot help."}), "model_refused"),
    ]
)
def test_a_reply_that_is_empty_cut_or_refused_is_told(reply: AIMessage, code: str | None):
    problem = reply_problem(reply)

    assert (problem.code if problem else None) == code


@pytest.mark.parametrize("word", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_every_providers_word_for_the_limit_is_the_same(word: str):
    assert finish_reason(AIMessage("a", response_metadata={"finish_reason": word})) == "length"
    assert finish_reason(AIMessage("a", response_metadata={"stop_reason": word})) == "length"


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("<think>hm\nhm</think>\nBees dance.", "Bees dance."),
        ("<think>a</think>Bees <think>b</think>dance.", "Bees dance."),
        ("Bees dance. <think>hm", "Bees dance."),
        ("Bees\r\ndance\x00 \ud800here.", "Bees\ndance here."),
        ("  蜜蜂跳舞。 ", "蜜蜂跳舞。"),
    ],
)
def test_thinking_aloud_and_what_no_text_may_hold_is_not_heard(text: str, heard: str):
    assert reply_text(AIMessage(text)) == heard
