"""Mask secrets in the input of a graph before any of it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from text.secret_masking import mask_secrets_within

Message = TypeVar("Message", bound=BaseMessage)
Table = TypeVar("Table", bound=Mapping[str, Any])

PLACES = ("_id", "_ns", "_map")
"""The endings of the names by which a checkpoint is found."""

BROUGHT = frozenset(["__start__", "__resume__", "question", "feedback"])
"""The channels of a graph that hold only what a caller said, nothing from sources."""

SAID = ("content", "name", "additional_kwargs", "response_metadata")
"""The fields of a message that a client may set."""


def mask_message(message: Message) -> Message:
    """Return a message without secrets; the same object if it has none."""
    fields = {name: getattr(message, name) for name in SAID}
    safe = mask_secrets_within(fields)
    return message if safe is fields else message.model_copy(update=safe)


def mask_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Mask the messages of people; a report may quote what only looks like a secret."""
    return [mask_message(one) if isinstance(one, HumanMessage) else one for one in messages]


def mask_channel(name: str, value: Any, *, root: bool = True) -> Any:
    """Return the value of a channel of a graph without secrets that a caller brought.

    Args:
        name: The channel.
        value: Its value.
        root: Whether the graph is the outermost one: the input of an inner one includes sources.
    """
    if name in BROUGHT and (root or name != "__start__"):
        return _mask_all(value)
    if name != "messages":
        return value
    return [*map(_mask_any_message, value)] if isinstance(value, list) else _mask_any_message(value)


def mask_config(config: RunnableConfig) -> RunnableConfig:
    """Return a config without secrets in the parts that a checkpointer saves."""
    metadata = mask_metadata(config.get("metadata") or {})
    return {**config, "metadata": metadata, "configurable": mask_metadata(config["configurable"])}


def mask_metadata(metadata: Table) -> Table:
    """Return the metadata of a checkpoint without secrets; its places and ids are unchanged."""
    safe = {
        name: value
        if name.endswith(PLACES) or name.startswith("__")
        else mask_secrets_within(value)
        for name, value in metadata.items()
    }
    return cast("Table", safe)


def _mask_any_message(one: Any) -> Any:
    """Mask a message of a person, in any form that LangGraph accepts."""
    if isinstance(one, BaseMessage):
        return mask_message(one) if isinstance(one, HumanMessage) else one
    spoken = one.get("role", one.get("type")) if isinstance(one, dict) else "user"
    return _mask_all(one) if spoken in ("user", "human") else one


def _mask_all(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        return mask_message(value)
    if isinstance(value, dict):
        return {name: _mask_all(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(map(_mask_all, value))
    return mask_secrets_within(value)
