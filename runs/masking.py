"""Take the secrets out of what people bring into a graph, before anything of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from text.secret_masking import mask_secrets_within

Message = TypeVar("Message", bound=BaseMessage)
Table = TypeVar("Table", bound=Mapping[str, Any])

PLACES = ("_id", "_ns", "_map")
"""How the names of what a checkpoint is found by end."""

BROUGHT = frozenset(["__start__", "__resume__", "question", "feedback"])
"""The channels of a graph that hold what a caller said, and nothing that was read."""

SAID = ("content", "name", "additional_kwargs", "response_metadata")
"""What a client may write into a message."""


def mask_message(message: Message) -> Message:
    """Return a message without secrets; the very same one if there is none in it."""
    said = {name: getattr(message, name) for name in SAID}
    safe = mask_secrets_within(said)
    return message if safe is said else message.model_copy(update=safe)


def mask_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages with those of people masked; a report may quote what only looks like one."""
    return [mask_message(one) if isinstance(one, HumanMessage) else one for one in messages]


def mask_channel(name: str, value: Any, *, root: bool = True) -> Any:
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


def mask_config(config: RunnableConfig) -> RunnableConfig:
    """Return a config without secrets in what a checkpointer saves of it."""
    told = mask_metadata(config.get("metadata") or {})
    return {**config, "metadata": told, "configurable": mask_metadata(config["configurable"])}


def mask_metadata(told: Table) -> Table:
    """Return what a checkpoint is told of its run, its places and ids as they are."""
    safe = {
        name: value
        if name.endswith(PLACES) or name.startswith("__")
        else mask_secrets_within(value)
        for name, value in told.items()
    }
    return cast("Table", safe)


def _masked_said(one: Any) -> Any:
    """Return a message in any form in which LangGraph takes one, masked if a person's."""
    if isinstance(one, BaseMessage):
        return mask_message(one) if isinstance(one, HumanMessage) else one
    spoken = one.get("role", one.get("type")) if isinstance(one, dict) else "user"
    return _masked_all(one) if spoken in ("user", "human") else one


def _masked_all(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        return mask_message(value)
    if isinstance(value, dict):
        return {name: _masked_all(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        made = [_masked_all(one) for one in value]
        return made if isinstance(value, list) else tuple(made)
    return mask_secrets_within(value)
