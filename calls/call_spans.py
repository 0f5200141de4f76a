"""The spans of model calls, tools and attempts, with the names of the GenAI conventions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langgraph.types import Command

from calls.attempts import EMBEDDER, INDEXER, NO_FAILURE, Attempt
from calls.ledger import CallCost
from calls.replies import finish_reason
from runs.call_site import CallSite
from runs.spans import SpanNotes, begin_span, end_span, find_span_export, open_span, shows_content

if TYPE_CHECKING:
    from opentelemetry.trace import Span

PROVIDERS = {
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "extractive": "dossier",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""The providers that the conventions name otherwise than LangChain does."""

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
"""The roles of the conventions by the types of messages."""

TOOL_FAILED = "tool_error"
"""The type of the error of a tool that answers with one."""


class AttemptSpan:
    """The span of one attempt at a model call or an embedding request; nothing without collectors.

    Its id is that of the attempt, so that a span that is sent twice is one span.
    """

    def __init__(self, site: CallSite, role: str, attempt: str, model: str, limit: int = 0) -> None:
        self._about, self._started = _describe_model(role, model), time.monotonic()
        self._span: Span | None = None
        if find_span_export() is None:
            return
        begun: dict[str, Any] = {"dossier.attempt": attempt, "gen_ai.agent.name": role}
        begun |= {"gen_ai.request.max_tokens": limit} if limit else {}
        self._span = begin_span(
            site,
            _span_name(self._about),
            {**self._about, **begun},
            client=True,
            span_id=attempt_span_id(attempt),
        )

    def end(
        self,
        status: str,
        cost: CallCost,
        *,
        estimated: bool = False,
        sent: Sequence[BaseMessage] = (),
        reply: AIMessage | None = None,
        why: str = "",
    ) -> None:
        """End it.

        Args:
            status: How the attempt ended.
            cost: What it used, or may have used: the same as in the ledger.
            estimated: Whether no server has reported the tokens.
            sent: The messages that were sent.
            reply: The answer, if there is one.
            why: What went wrong, in words.
        """
        export = find_span_export()
        if export is None:
            return
        used = describe_usage(cost.tokens_in, cost.tokens_out, cost.dollars)
        notes = SpanNotes(used, error="" if status == "ok" else status, why=why)
        notes.attributes |= {"dossier.usage.estimated": True} if estimated else {}
        if reply is not None:
            notes.attributes |= _describe_reply(reply)
        if export.shows_content:
            notes.content = describe_messages(sent, reply)
        end_span(self._span, notes)
        seconds = time.monotonic() - self._started
        export.metrics.record(self._about, seconds, cost.tokens_in, cost.tokens_out, notes.error)


def describe_attempt(attempt: Attempt) -> tuple[str, dict[str, Any], str]:
    """Return the name, the attributes and the error of the span of a recorded attempt."""
    about = _describe_model(attempt.role, attempt.model)
    used = describe_usage(attempt.tokens_in, attempt.tokens_out, attempt.cost)
    begun = {"dossier.attempt": attempt.id, "gen_ai.agent.name": attempt.role}
    failed = attempt.status not in NO_FAILURE or attempt.status in ("open", "cancelled")
    return _span_name(about), {**about, **begun, **used}, attempt.status if failed else ""


def attempt_span_id(attempt: str) -> int:
    """Return the id of the span of an attempt."""
    return int(attempt[:16], 16)


def describe_usage(tokens_in: int, tokens_out: int, dollars: float) -> dict[str, Any]:
    """Return what an attempt used; the conventions have no name for its price yet."""
    return {
        "gen_ai.usage.input_tokens": tokens_in,
        "gen_ai.usage.output_tokens": tokens_out,
        "gen_ai.usage.cost": dollars,
    }


def _describe_model(role: str, name: str) -> dict[str, Any]:
    """Return the operation, the provider and the model of an attempt."""
    provider, _, model = name.partition(":")
    return {
        "gen_ai.operation.name": "embeddings" if role in (EMBEDDER, INDEXER) else "chat",
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model or provider,
    }


def _span_name(about: Mapping[str, Any]) -> str:
    return f"{about['gen_ai.operation.name']} {about['gen_ai.request.model']}"


def _describe_reply(reply: AIMessage) -> dict[str, Any]:
    told = {"gen_ai.response.finish_reasons": [reason]} if (reason := finish_reason(reply)) else {}
    named = reply.response_metadata.get("model_name")
    return told | ({"gen_ai.response.model": str(named)} if named else {})


def describe_messages(sent: Sequence[BaseMessage], reply: AIMessage | None) -> dict[str, str]:
    """Return a conversation in the form of the conventions, as JSON."""
    system = [message for message in sent if isinstance(message, SystemMessage)]
    others = [_message(message) for message in sent if not isinstance(message, SystemMessage)]
    told = {"gen_ai.input.messages": _to_json(others)}
    if system:
        parts = [_text_part(str(message.text)) for message in system]
        told["gen_ai.system_instructions"] = _to_json(parts)
    if reply is not None:
        answer = {**_message(reply), "finish_reason": finish_reason(reply) or "stop"}
        told["gen_ai.output.messages"] = _to_json([answer])
    return told


def _message(message: BaseMessage) -> dict[str, Any]:
    role, text = ROLES.get(message.type, message.type), str(message.text)
    if isinstance(message, ToolMessage):
        answered = {"type": "tool_call_response", "id": message.tool_call_id, "response": text}
        return {"role": role, "parts": [answered]}
    parts = [_text_part(text)] if text else []
    if isinstance(message, AIMessage):
        parts += [_call_part(call) for call in message.tool_calls]
    return {"role": role, "parts": parts}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _call_part(call: ToolCall) -> dict[str, Any]:
    called = {"id": call["id"], "name": call["name"], "arguments": call["args"]}
    return {"type": "tool_call", **called}


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def role_span(site: CallSite, role: str) -> Iterator[SpanNotes]:
    """Surround what one role does, with all its attempts and tools."""
    about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": role}
    with open_span(site, f"invoke_agent {role}", about) as notes:
        yield notes


@contextmanager
def tool_span(site: CallSite, call: ToolCall) -> Iterator[SpanNotes]:
    """Surround a call of a tool."""
    about = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call["id"] or "",
    }
    with open_span(site, f"execute_tool {call['name']}", about) as notes:
        if shows_content():
            notes.content["gen_ai.tool.call.arguments"] = _to_json(call["args"])
        yield notes


def note_tool_answer(notes: SpanNotes, answer: ToolMessage | Command[Any]) -> None:
    """Note what a tool has answered, and whether it failed."""
    if not isinstance(answer, ToolMessage):
        return
    notes.error = TOOL_FAILED if answer.status == "error" else ""
    if shows_content():
        notes.content["gen_ai.tool.call.result"] = str(answer.text)
