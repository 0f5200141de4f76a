"""The one way to the models: ask for a typed answer, or let a model work with tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.attempts import set_attempt_status
from calls.call_context import CallContext
from calls.call_middleware import ROLES_OUTSIDE_RUN
from calls.replies import (
    CUT_OFF,
    MAX_REPAIRABLE,
    describe_schema,
    explain_invalid_answer,
    finish_reason,
    parse_answer,
    reply_text,
)
from calls.run_budget import get_budget
from calls.stack import Toolbox, get_agent, invoke_model
from calls.streaming import nested_config
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from memory.middleware import last_turns
from models.chat_models import fallback_model, load_chat_model, load_role_model, model_for_role
from models.faults import raise_if_fatal
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from prompts.typed_answers import describe_answer_error
from runs.call_site import call_site
from text.script import detect_language

Answer = TypeVar("Answer", bound=BaseModel)

Recall = Callable[[str], Awaitable[Any]]
"""Answers a question from memory."""

BEGINNING = 100
"""How many characters of what a role is told show its language."""

DEFAULT_REPAIRS = 2
"""How often a model is shown what is wrong with its answer, where nothing else is said."""


class WorkResult(NamedTuple):
    """What a model wrote in the end."""

    text: str
    complete: bool
    """Whether it came to its end, or was cut off at the model's limit."""
    model: str
    """Which model wrote it, as `provider:name`."""
    tool_results: list[Any]
    """What its tools found."""
    uncertainty: str | None = None
    """What is missing for it to be an answer, where the model itself says it may be none."""
    cap: str = ""
    """The cap of the run that cut it off, such as `max_tokens = 5000`; "" for the model's limit."""
    fallback_reason: Problem | None = None
    """Why a model other than the chosen one wrote it, if so."""
    attempt_id: str = ""
    """The id of the attempt that brought it (`calls/attempts.py`)."""


async def ask(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    schema: type[Answer],
    *,
    default: Answer | None = None,
    repairs: int = DEFAULT_REPAIRS,
) -> Answer:
    """Ask the model that plays `role` for one typed answer.

    Args:
        state: The node's state; it says where in the run the call is made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: What the role is told about its work.
        messages: What it is asked.
        schema: The form of the answer.
        default: The answer where there is none; without it, that is raised.
        repairs: How often the model is shown what is wrong with its answer.

    Raises:
        Problem: `answer_invalid` when the answer does not fit the schema after that, or whatever
            keeps a model from answering (`models/faults.py`, `calls/run_budget.py`).
    """
    tongue = detect_language(system[:BEGINNING])
    system = f"{system}\n\n{describe_schema(schema, tongue)}"
    try:
        around = await _call_context(state, runtime, role, system)
        return await _answer(around, messages, schema, repairs)
    except Problem as problem:
        if default is None:
            raise
        raise_if_fatal(problem)
        return default


async def _answer(
    around: CallContext, messages: Sequence[AnyMessage], schema: type[Answer], repairs: int
) -> Answer:
    """Ask, and ask again with what is wrong while the answer cannot be read."""
    said = list(messages)
    tongue, capped = detect_language(around.system[:BEGINNING]), ""
    for _ in range(1 + repairs):
        try:
            reply = _last(await _converse(around, said, schema))
        except Problem as problem:
            if problem.code != ErrorCode.ANSWER_TOO_LONG:
                raise
            said = [
                *said,
                HumanMessage(
                    render_prompt(
                        "repair", language=tongue, error=describe_answer_error(CUT_OFF, tongue)
                    )
                ),
            ]
            continue
        try:
            return parse_answer(reply, schema)
        except ValueError as error:
            capped = reply.response_metadata.get("capped", "")
            await set_attempt_status(reply.response_metadata["attempt"], "answer_invalid")
            told = render_prompt(
                "repair", language=tongue, error=explain_invalid_answer(error, tongue)
            )
            said = [*said, AIMessage(str(reply.text)[:MAX_REPAIRABLE]), HumanMessage(told)]
    if capped:
        hint = f"allow more with {capped.partition(' ')[0]}"
        raise Problem(
            ErrorCode.BUDGET_SPENT, "too few tokens are left for an answer", where=capped, hint=hint
        )
    what = f"the {around.role}'s answer does not fit {schema.__name__}"
    raise Problem(ErrorCode.ANSWER_INVALID, what)


