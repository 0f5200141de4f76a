"""In which form an answer is asked for: as a schema, as a tool call, or as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from pydantic import BaseModel

from models.extractive.abstract import abstract
from models.extractive.blocks import Prompt
from models.extractive.kinds import asks_why_too
from models.extractive.plan import draft
from models.extractive.ranking import answerable, best, subject
from models.extractive.remember import complete, lookup, notes, unread
from models.extractive.review import enough, verdict
from models.extractive.rewrite import rewrite
from models.extractive.schema import emptiest
from models.extractive.smalltalk import triage
from models.extractive.topic import key_phrase, key_terms, topic

ROLES: dict[str, Callable[[Prompt], dict[str, Any]]] = {
    "Triage": triage,
    "Rewrite": rewrite,
    "Draft": draft,
    "Verdict": verdict,
    "Enough": enough,
    "Lookup": lookup,
    "Notes": notes,
    "Complete": complete,
    "Abstract": abstract,
    "Learnt": unread,
}
"""What answers a schema, by the schema's name."""


def form_of(asked: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the JSON schema of the answer that is asked for, if one is."""
    if isinstance(asked, type) and issubclass(asked, BaseModel):
        return asked.__name__, asked.model_json_schema()
    if not isinstance(asked, Mapping) or asked.get("type") == "text":
        return None
    form = asked.get("json_schema", asked)
    schema = form.get("schema", {})
    return form.get("name") or schema.get("title", ""), schema


def filled(name: str, schema: Mapping[str, Any], prompt: Prompt) -> Any:
    """Return the answer to a schema: what its role says, or the emptiest values."""
    return ROLES[name](prompt) if name in ROLES else emptiest(schema)


def tool_call(
    prompt: Prompt, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the one tool call that is made: an answer in the form of a tool, or a search."""
    tools = {tool["function"]["name"]: tool["function"] for tool in bound.get("tools") or ()}
    if not tools or any(isinstance(message, ToolMessage) for message in messages):
        return None
    name = _chosen(tools, bound.get("tool_choice"))
    if name:
        return _call(name, filled(name, tools[name].get("parameters", {}), prompt))
    wanted = _search(prompt) if "search" in tools and prompt.step else ""
    return _call("search", {"query": wanted}) if wanted else None


def _search(prompt: Prompt) -> str:
    """Return what to search for: the step if there are no pages, the reason of a row if asked."""
    title = prompt.step[0] if prompt.step else ""
    asked = title if key_terms(title) else prompt.question
    if not prompt.pages:
        return key_phrase(asked)
    if not asks_why_too(asked) or not answerable(asked, prompt.pages):
        return ""
    answer = best(topic(asked), asked, prompt.pages, 1)
    named = subject(answer[0].text) if answer else ""
    return f"{named} {key_phrase(asked)}" if named else ""


def _chosen(tools: Mapping[str, Any], choice: Any) -> str | None:
    """Return the tool that must be called, or that is an answer in the form of a tool."""
    named = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else choice
    if named in tools:
        return str(named)
    if named in ("any", "required"):
        return next(iter(tools))
    return next((name for name in tools if name in ROLES), None)


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}
