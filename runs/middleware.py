"""What surrounds every model call: ledger, fallback, retry, budget and trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, messages_from_dict, messages_to_dict
from langchain_core.messages.ai import UsageMetadata
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from config.errors import Problem
from config.models import price
from config.settings import settings
from retrieval.secrets import masked_within
from retrieval.tokens import count, exact
from runs import faults, ledger
from runs.around import Around
from runs.ledger import Call, Cost, Said
from runs.trace import trace

Handler = Callable[[ModelRequest[Around]], Awaitable[ModelResponse[Any]]]

ANSWER_TOKENS = 2_000
"""How many tokens an answer is expected to have at most, where the model sets no limit."""

ABSURD = 10_000_000
"""More tokens than any call uses; a server that says so is not believed."""

WRITERS = ("researcher", "coder", "reporter")
"""Roles who write from what was read: their words may be those of any page."""

APART = ("memorizer", "checker")
"""Roles whose words are no step of a run: they are about other runs, or about the person."""


class Ledger(AgentMiddleware[Any, Around, Any]):
    """Answer from the ledger; ask and record what it does not know."""

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Return the recorded response to this very request, or make and record it."""
        around = request.runtime.context
        call = Call(around.here, "model", around.role, _plain(request))
        known = await ledger.recorded(call)
        if known is not None:
            await trace(around.here, "model", around.role, "recorded")
            return ModelResponse(result=messages_from_dict(known))
        started = time.time()
        response = _masked(await handler(request))
        spent = replace(_cost(_reply(response), request), session=around.budget.session)
        result = messages_to_dict(response.result)
        said = None if around.role in APART else _said(around.role, _reply(response))
        await ledger.record(call, result, started, spent, said)
        return response


class Fallback(AgentMiddleware[Any, Around, Any]):
    """Ask another model when the first one is down, never when a cap or a key says no."""

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Pass the request on, and once more to the other model if that fails."""
        try:
            return await handler(request)
        except Problem as problem:
            other = request.runtime.context.fallback
            if other is None or problem.code not in faults.REPLACEABLE:
                raise
        return await handler(request.override(model=other))


class Retry(AgentMiddleware[Any, Around, Any]):
    """Ask again after a failure that may pass: three times, six when asked to slow down."""

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Pass the request on until it is answered, it is enough, or the wait would be too long."""
        around = request.runtime.context

        def stop(state: RetryCallState) -> bool:
            return _enough(state) or 0 < around.budget.left(around.role) < state.upcoming_sleep

        retrying = AsyncRetrying(
            retry=retry_if_exception(_may_pass), wait=_wait, stop=stop, reraise=True
        )
        response: ModelResponse[Any] = await retrying(handler, request)
        return response


