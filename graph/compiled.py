"""Graphs as they are compiled here: how they are drawn, and what of a branch is streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.graph import Graph as Drawing
from langgraph._internal._constants import CONF, CONFIG_KEY_STREAM
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel.protocol import StreamChunk, StreamProtocol

from storage.fencing import begin_work


class DossierGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph that is drawn as it flows: what catches a node that fails has no place in it.

    Without an edge to it, a handler would hang in the air, and a graph with two beginnings is not
    opened where it is a part of another one.
    """

    def get_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Drawing:
        """Return the drawing."""
        return _without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Drawing:
        """Return the drawing."""
        return _without_handlers(await super().aget_graph(config, xray=xray))

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **more: Any
    ) -> AsyncIterator[Any]:
        """Run the graph; what its nodes write is checked for the thread that they work on."""
        begin_work(str(ensure_config(config).get(CONF, {}).get("thread_id", "")))
        async for part in super().astream(input, config, **more):
            yield part


class BranchGraph(DossierGraph):
    """A graph within another one, whose state is streamed to nobody.

    Chat pages take every state that is streamed for that of the thread, whichever graph has it.
    """

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **more: Any
    ) -> AsyncIterator[Any]:
        """Run the graph; its events and updates are streamed, and its states are not."""
        config = ensure_config(config)
        outer: StreamProtocol | None = config.get(CONF, {}).get(CONFIG_KEY_STREAM)
        if outer is not None:
            quiet = {CONFIG_KEY_STREAM: _without_states(outer)}
            config = {**config, CONF: {**config[CONF], **quiet}}
        async for part in super().astream(input, config, **more):
            yield part


def _without_states(outer: StreamProtocol) -> StreamProtocol:
    """Return a stream that lets everything through but states."""
    put_on: Callable[[StreamChunk], None] = getattr(outer, "__call__")  # noqa: B004, B009

    def put(chunk: StreamChunk) -> None:
        if chunk[1] != "values":
            put_on(chunk)

    return StreamProtocol(put, outer.modes - {"values"})


def _without_handlers(drawing: Drawing) -> Drawing:
    for node in [node for node in drawing.nodes.values() if "error_handler" in node.id]:
        drawing.remove_node(node)
    return drawing
