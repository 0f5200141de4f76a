"""Estimate what a call needs, and limit its answer in the way of each provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from langchain.agents.middleware.types import ModelRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from calls.run_budget import USUAL_ANSWER_TOKENS, CallNeed
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive, token_prices
from config.resources import Resource
from config.settings import settings
from text.regex import regex
from text.tokens import count_tokens, estimate_tokens, is_count_exact

FIELDS = ("max_tokens", "max_output_tokens", "num_predict", "max_completion_tokens")
"""The names of the limit in LangChain's clients, which differ by provider."""

LONG_ANSWER_TOKENS = 8_000
"""The longest answer of a model that does not say how long it may be."""

EACH = 4
"""How many tokens a message has beside its text."""

TOKEN_MARGIN = 1.25
"""The factor on the tokens of a prompt if they are not counted as its model counts them."""

NEARLY = 0.9
"""The share of its limit from which an answer that was cut off counts as having reached it."""

LIMIT = regex(r"max_?(completion_?|output_?|new_?)?tokens|in the completion|num_predict")
TOO_LARGE = regex(r"too large|too long|at most|maximum|exceed|less than|greater than|reduce")
"""The words of servers that refuse a request because of its limit, and of the limit's size."""

WAYS = ("field", "body", "none")
"""Ways to send the limit: as the client does, by its older name, or not at all."""

_ways = Resource(dict[str, int])
_most = Resource(dict[str, int])
"""By the name of a model: the way that its server accepts, and the largest limit."""


def estimate_need(
    request: ModelRequest[Any], wanted: int = USUAL_ANSWER_TOKENS, *, exact: bool = False
) -> CallNeed:
    """Return what a call needs.

    Args:
        request: The request as it will be sent.
        wanted: How many tokens the answer is to be allowed, if the caps have room.
        exact: Whether tokens are counted by the vocabulary, where it is on this disk.
    """
    dollars_in, dollars_out = token_prices(chat_model_name(request.model))
    read = count_request_tokens(request, exact=exact)
    return CallNeed(read, _longest(request.model, read), dollars_in, dollars_out, wanted)


def limit_output(model: BaseChatModel, tokens: int) -> BaseChatModel:
    """Return a model with a limit on its answer; the same one if it takes none."""
    field, way = _field(model), WAYS[_ways.get().get(chat_model_name(model), 0)]
    if not field or way == "none":
        return model
    if way == "field":
        return model.model_copy(update={field: tokens})
    body = {**(getattr(model, "extra_body", None) or {}), "max_tokens": tokens}
    return model.model_copy(update={"extra_body": body})


def adapt_output_limit(model: BaseChatModel, problem: Problem) -> bool:
    """Say whether a request that was refused for its limit may be sent with another one.

    The windows of compatible servers are unknown, and some know only the older name.
    """
    name = chat_model_name(model)
    refused = problem.code in (ErrorCode.MODEL_REJECTED, ErrorCode.MODEL_CONTEXT)
    way = _ways.get().get(name, 0)
    if not (refused and _field(model) and LIMIT.search(problem.hint)) or WAYS[way] == "none":
        return False
    if (
        TOO_LARGE.search(problem.hint)
        and _most.get().get(name, USUAL_ANSWER_TOKENS + 1) > USUAL_ANSWER_TOKENS
    ):
        _most.get()[name] = USUAL_ANSWER_TOKENS
        return True
    older = hasattr(model, "extra_body") and WAYS[way] == "field"
    _ways.get()[name] = WAYS.index("body" if older else "none")
    return True


def reached_output_limit(reply: AIMessage, limit: int) -> bool:
    """Say whether an answer that was cut off has reached a limit."""
    usage = reply.usage_metadata
    return usage is None or usage["output_tokens"] >= NEARLY * limit


def chat_model_name(model: BaseChatModel) -> str:
    """Return the name of a model, as `provider:name`."""
    return str((model.metadata or {}).get("model", model.get_name()))


def _field(model: BaseChatModel) -> str:
    return next((name for name in FIELDS if name in type(model).model_fields), "")


def _longest(model: BaseChatModel, read: int) -> int:
    """Return how long an answer of a model may be, whatever the run has left."""
    profile = getattr(model, "profile", None) or {}
    limits = (profile.get("max_output_tokens"), *(getattr(model, name, None) for name in FIELDS))
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    window = settings().context_tokens
    unknown = (
        min(LONG_ANSWER_TOKENS, window // 4, window - read)
        if _field(model)
        else USUAL_ANSWER_TOKENS
    )
    longest = min(known) if known else max(unknown, USUAL_ANSWER_TOKENS)
    return min(longest, _most.get().get(chat_model_name(model), longest))


def count_request_tokens(request: ModelRequest[Any], *, exact: bool = True) -> int:
    """Return how many tokens a request has, at least as many as its model may count."""
    count = count_tokens if exact else estimate_tokens
    messages = [*request.messages, *([request.system_message] if request.system_message else [])]
    tokens = EACH * len(messages) + sum(map(count, _request_texts(request, messages)))
    alike = _is_counted_alike(request.model, exact=exact)
    return tokens if alike else round(tokens * TOKEN_MARGIN)


def _request_texts(request: ModelRequest[Any], messages: Sequence[Any]) -> Iterator[str]:
    for message in messages:
        yield str(message.text)
        if calls := getattr(message, "tool_calls", None):
            yield json.dumps([[call["name"], call["args"]] for call in calls])
    yield from map(_tool_schema, request.tools)
    if request.model_settings:
        yield json.dumps(request.model_settings)


_schemas: dict[str, str] = {}


def _tool_schema(tool: BaseTool | dict[str, Any]) -> str:
    """Return the description of a tool for a model, serialised once."""
    if isinstance(tool, dict):
        return json.dumps(tool)
    if tool.name not in _schemas:
        _schemas[tool.name] = json.dumps(cast("Any", convert_to_openai_tool(tool)))
    return _schemas[tool.name]


def _is_counted_alike(model: BaseChatModel, *, exact: bool) -> bool:
    """Say whether tokens are counted here as the model's provider does."""
    name = chat_model_name(model)
    return is_extractive(name) or (
        exact and is_count_exact() and name.startswith(("openai:gpt", "openai:o"))
    )
