"""Put the middleware stack around the calls of a role."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, cast

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from calls.call_context import CallContext, CallHandler
from calls.call_middleware import (
    ROLES_OUTSIDE_RUN,
    FallbackMiddleware,
    LedgerMiddleware,
    MeterMiddleware,
    RetryMiddleware,
)
from calls.call_spans import note_tool_answer, tool_span
from calls.compaction import CompactionMiddleware
from calls.replies import bare_schema
from calls.tool_requests import (
    ApprovalMiddleware,
    NeedsApproval,
    PauseMiddleware,
    tool_answer_key,
)
from calls.tool_rights import ToolRightsMiddleware
from config.errors import ErrorCode, Problem
from config.resources import Resource
from memory.experience.credit_assignment import credit_insights
from memory.experience.memory import INSIGHT_TITLE
from memory.middleware import MemoryMiddleware
from memory.protocol import Query
from memory.registry import MEMORIES
from memory.token_budget import MemoryBlock
from models.extractive.model import ExtractiveChatModel
from prompts.loader import render_prompt
from runs.trace import trace

Agent = CompiledStateGraph[Any, CallContext, Any, Any]

_formless = Resource(set[str])
"""The models that refused a response format in this process; their prompts describe it anyway."""


async def invoke_model(
    around: CallContext, messages: Sequence[AnyMessage], schema: type[BaseModel] | None
) -> list[BaseMessage]:
    """Put messages to the model of a call, through the stack; return the whole conversation.

    Args:
        around: The call.
        messages: The conversation so far.
        schema: The form of a typed answer; `None` for free text.
    """
    request = ModelRequest(
        model=around.model, messages=[*messages], runtime=Runtime(context=around)
    )
    response = await _layers(schema).awrap_model_call(request, _sent)
    return [*messages, *response.result]


async def _sent(request: ModelRequest[CallContext]) -> ModelResponse[Any]:
    """Call the model as an agent without tools would."""
    first = [request.system_message] if request.system_message else []
    model = request.model.bind(**request.model_settings)
    reply = await model.ainvoke([*first, *request.messages])
    return ModelResponse(result=[reply])


@dataclass(frozen=True, eq=False)
class Toolbox:
    """The tools that a role may use; an agent is compiled once for each toolbox."""

    tools: tuple[BaseTool, ...]
    offer: Callable[[CallContext], Sequence[BaseTool]] | None = None
    """Returns those of them that a call can use, in the words for it."""
    load: Callable[[CallContext], Awaitable[Sequence[BaseTool]]] | None = None
    """Returns further tools of a call, which are not known before, such as those of servers."""
    needs_approval: NeedsApproval | None = None
    """Tells which of them a person has to approve, call by call."""


@cache
def get_agent(role: str, toolbox: Toolbox) -> Agent:
    """Return the agent that plays a role which may use tools, with the stack around its model."""
    return create_agent(
        # `ResponseFormatMiddleware` replaces it by the model of the call.
        ExtractiveChatModel(),
        toolbox.tools,
        middleware=[
            ToolLimitMiddleware(),
            ToolRightsMiddleware(toolbox.tools, toolbox.offer),
            ApprovalMiddleware(toolbox.needs_approval),
            _layers(None, toolbox),
        ],
        context_schema=CallContext,
        # A nested agent that inherits the checkpointer writes megabytes for every call.
        checkpointer=False,
        # An agent named like its node would have its prompts streamed as the node's messages.
        name=f"{role}_agent",
    )


class ResponseFormatMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Set the model of a request, its system prompt, and the format of a typed answer.

    A server that refuses schemas is asked without one; the system prompt contains it too.
    """

    def __init__(self, schema: type[BaseModel] | None) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {}
        if schema:
            form = {"name": schema.__name__, "schema": bare_schema(schema), "strict": False}
            self.settings["response_format"] = {"type": "json_schema", "json_schema": form}

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on, and again without the format if that is refused.

        Raises:
            Problem: `tool_limit`.
        """
        around = request.runtime.context
        asked = request.override(model=around.model, system_message=SystemMessage(around.system))
        # Without tools, the answers in a conversation are those to earlier questions.
        rounds = sum(message.type == "ai" for message in request.messages if request.tools)
        most = around.choices.limits.tool_rounds
        if rounds >= most:
            what = f"the {around.role} used its tools again and again, and wrote nothing"
            raise Problem(ErrorCode.TOOL_LIMIT, what)
        if rounds == most - 1:
            # Without tools, the model can only write from what it has found so far.
            asked = asked.override(tools=[])
        model = str(around.model.metadata)
        if not self.settings or model in _formless.get():
            return await handler(asked)
        try:
            return await handler(asked.override(model_settings=self.settings))
        except Problem as problem:
            if problem.code != ErrorCode.MODEL_REJECTED or "response_format" not in problem.hint:
                raise
        _formless.get().add(model)
        return await handler(asked)


class ToolOfferMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Offer a call the tools that it can use, described in the language of its prompt."""

    def __init__(self, offer: Callable[[CallContext], Sequence[BaseTool]]) -> None:
        super().__init__()
        self.offer = offer

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on with these tools."""
        around = request.runtime.context
        return await handler(request.override(tools=[*self.offer(around), *around.loaded.values()]))


def _query(request: ModelRequest[CallContext]) -> Query:
    around = request.runtime.context
    return Query(
        around.site.owner,
        around.role,
        around.about,
        around.turns,
        revision=cast("int", request.state.get("revision", 0)),
        run=around.site.run,
        question=around.question,
        files=tuple(around.choices.files),
        excluded=excluded_memories(around.role, around.choices.guide, around.turn),
    )


JUDGING_ROLES = ("coordinator", "reflector", "judge")
"""Roles that judge what they are shown, and research nothing themselves."""

MEMORIES_WITHOUT_USE = frozenset(["reports", "pages"])
"""The memories that say nothing to those: what earlier runs have read and reported."""


def excluded_memories(role: str, guide: str, turn: int) -> frozenset[str]:
    """Return the memories that are withheld from a role.

    The memorizer and the checker get only the person's directions: a memory must not be taken for
    something new, nor support what a report says.
    """
    if role in ROLES_OUTSIDE_RUN:
        return frozenset(memory.name for memory in MEMORIES) - {"instructions"}
    guided = guide == "every" or (guide == "once" and turn == 1)
    excluded = MEMORIES_WITHOUT_USE if role in JUDGING_ROLES else frozenset[str]()
    return excluded if guided else excluded | {"profile"}


async def _watch(request: ModelRequest[CallContext], block: MemoryBlock) -> None:
    """Record the memories in a call: insights are judged by how the run ends."""
    around = request.runtime.context
    notes = (note for part in block.groups for note in part.notes)
    insights = [note.id for note in notes if note.title == INSIGHT_TITLE]
    await credit_insights(around.site.owner, around.site.run, around.role, insights)
    await _trace(request, block)


async def _trace(request: ModelRequest[CallContext], block: MemoryBlock) -> None:
    """Trace the ids and scores of the notes in a call, without their texts."""
    around = request.runtime.context
    notes = [
        {
            "memory": part.name,
            "id": note.id,
            "revision": note.revision,
            "score": {**note.score},
            **({"cut": note.shown_lines} if note.shown_lines[1] else {}),
        }
        for part in block.groups
        for note in part.notes
    ]
    tokens = {"tokens": block.tokens, **({"estimated": True} if block.estimated else {})}
    await trace(around.site, "memory", around.role, "ok", notes=notes, **tokens)


MEMORY_MIDDLEWARE = MemoryMiddleware(query=_query, watch=_watch)


class CallLayer(Protocol):
    """A layer around a model call."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Make the call, or answer without it."""


