"""Let the tools of a call ask a person: the call stops, and later goes on where it was.

An agent within a node has no checkpoints, so nothing pauses in it. A tool that needs a person
leaves a request; the model is then not called again, and the conversation is recorded in the
ledger. The node hands the requests on, and comes back with what was decided (ADR 72).
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)
from langchain_core.tools import BaseTool
from langgraph.types import Command

from calls.ledger import LedgerCall, load_recorded, record_call
from graph.pauses import ASK_USER, Consultation, ToolDecision, ToolRequest
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from report.markdown.sanitizer import sanitize_text
from runs.call_site import CallSite
from text.normalization import to_one_line

if TYPE_CHECKING:
    from calls.call_context import CallContext, CallHandler

LONGEST_CALL = 300
"""The most characters of a call of a tool in a line for a person."""

OWN_DESCRIPTION = "own_description"
"""The key of a tool's metadata for what it says of itself, if its description says more."""

ToolHandler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]

NeedsApproval = Callable[["CallContext", BaseTool], bool]
"""Tells whether a tool may be used only if a person agrees to this very call."""


def tool_answer_key(messages: Sequence[AnyMessage], call_id: str | None) -> str:
    """Return the name of a tool call in a conversation; some models use an id again and again."""
    return f"{len(messages)} {call_id}"


@dataclass
class HumanInput:
    """What the tools of a call may ask the person, what was decided, and what they ask now."""

    step: str
    """The id of the step that asks."""
    reachable: bool
    """Whether a person decides on requests; else what is assumed holds, and tools are refused."""
    asks: bool = True
    """Whether it may ask questions; tools wait for approval either way."""
    allowed: Sequence[str] = ()
    """The tools that need approval and have it beforehand, by name."""
    consulted: Sequence[Consultation] = ()
    """What the steps of the turn have asked before."""
    decisions: Mapping[str, ToolDecision] = field(default_factory=dict)
    """What was decided on the calls of the message at which the conversation stopped, by
    `tool_answer_key`."""
    conversation: Sequence[AnyMessage] = ()
    """The conversation that goes on, up to and without that message; empty for a new one."""
    stopped_at: AIMessage | None = None
    """The message at which it stopped; its tools are used again instead of asking the model."""
    answered: Mapping[str, ToolMessage] = field(default_factory=dict)
    """What tools of that message that needed nobody have answered, likewise."""
    requests: list[ToolRequest] = field(default_factory=list)
    """What waits for the person now."""
    noted: list[Consultation] = field(default_factory=list)
    """What came of requests for which nobody was asked, or that are carried out now."""

    def list_known(self) -> list[Consultation]:
        """Return everything that is known to have been asked in the turn."""
        return [*self.consulted, *self.noted]

    def note(self, outcome: Any, question: str, answer: str = "") -> None:
        """Note what came of something that a step wanted of the person."""
        one = Consultation(step=self.step, outcome=outcome, question=question, answer=answer)
        if one not in self.list_known():
            self.noted.append(one)

    def request(self, call: str, name: str, args: Mapping[str, Any], about: str = "") -> None:
        """Leave a request for the person."""
        self.requests.append(ToolRequest(call=call, name=name, args={**args}, about=about))


async def record_conversation(
    site: CallSite, role: str, talk: Sequence[BaseMessage], human: HumanInput
) -> str:
    """Record a conversation that waits for a person; return the key to find it by."""
    calls = [one["call"] for one in human.requests]
    call = LedgerCall(site, "pause", role, {"messages": len(talk), "calls": calls})
    await record_call(call, messages_to_dict(talk), time.time())
    return call.key


async def resume_conversation(
    human: HumanInput, key: str, requests: Sequence[ToolRequest]
) -> HumanInput:
    """Return what a call needs to go on with a recorded conversation.

    A conversation that was deleted meanwhile begins anew.

    Args:
        human: What the call may ask.
        key: What `record_conversation` returned.
        requests: The requests, with what was decided.
    """
    recorded = await load_recorded(key)
    if recorded is None:
        return human
    talk = cast("list[AnyMessage]", messages_from_dict(recorded))
    # The last one with calls; behind it are what its tools answered, and the end of the call.
    at = max(at for at, one in enumerate(talk) if isinstance(one, AIMessage) and one.tool_calls)
    waiting = {one["call"] for one in requests}
    tools = [one for one in talk[at:] if isinstance(one, ToolMessage)]
    human.conversation, human.stopped_at = talk[:at], _as_reply(talk[at])
    told, decided = talk[: at + 1], [one for one in requests if "decision" in one]
    human.answered = {
        tool_answer_key(told, one.tool_call_id): one
        for one in tools
        if one.tool_call_id not in waiting
    }
    human.decisions = {tool_answer_key(told, one["call"]): one["decision"] for one in decided}
    return human


def _as_reply(message: BaseMessage) -> AIMessage:
    assert isinstance(message, AIMessage)  # noqa: S101 - it was chosen by its kind
    return message


