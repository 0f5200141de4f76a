"""Take the secrets out of what people bring into a graph, before anything of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

from retrieval.secrets import masked_within

Message = TypeVar("Message", bound=BaseMessage)

BROUGHT = frozenset(["__start__", "__resume__", "question", "feedback"])
"""The channels of a graph that hold what a caller said, and nothing that was read."""


def masked_message(message: Message) -> Message:
    """Return a message without secrets; the very same one if there is none in it."""
    content = masked_within(message.content)
    if content is message.content:
        return message
    return message.model_copy(update={"content": content})


def masked_talk(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages with those of people masked; a report may quote what only looks like one."""
    return [masked_message(one) if isinstance(one, HumanMessage) else one for one in messages]


def masked_channel(name: str, value: Any, *, root: bool = True) -> Any:
    """Return what a channel of a graph holds as it may be saved.

    Args:
        name: The channel.
        value: What it holds.
        root: Whether the graph is the outermost one: an inner one is handed what was read, too.
    """
    if name in BROUGHT and (root or name != "__start__"):
        return _masked_all(value)
    if name == "messages":
        return [*map(_masked_said, value)] if isinstance(value, list) else _masked_said(value)
    return value


def _masked_said(one: Any) -> Any:
    """Return a message in any form in which LangGraph takes one, masked if a person's."""
    if isinstance(one, BaseMessage):
        return masked_message(one) if isinstance(one, HumanMessage) else one
    spoken = one.get("role", one.get("type")) if isinstance(one, dict) else "user"
    return _masked_all(one) if spoken in ("user", "human") else one


def _masked_all(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        return masked_message(value)
    if isinstance(value, dict):
        return {name: _masked_all(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        made = [_masked_all(one) for one in value]
        return made if isinstance(value, list) else tuple(made)
    return masked_within(value)
