"""Call a model through the stack that surrounds each call, or let an agent do it with tools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Protocol

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ToolCallLimitMiddleware,
)
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import Problem
from memory.base import Query
from memory.budget import Part, told
from memory.experience.credits import credit
from memory.experience.memory import INSIGHT
from memory.middleware import MemoryMiddleware
from memory.registry import MEMORIES
from models.extractive.model import Extractive
from retrieval.tokens import count, exact
from runs.around import Around
from runs.compacting import Compact
from runs.middleware import APART, Fallback, Handler, Ledger, Meter, Retry
from runs.trace import trace
from tools.toolbox import TOOLS

TOOL_ROUNDS = 6
"""How many model calls a step may use to work with its tools."""

TOOL_CALLS = 12
"""How many tool calls a step may make."""

Agent = CompiledStateGraph[Any, Around, Any, Any]

_formless: set[str] = set()
"""The models that refused a form in this process; the prompt's own words must do for them."""


async def put(
    around: Around, messages: Sequence[AnyMessage], schema: type[BaseModel] | None
) -> list[BaseMessage]:
    """Put messages to the model of a call, through the stack; return the whole conversation.

    Args:
        around: The call.
        messages: What is asked.
        schema: The form of a typed answer; `None` for free text.
    """
    request = ModelRequest(
        model=around.model, messages=[*messages], runtime=Runtime(context=around)
    )
    response = await _layers(schema).awrap_model_call(request, _sent)
    return [*messages, *response.result]


async def _sent(request: ModelRequest[Around]) -> ModelResponse[Any]:
    """Call the model as `create_agent` does that has no tools."""
    first = [request.system_message] if request.system_message else []
    model = request.model.bind(**request.model_settings)
    reply = await model.ainvoke([*first, *request.messages])
    return ModelResponse(result=[reply])


def has_tools(role: str) -> bool:
    """Tell whether a role may use tools where it writes free text."""
    return bool(TOOLS.get(role))


@cache
def agent_of(role: str) -> Agent:
    """Return the agent that plays a role which may use tools, with the stack around its model."""
    return create_agent(
        # The form puts the model of the call in its place.
        Extractive(),
        TOOLS[role],
        middleware=[*_limits(), _layers(None)],
        context_schema=Around,
        # A nested agent that inherits the checkpointer writes megabytes for every call.
        checkpointer=False,
        # An agent named like its node would have its prompts streamed as the node's messages.
        name=f"{role}_agent",
    )


class Form(AgentMiddleware[Any, Around, Any]):
    """Say which model is asked, what it is told, and the form of its answer where there is one.

    A server that refuses schemas is asked without; the system prompt holds the schema too.
    """

    def __init__(self, schema: type[BaseModel] | None) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {}
        if schema:
            form = {"name": schema.__name__, "schema": schema.model_json_schema(), "strict": False}
            self.settings["response_format"] = {"type": "json_schema", "json_schema": form}

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Pass the request on with both, or without the form if it is refused."""
        around = request.runtime.context
        asked = request.override(model=around.model, system_message=SystemMessage(around.system))
        if sum(message.type == "ai" for message in request.messages) >= TOOL_ROUNDS - 1:
            # Without tools the last round can only write what was found so far.
            asked = asked.override(tools=[])
        model = str(around.model.metadata)
        if not self.settings or model in _formless:
            return await handler(asked)
        try:
            return await handler(asked.override(model_settings=self.settings))
        except Problem as problem:
            if problem.code != "model_rejected" or "response_format" not in problem.hint:
                raise
        _formless.add(model)
        return await handler(asked)


def _query(request: ModelRequest[Around]) -> Query:
    around = request.runtime.context
    return Query(
        around.here.owner,
        around.role,
        around.about,
        around.turns,
        run=around.here.run,
        question=around.question,
        files=tuple(around.choices.files),
        without=left_out(around.role, around.choices.guide, around.turn),
    )


def left_out(role: str, guide: str, turn: int) -> frozenset[str]:
    """Return the memories that a role is not told.

    Whoever writes down what is remembered hears only the person's directions: nothing that is
    remembered may be taken for something new. Nor may it bear out what a report says.
    """
    if role in APART:
        return frozenset(memory.name for memory in MEMORIES) - {"instructions"}
    guided = guide == "every" or (guide == "once" and turn == 1)
    return frozenset() if guided else frozenset(["profile"])


async def _watch(request: ModelRequest[Around], parts: Sequence[Part]) -> None:
    """Write down what a call was told: insights are judged by how the run ends."""
    around = request.runtime.context
    told_of = [one.id for part in parts for one in part.notes if one.title == INSIGHT]
    await credit(around.here.owner, around.here.run, around.role, told_of)
    await _trace(request, parts)


async def _trace(request: ModelRequest[Around], parts: Sequence[Part]) -> None:
    """Write down which notes a call was given, and why; what they say stays in the memories."""
    around = request.runtime.context
    notes = [
        {
            "memory": part.name,
            "id": note.id,
            "revision": note.revision,
            "score": {**note.score},
            **({"cut": note.cut} if note.cut[1] else {}),
        }
        for part in parts
        for note in part.notes
    ]
    tokens = {"tokens": count(told(parts)), **({} if exact() else {"estimated": True})}
    await trace(around.here, "memory", around.role, "ok", notes=notes, **tokens)


REMINDED = MemoryMiddleware(query=_query, watch=_watch)


class Layer(Protocol):
    """What may be put around a model call."""

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Make the call, or answer without it."""


class Layers(AgentMiddleware[Any, Around, Any]):
    """Several layers in one, from the outside in.

    LangChain changes threads twice around each middleware of an agent, in case it is traced.
    """

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        self.layers = layers

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Pass the request through all of them."""
        for layer in reversed(self.layers):
            handler = partial(layer.awrap_model_call, handler=handler)
        return await handler(request)


@cache
def _layers(schema: type[BaseModel] | None) -> Layers:
    """Return the stack around a call, from the outside in."""
    # A typed answer is asked for with what its node has chosen to show, which is short.
    fitting = [] if schema else [Compact()]
    return Layers(Form(schema), *fitting, Ledger(), REMINDED, Fallback(), Retry(), Meter())


def _limits() -> list[AgentMiddleware[Any, Any, Any]]:
    return [
        ToolCallLimitMiddleware(run_limit=TOOL_CALLS, exit_behavior="continue"),
        ModelCallLimitMiddleware(run_limit=TOOL_ROUNDS, exit_behavior="error"),
    ]
