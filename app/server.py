"""The graphs as a server serves them: one worker to a thread, and every end is written down."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph_sdk.runtime import ServerRuntime

from app.guard import guarded
from app.handing import unreviewed
from app.problems import for_clients
from config.errors import Problem
from config.settings import settings
from graph.builder import make_graph
from graph.context import Context, context
from graph.records import RunStatus
from memory.forgetting.thread import forget_thread
from models.load import check_prices
from nodes.recall.graph import make_recall
from runs.budget import pause_thread
from runs.checkpointer import Checkpoints, checkpoints, restate
from runs.lifecycle import broken_off, check_owner, newest
from runs.lock import taken
from runs.place import owned
from runs.soundness import UNFORESEEN, check_branches, damage
from tools.search import check_names

Graph = CompiledStateGraph[Any, Any, Any, Any]


BROKEN_OFF = ("cancelled", "failed")
"""How a run stands that may be gone on with."""


class Saved(Checkpoints):
    """The saver of a server: where a thread is deleted, what else it has left goes with it."""

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete everything there is of a thread."""
        await forget_thread(thread_id)
        await super().adelete_thread(thread_id)


@asynccontextmanager
async def saved() -> AsyncIterator[Saved]:
    """Open the saver; the server calls this once and keeps it open."""
    async with checkpoints(Saved) as saver:
        yield cast("Saved", saver)


@asynccontextmanager
async def dossier(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[Graph]:
    """Serve the main graph, which shows its plan.

    Raises:
        Problem: What `_holding` tells of.
    """
    async with _holding(config, runtime, make_graph()):
        yield guarded(make_graph())


@asynccontextmanager
async def research(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[Graph]:
    """Serve the main graph to clients that wait for an answer and decide nothing, as MCP's do.

    Raises:
        Problem: What `_holding` tells of.
    """
    async with _holding(config, runtime, make_graph()):
        yield unreviewed(make_graph())


@asynccontextmanager
async def _holding(
    config: RunnableConfig, runtime: ServerRuntime[Any], graph: Graph
) -> AsyncIterator[None]:
    """Hold a thread while a run works on it, and write down how it ended.

    Raises:
        Problem: `run_in_progress` when another process works on the thread, `thread_taken` when it
            is another's, `storage_corrupt` when what is saved of it is why the run failed, or what
            is wrong with the choices.
    """
    if runtime.execution_runtime is None:
        yield
        return
    check(runtime.execution_runtime.context)
    thread = config["configurable"]["thread_id"]
    owner = owner_of(runtime)
    await check_owner(owner, thread)
    lock = await asyncio.to_thread(taken, thread)
    try:
        async with checkpoints() as saver:
            await check_branches(saver, graph, thread)
        if (last := await newest(owner, thread)) and last.status in BROKEN_OFF:
            await restate(thread, "running", of=BROKEN_OFF)
        yield
    except BaseException as error:
        found = await damage(graph, thread) if isinstance(error, UNFORESEEN) else None
        status, code = ending(found or error)
        await broken_off(owner, thread, status, code=code)
        if found:
            raise for_clients(found) from error
        await restate(thread, status)
        raise
    finally:
        pause_thread(thread)
        await asyncio.to_thread(lock.release)


@asynccontextmanager
async def recall(runtime: ServerRuntime[Any]) -> AsyncIterator[Graph]:
    """Serve the memory researcher.

    Raises:
        Problem: What is wrong with the choices.
    """
    if runtime.execution_runtime is not None:
        check(runtime.execution_runtime.context)
    yield guarded(make_recall())


def owner_of(runtime: ServerRuntime[Any]) -> str:
    """Return who a run on the server is for, as its nodes will find out (`runs/place.py`)."""
    login = runtime.user.identity if runtime.user else settings().user
    context = runtime.execution_runtime.context if runtime.execution_runtime else None
    return owned(login, (context or {}).get("project", ""))


def ending(error: BaseException) -> tuple[RunStatus, str]:
    """Return how a run stands after an error, and its code; what stops a run has none."""
    if isinstance(error, Problem):
        return "failed", error.code
    # The server stops a run with an `Exception` of its own; all else that stops one is none.
    stopped = getattr(sys.modules.get("langgraph_api.errors"), "UserInterrupt", ())
    if isinstance(error, stopped) or not isinstance(error, Exception):
        return "cancelled", ""
    return "failed", "internal"


def check(choices: dict[str, Any] | None) -> None:
    """Make sure that a caller's choices mean something; the server itself drops what it cannot use.

    Raises:
        Problem: `unknown_field`, `out_of_range`, `bad_choice`, `bad_locale`, `unknown_provider` or
            `model_without_price`.
    """
    chosen = context(choices or {})
    check_names(chosen.search)
    # A form sends every choice, also those that nobody has changed.
    if chosen.max_cost != Context.max_cost:
        check_prices(chosen)
