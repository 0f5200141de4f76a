"""Stream to whoever watches a run how far it is, and the report while it is written.

The agents within nodes have conversations of their own, with prompts, pages and notes in them,
which a chat page would take for the person's; so theirs are streamed to nobody, and what is to be
seen is put into the stream of the main graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
from graph.state import StepState
from prompts.loader import render_prompt
from report.markdown.sanitizer import sanitize_text
from text.regex import regex

PROGRESS = "progress"
"""The name and the tag of messages that say how far a run is; no state holds them."""

ALONE = {CONFIG_KEY_DURABILITY: "async"}
"""What a graph that saves nothing is told: it fails when it inherits durability "sync"."""

INSIDE = {**ALONE, CONFIG_KEY_STREAM: StreamProtocol(lambda _: None, set())}
"""What a graph within a node is told: to stream nothing, too."""

HIDDEN = regex(r"<think>.*?</think>|</?q\b[^<>]*>", re.DOTALL)
"""What a model writes for the checks, or to itself."""

OPEN = regex(
    r"<(?!think>)[^<>]{0,80}\Z|<think>.*\Z|!?\[[^\[\]]{0,300}\Z"
    r"|!?\[[^\[\]]{0,300}\](?:\([^()]{0,300})?\Z|(?<![!-~])[!-~]+\Z",
    re.DOTALL,
)
"""What may still become such a thing, or a link, an image or an address."""


@contextmanager
def nested_config(*, message_id: str = "") -> Iterator[RunnableConfig]:
    """Lend the configuration of a graph within a node.

    Args:
        message_id: The id of the message that its model's words are shown as; nobody sees them
            without.
    """
    outer = var_child_runnable_config.get() or {}
    manager = outer.get("callbacks")
    told = INSIDE if CONFIG_KEY_RUNTIME in outer.get("configurable", {}) else ALONE
    if not isinstance(manager, BaseCallbackManager):
        yield {"configurable": told}
        return
    # LangGraph adds the callbacks of a configuration to those around it, and takes none away.
    around = var_child_runnable_config.set(
        {**outer, "callbacks": _quiet(manager, outer, message_id)}
    )
    try:
        yield {"configurable": told}
    finally:
        var_child_runnable_config.reset(around)


def _quiet(
    manager: BaseCallbackManager, outer: RunnableConfig, watched: str
) -> BaseCallbackManager:
    """Return the callbacks of a node without those that stream messages."""
    shown_by = _shown_by(manager)
    heard: list[Any] = [one for one in manager.handlers if one not in shown_by]
    if watched:
        heard += [_WordStreamer(one, outer, watched) for one in shown_by]
    return AsyncCallbackManager(
        handlers=heard,
        inheritable_handlers=heard,
        parent_run_id=manager.parent_run_id,
        tags=manager.tags,
        inheritable_tags=manager.inheritable_tags,
        metadata=manager.metadata,
        inheritable_metadata=manager.inheritable_metadata,
    )


def show_progress(state: Mapping[str, Any], what: str, **values: object) -> None:
    """Show how far a run is, as a message that no state keeps: the next state takes its place.

    Args:
        state: The node's state; it says in which language.
        what: The prompt that says it, without `progress_`.
        values: What the prompt needs.
    """
    outer = var_child_runnable_config.get() or {}
    manager, metadata = outer.get("callbacks"), outer.get("metadata", {})
    if not isinstance(manager, BaseCallbackManager):
        return
    text = render_prompt(f"{PROGRESS}_{what}", language=state.get("language", "en"), **values)
    # What one branch says stands in one message.
    branch = str(metadata.get("langgraph_checkpoint_ns", "")).partition("|")[0]
    task = f"{PROGRESS}-{branch}"
    for handler in _shown_by(manager):
        said: BaseMessage = AIMessageChunk(content=text.strip() + "\n\n", id=task, name=PROGRESS)
        if isinstance(handler, StreamMessagesHandlerV2):
            said = AIMessage(text.strip(), id=f"{task}-{uuid4()}", name=PROGRESS)
        _show(handler, said, {**metadata, "tags": [PROGRESS]})


def show_step_progress(state: StepState, what: str) -> None:
    """Show how far the branch of a step is."""
    # A branch that an older version began does not know its place.
    number, count = state.get("number", 1), state.get("count", 1)
    show_progress(state, what, number=number, count=count, title=state["step"]["title"])


def _shown_by(manager: BaseCallbackManager) -> list[StreamMessagesHandler]:
    """Return what puts messages into the stream of the main graph."""
    return [one for one in manager.handlers if isinstance(one, StreamMessagesHandler)]


def _show(handler: StreamMessagesHandler, message: BaseMessage, metadata: dict[str, Any]) -> None:
    # The main graph has no name of its own in the stream.
    handler._emit(((), metadata), message)


class _WordStreamer(StreamMessagesHandler):
    """Shows the words of a model within a node as one message of that node."""

    def __init__(self, outer: StreamMessagesHandler, config: RunnableConfig, message: str) -> None:
        super().__init__(outer.stream, subgraphs=True)
        self.outer = outer
        self.about = dict(config.get("metadata", {}))
        self.message = message
        self.held: dict[UUID, str] = {}

    def on_chat_model_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        """Begin to listen to a call."""
        self.held[run_id] = ""

    def on_chain_start(self, *_: Any, **more: Any) -> None:
        """Pass over the nodes of the agent."""

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **more: Any) -> None:
        """Show some more words, as soon as they cannot be the beginning of something hidden."""
        if not isinstance(chunk, ChatGenerationChunk) or run_id not in self.held:
            return
        text = HIDDEN.sub("", self.held[run_id] + str(chunk.message.text))
        begun = OPEN.search(text)
        whole = text[: begun.start()] if begun else text
        self.held[run_id] = text[len(whole) :]
        self._say(whole)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **more: Any) -> None:
        """Show what is left of a call."""
        left = self.held.pop(run_id, "")
        self._say("" if left.startswith("<think>") else left)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """Forget what is left of a call that failed."""
        self.held.pop(run_id, None)

    def _say(self, written: str) -> None:
        text = sanitize_text(mask_keys(written, plain_words=False))
        if text and not isinstance(self.outer, StreamMessagesHandlerV2):
            _show(self.outer, AIMessageChunk(content=text, id=self.message), self.about)
