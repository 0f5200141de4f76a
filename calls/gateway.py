"""Call models: ask one for a typed answer, or let it work with tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.attempts import set_attempt_status
from calls.call_context import CallContext
from calls.call_middleware import ROLES_OUTSIDE_RUN
from calls.call_spans import role_span
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
from calls.run_progress import watch_costs
from calls.stack import Toolbox, get_agent, invoke_model
from calls.streaming import nested_config
from calls.tool_requests import HumanInput, describe_loaded_tools, record_conversation
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.pauses import list_wishes
from graph.records import Source
from memory.middleware import BEGINNING, last_turns
from models.chat_models import fallback_model, load_chat_model, load_role_model, model_for_role
from models.faults import raise_if_fatal
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from prompts.typed_answers import describe_answer_error
from runs.call_site import call_site
from text.script import detect_language

Answer = TypeVar("Answer", bound=BaseModel)

NO_SOURCES: Mapping[str, Source] = MappingProxyType({})

Recall = Callable[[str], Awaitable[Any]]
"""Answers a question from memory."""

DEFAULT_REPAIRS = 2
"""How often a model is shown what is wrong with its answer, by default."""


class WorkResult(NamedTuple):
    """The final text of a model."""

    text: str
    complete: bool
    """Whether it is whole; otherwise it was cut off at a limit."""
    model: str
    """Which model wrote it, as `provider:name`."""
    tool_results: list[Any]
    """What its tools found."""
    uncertainty: str | None = None
    """What an answer lacks, if the model itself doubts that it is one."""
    cap: str = ""
    """The cap of the run that cut it off, such as `max_tokens = 5000`; "" for the model's limit."""
    fallback_reason: Problem | None = None
    """Why a model other than the chosen one wrote it, if so."""
    attempt_id: str = ""
    """The id of the attempt that brought it (`calls/attempts.py`)."""
    conversation: str = ""
    """The key of its conversation in the ledger, if it waits for a person; it has no text then."""


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
    fallback: bool = True,
) -> Answer:
    """Ask the model that plays `role` for one typed answer.

    Args:
        state: The node's state; it says where in the run the call is made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: The system prompt of the role.
        messages: The conversation.
        schema: The form of the answer.
        default: The answer if there is none; without it, the problem is raised.
        repairs: How often the model is shown what is wrong with its answer.
        fallback: Whether another model may answer in its place.

    Raises:
        Problem: `answer_invalid` if no answer fits the schema after those repairs, or whatever
            keeps a model from answering (`models/faults.py`, `calls/run_budget.py`).
    """
    language = detect_language(system[:BEGINNING])
    system = f"{system}\n\n{describe_schema(schema, language)}"
    try:
        around = await _call_context(state, runtime, role, system, fallback=fallback)
        with role_span(around.site, role):
            return await _answer(around, messages, schema, repairs)
    except Problem as problem:
        if default is None:
            raise
        raise_if_fatal(problem)
        return default


async def _answer(
    around: CallContext, messages: Sequence[AnyMessage], schema: type[Answer], repairs: int
) -> Answer:
    """Ask, and ask again with an explanation while the answer cannot be read."""
    talk = list(messages)
    language, capped = around.language, ""
    for _ in range(1 + repairs):
        try:
            reply = _last(await _converse(around, talk, schema))
        except Problem as problem:
            if problem.code != ErrorCode.ANSWER_TOO_LONG:
                raise
            talk.append(_repair_request(describe_answer_error(CUT_OFF, language), language))
            continue
        try:
            return parse_answer(reply, schema)
        except ValueError as error:
            capped = reply.response_metadata.get("capped", "")
            await set_attempt_status(reply.response_metadata["attempt"], "answer_invalid")
            talk.append(AIMessage(str(reply.text)[:MAX_REPAIRABLE]))
            talk.append(_repair_request(explain_invalid_answer(error, language), language))
    if capped:
        hint = f"allow more with {capped.partition(' ')[0]}"
        raise Problem(
            ErrorCode.BUDGET_SPENT, "too few tokens are left for an answer", where=capped, hint=hint
        )
    what = f"the {around.role}'s answer does not fit {schema.__name__}"
    raise Problem(ErrorCode.ANSWER_INVALID, what)


def _repair_request(error: str, language: str) -> HumanMessage:
    return HumanMessage(render_prompt("repair", language=language, error=error))


