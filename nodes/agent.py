"""The one door to the models: ask for a typed answer, or let a model work with tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import Problem
from graph.context import Context
from memory.middleware import last_turns
from models.load import fallback_name, load, model_name, playing
from nodes.stack import agent_of, has_tools, put
from nodes.streaming import inside
from nodes.typed import CUT, MENDABLE, in_words, read, wrong
from prompts.complaints import complaint
from prompts.loader import render
from prompts.marks import block, blocks, wrap
from retrieval.text import language
from retrieval.tokens import warm
from runs.around import Around
from runs.attempts import renamed
from runs.budget import budget
from runs.faults import bear, finish_reason, spoken
from runs.middleware import APART
from runs.place import here

Answer = TypeVar("Answer", bound=BaseModel)

Recall = Callable[[str], Awaitable[Any]]
"""Answers a question from memory."""

BEGINNING = 100
"""How many characters of what a role is told show its language."""

REPAIRS = 2
"""How often a model is shown what is wrong with its answer, where nothing else is said."""


class Work(NamedTuple):
    """What a model wrote in the end."""

    text: str
    complete: bool
    """Whether it came to its end, or was cut off at the model's limit."""
    model: str
    """Which model wrote it, as `provider:name`."""
    found: list[Any]
    """What its tools found."""
    unsure: str | None = None
    """What is missing for it to be an answer, where the model itself says it may be none."""
    capped: str = ""
    """The cap of the run that cut it off, such as `max_tokens = 5000`; "" for the model's limit."""
    stood_in: Problem | None = None
    """Why a model other than the chosen one wrote it, if so."""
    attempt: str = ""
    """The id of the attempt that brought it (`runs/attempts.py`)."""


async def ask(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    schema: type[Answer],
    *,
    otherwise: Answer | None = None,
    repairs: int = REPAIRS,
) -> Answer:
    """Ask the model that plays `role` for one typed answer.

    Args:
        state: The node's state; it says where in the run the call is made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: What the role is told about its work.
        messages: What it is asked.
        schema: The form of the answer.
        otherwise: The answer where there is none; without it, that is raised.
        repairs: How often the model is shown what is wrong with its answer.

    Raises:
        Problem: `answer_invalid` when the answer does not fit the schema after that, or whatever
            keeps a model from answering (`runs/faults.py`, `runs/budget.py`).
    """
    tongue = language(system[:BEGINNING])
    system = f"{system}\n\n{in_words(schema, tongue)}"
    try:
        around = await _around(state, runtime, role, system)
        return await _answer(around, messages, schema, repairs)
    except Problem as problem:
        if otherwise is None:
            raise
        bear(problem)
        return otherwise


async def _answer(
    around: Around, messages: Sequence[AnyMessage], schema: type[Answer], repairs: int
) -> Answer:
    """Ask, and ask again with what is wrong while the answer cannot be read."""
    said = list(messages)
    tongue, capped = language(around.system[:BEGINNING]), ""
    for _ in range(1 + repairs):
        try:
            reply = _last(await _converse(around, said, schema))
        except Problem as problem:
            if problem.code != "answer_too_long":
                raise
            said = [
                *said,
                HumanMessage(render("repair", language=tongue, error=complaint(CUT, tongue))),
            ]
            continue
        try:
            return read(reply, schema)
        except ValueError as error:
            capped = reply.response_metadata.get("capped", "")
            await renamed(reply.response_metadata["attempt"], "answer_invalid")
            told = render("repair", language=tongue, error=wrong(error, tongue))
            said = [*said, AIMessage(str(reply.text)[:MENDABLE]), HumanMessage(told)]
    if capped:
        hint = f"allow more with {capped.partition(' ')[0]}"
        raise Problem(
            "budget_spent", "too few tokens are left for an answer", where=capped, hint=hint
        )
    what = f"the {around.role}'s answer does not fit {schema.__name__}"
    raise Problem("answer_invalid", what)


async def work(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    recall: Recall | None = None,
    watched: str = "",
) -> Work:
    """Let the model that plays `role` write, using its tools as often as it is allowed to.

    Args:
        state: The node's state; it says where in the run the calls are made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`; it decides the tools.
        system: What the role is told about its work.
        messages: What it is asked.
        recall: Answers a question from memory, for the tool of that name.
        watched: The id of the message that its words are shown as while it writes.

    Raises:
        Problem: Whatever keeps a model from answering (`runs/faults.py`, `runs/budget.py`).
    """
    around = replace(await _around(state, runtime, role, system), recall=recall)
    said = await _converse(around, messages, watched=watched)
    reply = _last(said)
    complete = finish_reason(reply) != "length"
    model = reply.response_metadata.get("model", "")
    unsure = reply.response_metadata.get("unsure")
    capped = reply.response_metadata.get("capped", "")
    failed = reply.response_metadata.get("stood_in")
    stood_in = Problem.of(failed) if failed else None
    attempt = reply.response_metadata.get("attempt", "")
    return Work(spoken(reply), complete, model, around.found, unsure, capped, stood_in, attempt)


def _last(said: Sequence[BaseMessage]) -> AIMessage:
    """Return the last message of a model in a conversation."""
    return next(message for message in reversed(said) if isinstance(message, AIMessage))


async def _around(
    state: Mapping[str, Any], runtime: Runtime[Context], role: str, system: str
) -> Around:
    """Find out what surrounds a call of a role at this point of the run."""
    await warm()
    place = here(state, runtime)
    if role not in APART:
        system = blocks(system, wished(state))
    choices = runtime.context
    other = _stand_in(role, model_name(role, choices))
    return Around(
        choices=choices,
        here=place,
        role=role,
        budget=await budget(place, choices),
        model=await playing(role, choices),
        system=system,
        about=about(state),
        question=state.get("question", ""),
        turns=last_turns(state.get("messages", [])),
        turn=state.get("turn", 1),
        web=state["step"]["need_web_search"] if "step" in state else True,
        fallback=await load(other) if other else None,
    )


def _stand_in(role: str, name: str) -> str | None:
    """Return the model that is asked in place of one that fails; the built-in one cannot judge."""
    other = fallback_name(name)
    return None if role == "checker" and other and other.startswith("extractive:") else other


def wished(state: Mapping[str, Any]) -> str:
    """Return what a person said against the plans of the run, for every call behind them."""
    wishes = list(dict.fromkeys(state.get("wishes", [])))
    if not wishes:
        return ""
    told = render("wishes", language=state.get("language", "en")).strip()
    return blocks(told, wrap("wishes", [block("wish", one) for one in wishes]))


def about(state: Mapping[str, Any]) -> str:
    """Return what a node works on: the question, and the step or the query where there is one."""
    step = state.get("step") or {}
    parts = (state.get("question"), step.get("title"), step.get("description"), state.get("query"))
    return "\n".join(dict.fromkeys(part for part in parts if part))


async def _converse(
    around: Around,
    messages: Sequence[AnyMessage],
    schema: type[BaseModel] | None = None,
    watched: str = "",
) -> list[BaseMessage]:
    """Put messages to a role, with its tools if it has any; return the whole conversation."""
    try:
        with inside(watched=watched) as config:
            if schema or not has_tools(around.role):
                return await put(around, messages, schema)
            agent = agent_of(around.role)
            result = await agent.ainvoke({"messages": [*messages]}, config, context=around)
    except ModelCallLimitExceededError as error:
        what = f"the {around.role} used its tools again and again, and wrote nothing"
        raise Problem("tool_limit", what) from error
    talk: list[BaseMessage] = result["messages"]
    return talk
