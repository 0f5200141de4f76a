"""The middleware of every model call: ledger, fallback, retry and meter."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from itertools import count
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, messages_from_dict, messages_to_dict
from langchain_core.messages.ai import UsageMetadata
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from calls import ledger, output_limit, replies
from calls.attempts import begin_attempt, end_statement
from calls.call_context import CallContext, CallHandler
from calls.call_spans import AttemptSpan
from calls.context_window import learn_window
from calls.ledger import ActionRecord, CallCost, LedgerCall
from calls.run_budget import USUAL_ANSWER_TOKENS, Reservation
from calls.run_progress import tell_costs
from config.errors import ErrorCode, Problem
from config.key_masking import mask_keys
from config.model_table import call_price, is_extractive
from config.settings import settings
from models import faults
from runs.cost_quotas import check_cost_room
from runs.trace import trace
from storage.engine import commit_statements
from text.secret_masking import mask_secrets_within
from text.tokens import count_tokens, is_count_exact, load_vocabulary

ABSURD = 10_000_000
"""More tokens than any call uses; a server that reports so many is not believed."""

WRITERS = ("researcher", "coder", "reporter")
"""Roles that write from sources: their words may be those of any page."""

ROLES_OUTSIDE_RUN = ("memorizer", "checker")
"""Roles whose answers are no step of a run: they concern other runs, or the person."""


class LedgerMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Answer from the ledger; make and record the calls that it does not have."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Return the recorded response to this very request, or make and record it."""
        around = request.runtime.context
        call = LedgerCall(around.site, "model", around.role, _request_data(request))
        known, revision = await ledger.find_recorded_with_revision(call)
        while known is not None and (cap := _raised_cap(known, around)):
            call = replace(call, request={**call.request, "after": cap})
            known = await ledger.find_recorded(call)
        if known is not None:
            await trace(around.site, "model", around.role, "recorded")
            return ModelResponse(result=messages_from_dict(known))
        started = time.time()
        read_at = cast("Any", {**request.state, "revision": revision})
        response = _clean_response(await handler(request.override(state=read_at)))
        reply = _reply(response)
        spent = _cost(reply, reply.response_metadata["model"])
        spent = replace(spent, session=around.budget.session)
        ended = end_statement(reply.response_metadata["attempt"], "ok", spent)
        if "stood_in" in reply.response_metadata and is_extractive(spent.model):
            # It cost nothing, and the chosen model may be available again when the run resumes.
            await commit_statements(ended)
            return response
        result = messages_to_dict(response.result)
        action = None if around.role in ROLES_OUTSIDE_RUN else _action_record(around.role, reply)
        await ledger.record_call(call, result, started, spent, action, also=[ended])
        return response


class FallbackMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Ask another model when the first one is down, never because of a cap or a wrong key."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on, and once more to the other model if the first fails."""
        try:
            return await handler(request)
        except Problem as problem:
            other, failed = request.runtime.context.fallback, problem
            if other is None or problem.code not in faults.REPLACEABLE:
                raise
        response = await handler(request.override(model=other))
        _reply(response).response_metadata["stood_in"] = failed.as_dict()
        return response


class RetryMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Retry after a transient failure: up to three attempts, six when asked to slow down."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on until it is answered, or no attempt or time is left."""
        around = request.runtime.context

        def stop(state: RetryCallState) -> bool:
            """Tell whether to give up: tried enough, or the wait would outlast the time limit."""
            return (
                _has_tried_enough(state)
                or 0 < around.budget.seconds_left(around.role) < state.upcoming_sleep
            )

        retrying = AsyncRetrying(
            retry=retry_if_exception(_is_retryable), wait=_wait, stop=stop, reraise=True
        )
        response: ModelResponse[Any] = await retrying(handler, request)
        return response


class MeterMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Make physical calls if the budget allows them; limit, time, trace and record each."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Make the call; repeat it if its server refuses the limit, or if a longer answer fits.

        Raises:
            Problem: Whatever `models.faults` names, or `budget_spent`.
        """
        around, wanted = request.runtime.context, USUAL_ANSWER_TOKENS
        while True:
            sent = _SentCall(request, wanted)
            try:
                response = await sent.answered(handler)
            except Problem as problem:
                if output_limit.adapt_output_limit(request.model, problem):
                    continue
                learn_window(request.model, problem, sent.need.tokens_in)
                raise
            if (
                not sent.capped
                or around.budget.answer_room(around.role, sent.need) < 2 * sent.limit
            ):
                return response
            await commit_statements(end_statement(sent.attempt, "answer_capped", sent.cost))
            wanted = 4 * sent.limit


class _SentCall:
    """One attempt of a call: what it may use, what it used, and how it ended."""

    def __init__(self, request: ModelRequest[CallContext], wanted: int) -> None:
        self.request, self.around = request, request.runtime.context
        self.need = output_limit.estimate_need(request, wanted)
        self.wanted = wanted
        self.name = output_limit.chat_model_name(request.model)
        self.worst = self.cost = CallCost(self.name)
        self.status, self.attempt, self.capped, self.estimated = "ok", "", "", False
        self.limit, self.started, self.why = 0, time.monotonic(), ""
        self.reply: AIMessage | None = None
        self.span: AttemptSpan | None = None

    async def answered(self, handler: CallHandler) -> ModelResponse[Any]:
        """Make the attempt; a successful one is settled where its answer is recorded.

        Raises:
            Problem: Whatever `models.faults` names, or `budget_spent`.
        """
        budget, role = self.around.budget, self.around.role
        reserved, limit = budget.reserved(), settings().call_seconds
        if budget.is_tight(role, self.need):
            await load_vocabulary()
            self.need = output_limit.estimate_need(self.request, self.wanted, exact=True)
        try:
            if role != "reporter":
                # Any run ends in a report.
                await check_cost_room(self.around.site.owner)
            async with budget.reserve(role, self.need, limit) as mine:
                reserved = budget.reserved()
                seconds = min(limit, budget.seconds_left(role))
                await self._begin(mine, seconds)
                try:
                    response = await self._send(handler, seconds)
                    if not _reports_usage(_reply(response)):
                        await load_vocabulary()
                    return self._accept(response, mine)
                except BaseException as error:
                    self._fail(error)
                    raise
                finally:
                    mine.used = self.cost
        except Problem as problem:
            self.status = problem.code
            raise
        finally:
            await self._end(reserved)

    async def _begin(self, mine: Reservation, seconds: float) -> None:
        """Record the attempt with the most it may use, before it is sent."""
        session, need = self.around.budget.session, self.need
        self.limit, self.started = mine.limit, time.monotonic()
        self.worst = CallCost(self.name, need.tokens_in, mine.limit, mine.dollars, session)
        self.cost = self.worst
        site, role = self.around.site, self.around.role
        self.attempt = await begin_attempt(site, role, self.worst, seconds)
        self.span = AttemptSpan(site, role, self.attempt, self.name, self.limit)

    async def _send(self, handler: CallHandler, seconds: float) -> ModelResponse[Any]:
        model = output_limit.limit_output(self.request.model, self.limit)
        try:
            async with asyncio.timeout(seconds):
                return await handler(self.request.override(model=model))
        except Problem:
            raise
        except faults.client_errors() as error:
            problem = faults.to_model_problem(error)
            raise self.around.budget.explain_timeout(self.around.role, problem) from error

    def _accept(self, response: ModelResponse[Any], mine: Reservation) -> ModelResponse[Any]:
        """Note what an answer used; add its attempt and the cap that cut it off to its metadata."""
        self.reply = reply = _reply(response)
        reply.response_metadata["model"] = self.name
        problem = replies.reply_problem(reply)
        self.estimated = is_extractive(self.name) or not (_reports_usage(reply) or is_count_exact())
        lost = (
            problem is not None
            and problem.code == ErrorCode.ANSWER_CUT
            and not _reports_usage(reply)
        )
        # How much of a reply that broke off is billed is unknown.
        self.cost = self.worst if lost else self._count_cost(reply)
        if problem:
            raise problem
        if replies.finish_reason(reply) == "length" and output_limit.reached_output_limit(
            reply, self.limit
        ):
            self.capped = mine.cap
        reply.response_metadata |= {"attempt": self.attempt, "capped": self.capped}
        return response

    def _count_cost(self, reply: AIMessage) -> CallCost:
        """Return what a call used; count it, and add it to the reply, if no server reports it."""
        if not _reports_usage(reply):
            read, written = (
                output_limit.count_request_tokens(self.request),
                _count_reply_tokens(reply),
            )
            reply.usage_metadata = UsageMetadata(
                input_tokens=read, output_tokens=written, total_tokens=read + written
            )
        return replace(_cost(reply, self.name), session=self.worst.session)

    def _fail(self, error: BaseException) -> None:
        """Note how the attempt ended, and what it used if that is known."""
        self.status = error.code if isinstance(error, Problem) else "cancelled"
        self.why = str(error)
        billed = None if self.reply else faults.billed_tokens(error)
        if billed is not None:
            read, written = billed
            dollars = call_price(self.name, read, written)
            self.cost = CallCost(self.name, read, written, dollars, self.worst.session)

    async def _end(self, reserved: CallCost) -> None:
        """Settle an attempt without an answer, and trace any attempt."""
        if self.attempt and self.status != "ok":
            await commit_statements(end_statement(self.attempt, self.status, self.cost))
        self._end_span()
        cost = self.cost
        used = {"tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out}
        used |= {"estimated": True} if self.estimated else {}
        seconds = round(time.monotonic() - self.started, 4)
        more = {"model": self.name, "seconds": seconds, "dollars": cost.dollars, **used}
        more |= {"limit": self.limit, "estimate": self.worst.dollars, "reserved": reserved.dollars}
        around = self.around
        tell_costs(around.site, around.role, self.name)
        await trace(around.site, "model", around.role, self.status, **more)

    def _end_span(self) -> None:
        """Tell of the attempt; what it is assumed to have used counts as estimated."""
        if self.span is None:
            return
        request, estimated = self.request, self.estimated or self.cost is self.worst
        system = [request.system_message] if request.system_message else []
        sent = [*system, *request.messages]
        self.span.end(
            self.status,
            self.cost,
            estimated=estimated,
            sent=sent,
            reply=self.reply,
            why=self.why,
        )


def _raised_cap(known: Any, around: CallContext) -> str:
    """Return the cap that cut a recorded answer off, if it has been raised since."""
    metadata = messages_from_dict(known)[-1].response_metadata
    cap: str = metadata.get("capped", "")
    name = cap.partition(" = ")[0]
    return "" if not cap or f"{name} = {getattr(around.choices, name)}" == cap else cap


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, Problem) and error.code in faults.RETRYABLE


def _has_tried_enough(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    slow_down = isinstance(error, Problem) and error.code == ErrorCode.RATE_LIMITED
    return state.attempt_number >= (6 if slow_down else 3)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    full_jitter = wait_random_exponential(multiplier=settings().retry_seconds, max=60)(state)
    # Branches that are told to wait equally long must not retry at the same moment.
    return min(full_jitter + faults.requested_wait(error.__cause__ if error else None), 60.0)


def _request_data(request: ModelRequest[CallContext]) -> dict[str, Any]:
    """Return a request as plain data, without the ids that differ from run to run."""
    messages = [
        [message.type, message.content, getattr(message, "tool_calls", None)]
        for message in request.messages
    ]
    tools = [tool["name"] if isinstance(tool, dict) else tool.name for tool in request.tools]
    system = request.system_message.content if request.system_message else ""
    return {"system": system, "said": messages, "tools": tools, "settings": request.model_settings}


def _count_reply_tokens(reply: AIMessage) -> int:
    """Return the tokens of a reply, counted here, with its reasoning and tool calls."""
    reasoning = reply.additional_kwargs.get("reasoning_content")
    calls = [[call["name"], call["args"]] for call in reply.tool_calls]
    texts = [str(reply.text), reasoning if isinstance(reasoning, str) else ""]
    return sum(map(count_tokens, texts)) + (count_tokens(json.dumps(calls)) if calls else 0)


def _reports_usage(reply: AIMessage) -> bool:
    """Say whether a server reported credibly what a call used."""
    usage = reply.usage_metadata
    if not usage:
        return False
    return 0 < usage["input_tokens"] < ABSURD and 0 <= usage["output_tokens"] < ABSURD


def _cost(reply: AIMessage, name: str) -> CallCost:
    """Return what a call used, by the usage that its reply reports."""
    usage = reply.usage_metadata or UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    read, written = usage["input_tokens"], usage["output_tokens"]
    return CallCost(name, read, written, call_price(name, read, written))


def _action_record(role: str, reply: AIMessage) -> ActionRecord:
    """Return what a model did: what it said, or the tools it called.

    For a writer the text is the observation, and the action is that it was written.
    """
    wanted = " ".join(f"{call['name']}({call['args']})" for call in reply.tool_calls)
    text = str(reply.text).strip()
    if role not in WRITERS:
        return ActionRecord(f"{text} {wanted}".strip())
    return ActionRecord(wanted or f"wrote {len(text.split())} words", text)


def _clean_response(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """Return a response without keys and secrets, whose tool calls have ids of their own.

    What a person decides on one call would else hold for another one of the same id.
    """
    for message in response.result:
        message.content = _mask_keys_within(message.content)
        message.additional_kwargs = _mask_keys_within(message.additional_kwargs)
        if isinstance(message, AIMessage):
            message.tool_calls = mask_secrets_within(_mask_keys_within(message.tool_calls))
            _part_ids(message)
    return response


def _part_ids(message: AIMessage) -> None:
    """Give each tool call of a message without an id, or with that of another one, its own."""
    taken = {call["id"] for call in message.tool_calls}
    seen: set[str | None] = {None, ""}
    for call in message.tool_calls:
        if call["id"] in seen:
            free = (f"{call['id'] or 'call'}-{at}" for at in count(1))
            call["id"] = next(one for one in free if one not in taken)
            taken.add(call["id"])
        seen.add(call["id"])


def _mask_keys_within(data: Any) -> Any:
    if isinstance(data, str):
        return mask_keys(data, plain_words=False)
    if isinstance(data, list):
        return [_mask_keys_within(item) for item in data]
    if isinstance(data, dict):
        return {name: _mask_keys_within(value) for name, value in data.items()}
    return data


def _reply(response: ModelResponse[Any]) -> AIMessage:
    message = response.result[-1]
    if not isinstance(message, AIMessage):
        what = f"the model answered with a {message.type} message"
        raise Problem(ErrorCode.MODEL_UNAVAILABLE, what)
    return message