class MiddlewareChain(AgentMiddleware[Any, CallContext, Any]):
    """Several layers in one, from the outside in.

    LangChain changes threads twice around each middleware of an agent, in case it is traced.
    """

    def __init__(self, *layers: CallLayer) -> None:
        super().__init__()
        self.layers = layers

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request through all of them."""
        for layer in reversed(self.layers):
            handler = partial(layer.awrap_model_call, handler=handler)
        return await handler(request)


@cache
def _layers(schema: type[BaseModel] | None, toolbox: Toolbox | None = None) -> MiddlewareChain:
    """Return the stack around a call, from the outside in."""
    offered = [ToolOfferMiddleware(toolbox.offer)] if toolbox and toolbox.offer else []
    # The prompts for typed answers are short already.
    fitting = [] if schema else [CompactionMiddleware()]
    pausing = [PauseMiddleware()] if toolbox else []
    return MiddlewareChain(
        *pausing,
        *offered,
        ResponseFormatMiddleware(schema),
        *fitting,
        LedgerMiddleware(),
        MEMORY_MIDDLEWARE,
        FallbackMiddleware(),
        RetryMiddleware(),
        MeterMiddleware(),
    )


class ToolLimitMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Limit the tool calls of a role; each further call returns an error.

    It wraps the tools, since the limits of LangChain are steps of the agent's graph: three for each
    call of the model, which cost more than all layers around it.
    """

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Use the tool, or return an error above the limit; tell its siblings what it answers."""
        around = cast("CallContext", request.runtime.context)
        around.used.append(request.tool_call["name"])
        key = tool_answer_key(request.state["messages"], request.tool_call["id"])
        told = around.tool_answers.setdefault(key, asyncio.get_running_loop().create_future())
        text = ""
        try:
            if len(around.used) > around.choices.limits.tool_calls:
                return _refuse_tool(around, request)
            if loaded := around.loaded.get(request.tool_call["name"]):
                request = request.override(tool=loaded)
            with tool_span(around.site, request.tool_call) as notes:
                answer = await handler(request)
                note_tool_answer(notes, answer)
            text = str(answer.text) if isinstance(answer, ToolMessage) else ""
            return answer
        finally:
            if not told.done():
                told.set_result(text)


def _refuse_tool(around: CallContext, request: ToolCallRequest) -> ToolMessage:
    said = render_prompt("tools_used_up", language=around.language)
    called = {"tool_call_id": request.tool_call["id"] or "", "name": request.tool_call["name"]}
    return ToolMessage(said, **called, status="error")