class PauseMiddleware:
    """End a call whose tools wait for a person, and go on with one that has waited."""

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on, unless the answer is known or of no use yet."""
        human = request.runtime.context.human
        if human is None:
            return await handler(request)
        if human.requests:
            return ModelResponse(result=[AIMessage("")])
        reply, human.stopped_at = human.stopped_at, None
        return ModelResponse(result=[reply]) if reply else await handler(request)


class ApprovalMiddleware(AgentMiddleware[Any, "CallContext", Any]):
    """Let a tool that needs approval wait for a person, or use it as they decided."""

    def __init__(self, needs_approval: NeedsApproval | None) -> None:
        super().__init__()
        self.needs_approval = needs_approval

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: ToolHandler
    ) -> ToolMessage | Command[Any]:
        """Use the tool if it needs nobody, or is allowed, or approved."""
        around = _context(request)
        human, call = around.human, request.tool_call
        key = tool_answer_key(request.state["messages"], call["id"])
        known = human.answered.get(key) if human else None
        if known is not None:
            return known
        if call["name"] == ASK_USER or not self._is_risky(around, request.tool):
            return await handler(request)
        decision = human.decisions.get(key) if human else None
        if human is not None and decision is None and call["name"] in human.allowed:
            return await handler(request)
        described = describe_call(call["name"], call["args"])
        if human is None or (decision is None and not human.reachable):
            if human is not None:
                human.note("refused", described)
            return _answer(request, render_prompt("tool_unattended", language=around.language))
        if decision is None:
            about = to_one_line(sanitize_text(find_own_description(request.tool)), LONGEST_CALL)
            human.request(call["id"] or "", call["name"], call["args"], about)
            return _answer(request, "")
        return await _carry_out(request, handler, human, decision)

    def _is_risky(self, around: CallContext, tool: BaseTool | None) -> bool:
        return bool(tool and self.needs_approval and self.needs_approval(around, tool))


def describe_loaded_tools(around: CallContext, needs_approval: NeedsApproval | None) -> str:
    """Return what a model is told once of all tools that its call has loaded, "" for none.

    Args:
        around: The call, with its tools.
        needs_approval: Tells which of them a person has to approve.
    """
    if not around.loaded:
        return ""
    human, language = around.human, around.language
    allowed = human.allowed if human else ()
    waiting = [
        name
        for name, tool in around.loaded.items()
        if needs_approval and needs_approval(around, tool) and name not in allowed
    ]
    told = [render_prompt("loaded_tools", language=language, names=_list(around.loaded, language))]
    if waiting:
        kind = "loaded_tools_wait" if human and human.reachable else "loaded_tools_refused"
        told.append(render_prompt(kind, language=language, names=_list(waiting, language)))
    return " ".join(told) if language == "en" else "".join(told)


def _list(names: Iterable[str], language: str) -> str:
    return (", " if language == "en" else "、").join(f"`{name}`" for name in names)


def find_own_description(tool: BaseTool | None) -> str:
    """Return what a tool says of itself, without what a model is told beside that."""
    if tool is None:
        return ""
    return str((tool.metadata or {}).get(OWN_DESCRIPTION, tool.description))


async def _carry_out(
    request: ToolCallRequest, handler: ToolHandler, human: HumanInput, decision: ToolDecision
) -> ToolMessage | Command[Any]:
    """Use a tool as a person decided, and note it."""
    call, language = request.tool_call, _context(request).language
    if decision["type"] not in ("approve", "edit"):
        why = decision.get("message", "")
        human.note("rejected", describe_call(call["name"], call["args"]), why)
        name = "tool_rejected_because" if why else "tool_rejected"
        values = {"why": why} if why else {}
        return _answer(request, render_prompt(name, language=language, **values))
    args = decision.get("args", call["args"]) if decision["type"] == "edit" else call["args"]
    human.note("approved", describe_call(call["name"], args))
    answer = await handler(request.override(tool_call={**call, "args": args}))
    if args == call["args"] or not isinstance(answer, ToolMessage):
        return answer
    shown = json.dumps(args, ensure_ascii=False)
    edited = render_prompt("tool_edited", language=language, args=shown)
    return answer.model_copy(update={"content": f"{edited}\n\n{answer.text}"})


def _context(request: ToolCallRequest) -> CallContext:
    return cast("CallContext", request.runtime.context)


def _answer(request: ToolCallRequest, text: str) -> ToolMessage:
    called = {"tool_call_id": request.tool_call["id"] or "", "name": request.tool_call["name"]}
    return ToolMessage(text, **called, status="success")


def describe_call(name: str, args: Mapping[str, Any]) -> str:
    """Return a call of a tool in one line of plain text for a person."""
    given = ", ".join(f"{key}={json.dumps(one, ensure_ascii=False)}" for key, one in args.items())
    return to_person_line(f"{name}({given})", LONGEST_CALL)


def write_arguments(args: Mapping[str, Any]) -> str:
    """Return all arguments of a call as JSON, in which every character is seen.

    Whoever approves a call must see what is done: nothing is cut, and addresses stay.
    """
    written = json.dumps(args, ensure_ascii=False, indent=2)
    return "".join(
        one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in written
    )


def to_person_line(text: str, most: int) -> str:
    """Return a model's words in one line for a person.

    They have no addresses, no markup, no invisible characters, and nothing that a page says to
    models.
    """
    return to_one_line(sanitize_text(cut_injections(text)), most)
