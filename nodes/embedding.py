"""Trace what a node asks of embedders, as its calls of models are traced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime

from graph.context import Context
from models.embeddings import EmbeddingCall, collected
from runs.place import here
from runs.trace import trace

Node = TypeVar("Node", bound=Callable[..., Awaitable[Any]])


def traced(node: Node) -> Node:
    """Return a node that leaves a line in the trace where it had vectors made."""

    @wraps(node)
    async def run(state: Any, runtime: Runtime[Context]) -> Any:
        with collected() as asked:
            try:
                return await node(state, runtime)
            finally:
                if asked:
                    role = getattr(node, "__name__", "")
                    await trace(here(state, runtime), "embed", role, "ok", **_told(asked))

    return cast("Node", run)


def _told(asked: list[EmbeddingCall]) -> dict[str, Any]:
    return {
        "model": asked[0].name,
        "calls": len(asked),
        "texts": sum(one.texts for one in asked),
        "tokens_in": sum(one.tokens for one in asked),
        "seconds": round(sum(one.seconds for one in asked), 4),
    }