class Meter(AgentMiddleware[Any, Around, Any]):
    """Let one physical call through if the budget allows it, time it and trace it."""

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Make the call.

        Raises:
            Problem: What `runs.faults` tells of, or `budget_spent`.
        """
        around = request.runtime.context
        started, spent, status = time.monotonic(), Cost(model=_name(request.model)), "ok"
        worst, told, reserved = _worst(request), True, around.budget.reserved()
        try:
            async with around.budget.reserve(around.role, worst, settings().call_seconds):
                started, reserved = time.monotonic(), around.budget.reserved()
                response = await self._timed(request, handler)
            told = _tells(_reply(response)) and not spent.model.startswith("extractive")
            spent = _told(_reply(response), request, worst)
            around.budget.spend(spent)
            if problem := faults.complaint(_reply(response)):
                raise problem
        except Problem as problem:
            status = problem.code
            raise
        else:
            return response
        finally:
            seconds = round(time.monotonic() - started, 4)
            used = {"tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out}
            used |= {} if told or exact() else {"estimated": True}
            more = {"model": spent.model, "seconds": seconds, "dollars": spent.dollars, **used}
            held = {"estimate": worst.dollars, "reserved": reserved.dollars}
            await trace(around.here, "model", around.role, status, **more, **held)

    async def _timed(self, request: ModelRequest[Around], handler: Handler) -> ModelResponse[Any]:
        around = request.runtime.context
        seconds = min(settings().call_seconds, around.budget.left(around.role))
        try:
            async with asyncio.timeout(seconds):
                response = await handler(request)
        except Problem:
            raise
        except faults.client_errors() as error:
            raise faults.told(error) from error
        _reply(response).response_metadata["model"] = _name(request.model)
        return response


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, Problem) and error.code in faults.RETRYABLE


def _enough(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    slow_down = isinstance(error, Problem) and error.code == "rate_limited"
    return state.attempt_number >= (6 if slow_down else 3)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    full_jitter = wait_random_exponential(multiplier=settings().retry_seconds, max=60)(state)
    # Branches that are told to wait equally long must not come back at the same moment.
    return min(full_jitter + faults.wait_asked(error.__cause__ if error else None), 60.0)


def _plain(request: ModelRequest[Around]) -> dict[str, Any]:
    """Return what is asked as plain data, without the ids that differ from run to run."""
    said = [
        [message.type, message.content, getattr(message, "tool_calls", None)]
        for message in request.messages
    ]
    tools = [tool["name"] if isinstance(tool, dict) else tool.name for tool in request.tools]
    system = request.system_message.content if request.system_message else ""
    return {"system": system, "said": said, "tools": tools, "settings": request.model_settings}


def _worst(request: ModelRequest[Around]) -> Cost:
    """Return what a call costs when its answer is as long as it may be."""
    said = [*request.messages, *([request.system_message] if request.system_message else [])]
    name, read = _name(request.model), sum(count(str(message.text)) for message in said)
    written = getattr(request.model, "max_tokens", None) or ANSWER_TOKENS
    return Cost(name, read, written, price(name, read, written))


def _told(reply: AIMessage, request: ModelRequest[Around], worst: Cost) -> Cost:
    """Return what a call used; counted here, and written on the reply, if the server is silent."""
    if not _tells(reply):
        read, written = worst.tokens_in, count(str(reply.text))
        reply.usage_metadata = UsageMetadata(
            input_tokens=read, output_tokens=written, total_tokens=read + written
        )
    return _cost(reply, request)


def _tells(reply: AIMessage) -> bool:
    """Say whether a server told what a call used, as far as that can be believed."""
    usage = reply.usage_metadata
    if not usage:
        return False
    return 0 < usage["input_tokens"] < ABSURD and 0 <= usage["output_tokens"] < ABSURD


def _cost(reply: AIMessage, request: ModelRequest[Around]) -> Cost:
    """Return what a reply says that its call used."""
    usage = reply.usage_metadata or UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    name = reply.response_metadata.get("model", _name(request.model))
    read, written = usage["input_tokens"], usage["output_tokens"]
    return Cost(name, read, written, price(name, read, written))


def _said(role: str, reply: AIMessage) -> Said:
    """Return what a model did: what it said, or the tools it wanted used.

    What is written from pages is what came of it; that it was written is what was done.
    """
    wanted = " ".join(f"{one['name']}({one['args']})" for one in reply.tool_calls)
    text = str(reply.text).strip()
    if role not in WRITERS:
        return Said(f"{text} {wanted}".strip())
    return Said(wanted or f"wrote {len(text.split())} words", text)


def _masked(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """Return a response whose tools are handed no secret, whatever page the model has it from."""
    for message in response.result:
        if isinstance(message, AIMessage):
            message.tool_calls = masked_within(message.tool_calls)
    return response


def _reply(response: ModelResponse[Any]) -> AIMessage:
    message = response.result[-1]
    if not isinstance(message, AIMessage):
        what = f"the model answered with a {message.type} message"
        raise Problem("model_unavailable", what)
    return message


def _name(model: BaseChatModel) -> str:
    return str((model.metadata or {}).get("model", model.get_name()))