async def work(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    messages: Sequence[AnyMessage],
    toolbox: Toolbox | None = None,
    recall: Recall | None = None,
    message_id: str = "",
    sources: Mapping[str, Source] = NO_SOURCES,
    *,
    human: HumanInput | None = None,
    fallback: bool = True,
) -> WorkResult:
    """Let the model that plays `role` write, using its tools as often as it is allowed to.

    Args:
        state: The node's state; it says where in the run the calls are made.
        runtime: The node's runtime.
        role: A role of `config/models.toml`.
        system: The system prompt of the role.
        messages: The conversation.
        toolbox: The tools it may use.
        recall: Answers a question from memory, for the tool of that name.
        message_id: The id of the message in which its words are streamed.
        sources: The sources that the conversation shows, by id, for the tools that read on.
        human: What the tools may ask a person; its conversation goes on if there is one.
        fallback: Whether another model may answer in its place.

    Raises:
        Problem: Whatever keeps a model from answering (`models/faults.py`, `calls/run_budget.py`).
    """
    around = await _call_context(state, runtime, role, system, fallback=fallback)
    around = replace(around, recall=recall, sources={**sources}, human=human)
    if toolbox and toolbox.load:
        around.loaded.update({tool.name: tool for tool in await toolbox.load(around)})
        told = describe_loaded_tools(around, toolbox.needs_approval)
        around = replace(around, system=join_prompt_blocks(around.system, told))
    if human and human.conversation:
        messages = human.conversation
        around.used.extend(one.name or "" for one in messages if isinstance(one, ToolMessage))
    with role_span(around.site, role):
        talk = await _converse(around, messages, toolbox=toolbox, watched=message_id)
    if human and human.requests:
        key = await record_conversation(around.site, role, talk, human)
        return WorkResult("", False, "", around.tool_results, conversation=key)
    reply = _last(talk)
    metadata = reply.response_metadata
    failure = metadata.get("stood_in")
    return WorkResult(
        reply_text(reply),
        complete=finish_reason(reply) != "length",
        model=metadata.get("model", ""),
        tool_results=around.tool_results,
        uncertainty=metadata.get("unsure"),
        cap=metadata.get("capped", ""),
        fallback_reason=Problem.from_dict(failure) if failure else None,
        attempt_id=metadata.get("attempt", ""),
    )


def _last(talk: Sequence[BaseMessage]) -> AIMessage:
    """Return the last message of a model in a conversation."""
    return next(message for message in reversed(talk) if isinstance(message, AIMessage))


async def _call_context(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    role: str,
    system: str,
    *,
    fallback: bool = True,
) -> CallContext:
    """Return the context of a call of a role at this point of the run."""
    place = call_site(state, runtime)
    if role not in ROLES_OUTSIDE_RUN:
        system = join_prompt_blocks(system, _wishes_block(state))
    choices = runtime.context
    other = _fallback_model(role, model_for_role(role, choices)) if fallback else None
    budget = await get_budget(place, choices)
    await watch_costs(place, choices, budget.session)
    return CallContext(
        choices=choices,
        site=place,
        role=role,
        budget=budget,
        model=await load_role_model(role, choices),
        system=system,
        about=_topic(state),
        question=state.get("question", ""),
        turns=last_turns(state.get("messages", [])),
        turn=state.get("turn", 1),
        allow_web=state["step"]["need_web_search"] if "step" in state else True,
        bases=tuple(state.get("bases", ())),
        fallback=await load_chat_model(other) if other else None,
    )


def _fallback_model(role: str, name: str) -> str | None:
    """Return the model that is asked in place of one that fails; the built-in one cannot judge."""
    other = fallback_model(name)
    return None if role == "checker" and other and is_extractive(other) else other


def _wishes_block(state: Mapping[str, Any]) -> str:
    """Return what a person said of plans and answered to steps, for every later call."""
    wishes = list_wishes(state)
    if not wishes:
        return ""
    heading = render_prompt("wishes", language=state.get("language", "en")).strip()
    blocks = wrap_blocks("wishes", [render_block("wish", wish) for wish in wishes])
    return join_prompt_blocks(heading, blocks)


def _topic(state: Mapping[str, Any]) -> str:
    """Return what a node works on: the question, and its step or query if it has one."""
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
