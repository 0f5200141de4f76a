"""Stream the progress of a run, and its report while it is written.

The agents within nodes have conversations of their own, with prompts, pages and notes in them,
which a chat page would take for the person's. They are not streamed; what a person is to see is put
into the stream of the main graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._constants import (
    CONFIG_KEY_DURABILITY,
    CONFIG_KEY_RUNTIME,
    CONFIG_KEY_STREAM,
)
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2
from langgraph.pregel.protocol import StreamProtocol

from config.key_masking import mask_keys
from report.markdown.sanitizer import sanitize_text
from text.regex import regex

PROGRESS = "progress"
"""The name and the tag of progress messages, which are in no state."""

ALONE = {CONFIG_KEY_DURABILITY: "async"}
"""The options of a graph that saves nothing: it fails if it inherits durability "sync"."""

INSIDE = {**ALONE, CONFIG_KEY_STREAM: StreamProtocol(lambda _: None, set())}
"""The options of a graph within a node, which streams nothing either."""

HIDDEN = regex(r"<think>.*?</think>|</?q\b[^<>]*>", re.DOTALL)
"""What a model writes for the checks, or as reasoning."""

OPEN = regex(
    r"<(?!think>)[^<>]{0,80}\Z|<think>.*\Z|!?\[[^\[\]]{0,300}\Z"
    r"|!?\[[^\[\]]{0,300}\](?:\([^()]{0,300})?\Z|(?<![!-~])[!-~]+\Z",
    re.DOTALL,
)
"""The beginning of such a part, or of a link, an image or an address."""


_outer: ContextVar[RunnableConfig | None] = ContextVar("outer_config", default=None)
"""The configuration of the node around the graph that runs within it."""


def outer_config() -> RunnableConfig:
    """Return the configuration of the node that is at work, also from a graph within it."""
    return _outer.get() or var_child_runnable_config.get() or {}


@contextmanager
def nested_config(*, message_id: str = "") -> Iterator[RunnableConfig]:
    """Lend the configuration of a graph within a node.

    Args:
        message_id: The id of the message in which its model's words are streamed; "" to stream
            none.
    """
    outer = var_child_runnable_config.get() or {}
    manager = outer.get("callbacks")
    options = INSIDE if CONFIG_KEY_RUNTIME in outer.get("configurable", {}) else ALONE
    if not isinstance(manager, BaseCallbackManager):
        yield {"configurable": options}
        return
    # LangGraph adds the callbacks of a configuration to those around it, and takes none away.
    around = var_child_runnable_config.set(
        {**outer, "callbacks": _without_streams(manager, outer, message_id)}
    )
    outside = _outer.set(_outer.get() or outer)
    try:
        yield {"configurable": options}
    finally:
        _outer.reset(outside)
        var_child_runnable_config.reset(around)


def _without_streams(
    manager: BaseCallbackManager, outer: RunnableConfig, watched: str
) -> BaseCallbackManager:
    """Return the callbacks of a node without those that stream messages."""
    streams = _stream_handlers(manager)
    handlers: list[Any] = [handler for handler in manager.handlers if handler not in streams]
    if watched:
        handlers += [_WordStreamer(stream, outer, watched) for stream in streams]
    return AsyncCallbackManager(
        handlers=handlers,
        inheritable_handlers=handlers,
        parent_run_id=manager.parent_run_id,
        tags=manager.tags,
        inheritable_tags=manager.inheritable_tags,
        metadata=manager.metadata,
        inheritable_metadata=manager.inheritable_metadata,
    )


def show_progress_message(text: str) -> None:
    """Stream a line of progress, as a message that no state holds: the next state replaces it.

    Args:
        text: The line.
    """
    outer = outer_config()
    manager, metadata = outer.get("callbacks"), outer.get("metadata", {})
    if not isinstance(manager, BaseCallbackManager):
        return
    # Each branch has one message.
    branch = str(metadata.get("langgraph_checkpoint_ns", "")).partition("|")[0]
    task = f"{PROGRESS}-{branch}"
    for handler in _stream_handlers(manager):
        message: BaseMessage = AIMessageChunk(content=text.strip() + "\n\n", id=task, name=PROGRESS)
        if isinstance(handler, StreamMessagesHandlerV2):
            message = AIMessage(text.strip(), id=f"{task}-{uuid4()}", name=PROGRESS)
        _show(handler, message, {**metadata, "tags": [PROGRESS]})


def show_text(text: str, message_id: str) -> None:
    """Stream a finished part of a text at once, as more words of a message.

    Args:
        text: Markdown as a model wrote it.
        message_id: The id of the message.
    """
    outer = var_child_runnable_config.get() or {}
    manager = outer.get("callbacks")
    if isinstance(manager, BaseCallbackManager):
        for handler in _stream_handlers(manager):
            _WordStreamer(handler, outer, message_id).say(HIDDEN.sub("", text))


def _stream_handlers(manager: BaseCallbackManager) -> list[StreamMessagesHandler]:
    """Return the handlers that put messages into the stream of the main graph."""
    return [stream for stream in manager.handlers if isinstance(stream, StreamMessagesHandler)]


def _show(handler: StreamMessagesHandler, message: BaseMessage, metadata: dict[str, Any]) -> None:
    # The main graph has no name of its own in the stream.
    handler._emit(((), metadata), message)


class _WordStreamer(StreamMessagesHandler):
    """Streams the words of a model within a node as one message of that node."""

    def __init__(self, outer: StreamMessagesHandler, config: RunnableConfig, message: str) -> None:
        super().__init__(outer.stream, subgraphs=True)
        self.outer = outer
        self.about = dict(config.get("metadata", {}))
        self.message = message
        self.pending: dict[UUID, str] = {}

    def on_chat_model_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        """Begin to collect the words of a call."""
        self.pending[run_id] = ""

    def on_chain_start(self, *_: Any, **more: Any) -> None:
        """Ignore the nodes of the agent."""

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **more: Any) -> None:
        """Stream more words, once they cannot be the beginning of a hidden part."""
        if not isinstance(chunk, ChatGenerationChunk) or run_id not in self.pending:
            return
        text = HIDDEN.sub("", self.pending[run_id] + str(chunk.message.text))
        begun = OPEN.search(text)
        whole = text[: begun.start()] if begun else text
        self.pending[run_id] = text[len(whole) :]
        self.say(whole)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **more: Any) -> None:
        """Stream the remaining words of a call."""
        rest = self.pending.pop(run_id, "")
        self.say("" if rest.startswith("<think>") else rest)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """Drop the remaining words of a call that failed."""
        self.pending.pop(run_id, None)

    def say(self, written: str) -> None:
        """Stream words that are complete, without keys and markup."""
        text = sanitize_text(mask_keys(written, plain_words=False))
        if text and not isinstance(self.outer, StreamMessagesHandlerV2):
            _show(self.outer, AIMessageChunk(content=text, id=self.message), self.about)
