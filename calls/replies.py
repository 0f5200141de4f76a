"""Describe the form of a typed answer, and read it however a model wraps it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated, Any, TypeVar

import json_repair
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import AfterValidator, BaseModel, ValidationError

from config.errors import ErrorCode, Problem
from prompts.loader import render_prompt
from prompts.typed_answers import describe_answer_error, describe_field_errors
from report.markdown.sanitizer import sanitize_query, sanitize_text
from text.normalization import normalize_text
from text.regex import regex

Answer = TypeVar("Answer", bound=BaseModel)

VisibleText = Annotated[str, AfterValidator(sanitize_text)]
"""What a model writes that a person sees outside a report: in a chat, a review or a terminal."""

SearchText = Annotated[str, AfterValidator(sanitize_query)]
"""A search query of a model, which a person sees too."""


def _drop_blank(searches: list[str]) -> list[str]:
    return [query for query in searches if query.strip()]


SearchTexts = Annotated[list[SearchText], AfterValidator(_drop_blank)]
"""The queries of several searches, without blank ones."""

MAX_REPAIRABLE = 30_000
"""How many characters of JSON are repaired, and shown to the model again.

Repairing takes up to the square of the length: 2 seconds for 30,000 open brackets.
"""

CUT_OFF = "cut"
"""The code of an answer that was cut off at the limit."""


class UnreadableAnswer(ValueError):
    """An answer has no object that could be read; its one argument says why, as a code."""


_WORDS = frozenset(["title", "description", "default"])
"""The keys of a schema that do not tell the form of an answer."""

_NAMED = frozenset(["properties", "$defs"])
"""The keys of a schema whose values are schemas by the names of fields and of models."""


@cache
def describe_schema(schema: type[BaseModel], tongue: str = "en") -> str:
    """Return the form of an answer as a prompt in a language asks for it."""
    written = json.dumps(bare_schema(schema), ensure_ascii=False, separators=(",", ":"))
    return render_prompt("typed", language=tongue, schema=written)


@cache
def bare_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of an answer without words.

    What its fields hold is said in the prompt that asks for it (ADR 64).
    """
    form: dict[str, Any] = _without_words(schema.model_json_schema())
    return form


def _without_words(form: Any) -> Any:
    if isinstance(form, list):
        return [_without_words(item) for item in form]
    if not isinstance(form, dict):
        return form
    return {
        name: {field: _without_words(one) for field, one in value.items()}
        if name in _NAMED
        else _without_words(value)
        for name, value in form.items()
        if name not in _WORDS
    }


def parse_answer(reply: AnyMessage, schema: type[Answer]) -> Answer:
    """Read a typed answer.

    Raises:
        UnreadableAnswer: If no object is there, or the reply was cut off.
        ValidationError: If it does not fit.
    """
    if isinstance(reply, AIMessage) and finish_reason(reply) == "length":
        raise UnreadableAnswer(CUT_OFF)
    text = reply_text(reply) if isinstance(reply, AIMessage) else str(reply.text)
    try:
        return schema.model_validate_json(text)
    except ValidationError:
        return schema.model_validate_json(_repair_json(text))


def explain_invalid_answer(error: ValueError, tongue: str) -> str:
    """Say in the language of a prompt what is wrong with an answer that `parse_answer` refused."""
    if isinstance(error, ValidationError):
        return describe_field_errors(error.errors(include_url=False, include_input=False), tongue)
    return describe_answer_error(str(error), tongue)


def _repair_json(text: str) -> str:
    """Repair what models often get wrong in JSON.

    Raises:
        UnreadableAnswer: If no object is there, or it is too long or too deep to be repaired.
    """
    start = text.find("{")
    if start < 0 or len(text) > MAX_REPAIRABLE:
        raise UnreadableAnswer("no_object")
    try:
        return json.dumps(json_repair.loads(text[start:]))
    except RecursionError as error:
        raise UnreadableAnswer("too_deep") from error


LIMITS = {"length", "max_tokens", "model_length"}
"""The finish reasons of OpenAI, Anthropic and Google, and Mistral for a cut-off answer."""

REFUSALS = {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation"}
"""Their finish reasons for a refusal."""

THINKING = regex(r"<think>.*?(</think>|\Z)", re.DOTALL)


def reply_problem(message: AIMessage) -> Problem | None:
    """Return what is wrong with a reply that arrived: empty, cut off or refused."""
    finish = finish_reason(message)
    if finish in REFUSALS or message.additional_kwargs.get("refusal"):
        return Problem(ErrorCode.MODEL_REFUSED, "the model refused to answer")
    if not finish:
        return Problem(ErrorCode.ANSWER_CUT, "the answer ended in the middle")
    if not reply_text(message) and not message.tool_calls and finish != "length":
        return Problem(ErrorCode.ANSWER_EMPTY, "the model said nothing")
    return None


def finish_reason(message: AIMessage) -> str:
    """Return why the model stopped: `length` at its limit; empty if it did not say."""
    metadata: dict[str, Any] = message.response_metadata
    words = (metadata.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))
    reason = str(next(filter(None, words), "")).lower()
    return "length" if reason in LIMITS else reason


def reply_text(message: AIMessage) -> str:
    """Return the text of a reply, without the reasoning that some models put into it."""
    return normalize_text(THINKING.sub("", str(message.text))).strip()