async def work(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    toolbox: Toolbox | None = None,
    recall: Recall | None = None,
    message_id: str = "",
) -> WorkResult:
    """Let the model that plays `role` write, using its tools as often as it is allowed to.

    Args:
        state: The node's state; it says where in the run the calls are made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: What the role is told about its work.
        messages: What it is asked.
        toolbox: What it may use.
        recall: Answers a question from memory, for the tool of that name.
        message_id: The id of the message that its words are shown as while it writes.

    Raises:
        Problem: Whatever keeps a model from answering (`models/faults.py`, `calls/run_budget.py`).
    """
    around = replace(await _call_context(state, runtime, role, system), recall=recall)
    said = await _converse(around, messages, toolbox=toolbox, watched=message_id)
    reply = _last(said)
    complete = finish_reason(reply) != "length"
    model = reply.response_metadata.get("model", "")
    unsure = reply.response_metadata.get("unsure")
    capped = reply.response_metadata.get("capped", "")
    failed = reply.response_metadata.get("stood_in")
    stood_in = Problem.from_dict(failed) if failed else None
    attempt = reply.response_metadata.get("attempt", "")
    return WorkResult(
        reply_text(reply), complete, model, around.tool_results, unsure, capped, stood_in, attempt
    )


def _last(said: Sequence[BaseMessage]) -> AIMessage:
    """Return the last message of a model in a conversation."""
    return next(message for message in reversed(said) if isinstance(message, AIMessage))


async def _call_context(
    state: Mapping[str, Any], runtime: Runtime[Context], role: str, system: str
) -> CallContext:
    """Find out what surrounds a call of a role at this point of the run."""
    place = call_site(state, runtime)
    if role not in ROLES_OUTSIDE_RUN:
        system = join_prompt_blocks(system, _wishes_block(state))
    choices = runtime.context
    other = _fallback_model(role, model_for_role(role, choices))
    return CallContext(
        choices=choices,
        site=place,
        role=role,
        budget=await get_budget(place, choices),
        model=await load_role_model(role, choices),
        system=system,
        about=_topic(state),
        question=state.get("question", ""),
        turns=last_turns(state.get("messages", [])),
        turn=state.get("turn", 1),
        allow_web=state["step"]["need_web_search"] if "step" in state else True,
        fallback=await load_chat_model(other) if other else None,
    )


def _fallback_model(role: str, name: str) -> str | None:
    """Return the model that is asked in place of one that fails; the built-in one cannot judge."""
    other = fallback_model(name)
    return None if role == "checker" and other and is_extractive(other) else other


def _wishes_block(state: Mapping[str, Any]) -> str:
    """Return what a person said against the plans of the run, for every call behind them."""
    wishes = list(dict.fromkeys(state.get("wishes", [])))
    if not wishes:
        return ""
    told = render_prompt("wishes", language=state.get("language", "en")).strip()
    return join_prompt_blocks(
        told, wrap_blocks("wishes", [render_block("wish", one) for one in wishes])
    )


def _topic(state: Mapping[str, Any]) -> str:
    """Return what a node works on: the question, and the step or the query where there is one."""
    step = state.get("step") or {}
    parts = (state.get("question"), step.get("title"), step.get("description"), state.get("query"))
    return "\n".join(dict.fromkeys(part for part in parts if part))


async def _converse(
    around: CallContext,
    messages: Sequence[AnyMessage],
    schema: type[BaseModel] | None = None,
    toolbox: Toolbox | None = None,
    watched: str = "",
) -> list[BaseMessage]:
    """Put messages to a role, with its tools if it has any; return the whole conversation."""
    with nested_config(message_id=watched) as config:
        if schema or not toolbox:
            return await invoke_model(around, messages, schema)
        agent = get_agent(around.role, toolbox)
        result = await agent.ainvoke({"messages": [*messages]}, config, context=around)
    talk: list[BaseMessage] = result["messages"]
    return talk
