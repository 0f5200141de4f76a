"""The one door to the models: ask for a typed answer, or let a model work with tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import json_repair
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._constants import CONFIG_KEY_DURABILITY
from langgraph.constants import TAG_NOSTREAM
from langgraph.runtime import Runtime
from pydantic import BaseModel, ValidationError

from config.errors import Problem
from graph.context import Context
from memory.middleware import MemoryMiddleware
from models.load import fallback_name, load, model_name
from nodes.form import Form
from prompts.loader import render
from retrieval.tokens import warm
from runs.budget import budget
from runs.faults import finish_reason, spoken
from runs.middleware import Fallback, Ledger, Meter, Retry
from runs.place import here

Answer = TypeVar("Answer", bound=BaseModel)

REPAIRS = 2
"""How often a model is shown what is wrong with its answer."""

TOOL_ROUNDS = 6
"""How many model calls a step may use to work with its tools."""

TOOL_CALLS = 12
"""How many tool calls a step may make."""


MENDABLE = 30_000
"""The longest malformed answer, in characters; mending takes the square of its length."""

CUT = "The answer was cut off at the limit. Answer more shortly."


class Work(NamedTuple):
    """What a model said in the end, whether it was cut off, which model it was, and the id."""

    text: str
    complete: bool
    model: str
    id: str | None


async def ask(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    schema: type[Answer],
) -> Answer:
    """Ask the model that plays `role` for one typed answer.

    Args:
        state: The node's state; it says where in the run the call is made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: What the role is told about its work.
        messages: What it is asked.
        schema: The form of the answer.

    Raises:
        Problem: `answer_invalid` when the answer does not fit the schema after two repairs, or
            whatever keeps a model from answering (`runs/faults.py`, `runs/budget.py`).
    """
    form = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    system = f"{system}\n\n{render('typed', schema=form)}"
    said = list(messages)
    for _ in range(1 + REPAIRS):
        try:
            reply = (await _converse(state, runtime, role, system, said, [Form(schema)]))[-1]
        except Problem as problem:
            if problem.code != "answer_too_long":
                raise
            said = [*said, HumanMessage(render("repair", error=CUT))]
            continue
        try:
            return _read(reply, schema)
        except ValueError as error:
            complaint = HumanMessage(render("repair", error=error))
            said = [*said, AIMessage(str(reply.text)[:MENDABLE]), complaint]
    raise Problem("answer_invalid", f"the {role}'s answer does not fit {schema.__name__}")


async def work(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    tools: Sequence[BaseTool] = (),
) -> Work:
    """Let the model that plays `role` write, using tools as often as it is allowed to.

    Raises:
        Problem: Whatever keeps a model from answering (`runs/faults.py`, `runs/budget.py`).
    """
    said = await _converse(state, runtime, role, system, messages, _limits(), tools)
    reply = next(message for message in reversed(said) if isinstance(message, AIMessage))
    complete = finish_reason(reply) != "length"
    return Work(spoken(reply), complete, reply.response_metadata.get("model", ""), reply.id)


async def _converse(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    extra: Sequence[AgentMiddleware[Any, Any, Any]],
    tools: Sequence[BaseTool] = (),
) -> list[AnyMessage]:
    """Run one agent behind the stack that every model call passes, from the outside in."""
    await warm()
    place = here(state, runtime)
    name = model_name(role, runtime.context)
    other = fallback_name(name)
    allowed = await budget(place, runtime.context)
    stack = [
        *extra,
        Ledger(place, role, allowed),
        MemoryMiddleware(place.owner, role),
        Fallback(await load(other) if other else None),
        Retry(),
        Meter(place, role, allowed),
    ]
    agent = create_agent(
        await load(name),
        list(tools),
        system_prompt=SystemMessage(system),
        middleware=stack,
        context_schema=Context,
        # A nested agent that inherits the checkpointer writes megabytes for every call.
        checkpointer=False,
        # An agent named like its node would have its prompts streamed as the node's messages.
        name=f"{role}_agent",
    )
    config: RunnableConfig = {
        "tags": [] if role == "reporter" else [TAG_NOSTREAM],
        # An agent without a checkpointer fails when it inherits durability "sync".
        "configurable": {CONFIG_KEY_DURABILITY: "async"},
    }
    result = await agent.ainvoke({"messages": [*messages]}, config, context=runtime.context)
    said: list[AnyMessage] = result["messages"]
    return said


def _limits() -> list[AgentMiddleware[Any, Any, Any]]:
    end: Literal["end"] = "end"
    return [
        ModelCallLimitMiddleware(run_limit=TOOL_ROUNDS, exit_behavior=end),
        ToolCallLimitMiddleware(run_limit=TOOL_CALLS, exit_behavior="continue"),
    ]


def _read(reply: AnyMessage, schema: type[Answer]) -> Answer:
    """Read a typed answer.

    Raises:
        ValueError: If no object is there, it does not fit, or the reply was cut off.
    """
    if isinstance(reply, AIMessage) and finish_reason(reply) == "length":
        raise ValueError(CUT)
    text = spoken(reply) if isinstance(reply, AIMessage) else str(reply.text)
    try:
        return schema.model_validate_json(text)
    except ValidationError:
        return schema.model_validate_json(_mended(text))


def _mended(text: str) -> str:
    """Mend what models often get wrong about JSON.

    Raises:
        ValueError: If no object is there, or it is too long or nested too deep to be mended.
    """
    start = text.find("{")
    if start < 0 or len(text) > MENDABLE:
        msg = "there is no JSON object in the answer"
        raise ValueError(msg)
    try:
        return json.dumps(json_repair.loads(text[start:]))
    except RecursionError as error:
        msg = "the JSON of the answer is nested too deep"
        raise ValueError(msg) from error
