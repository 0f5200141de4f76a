"""The graphs as a server serves them: one worker to a thread, and every end is written down."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph.state import CompiledStateGraph
from langgraph_sdk.runtime import ServerRuntime

from app.guard import guarded
from app.handing import unreviewed
from app.problems import for_clients
from config.errors import Problem
from config.settings import settings
from graph.builder import make_graph
from graph.context import BOUNDS, Context, context
from graph.records import RunStatus
from memory.forgetting.thread import forget_thread
from models.load import check_prices
from nodes.recall.graph import make_recall
from retrieval.regex import regex
from runs.budget import pause_thread
from runs.checkpointer import Checkpoints, checkpoints, restate
from runs.lifecycle import broken_off, check_owner, newest
from runs.lock import taken
from runs.place import owned
from runs.soundness import UNFORESEEN, check_branches, damage
from tools.search import check_names

Graph = CompiledStateGraph[Any, Any, Any, Any]


BROKEN_OFF = ("cancelled", "failed")
"""The statuses of runs that may be resumed."""


NAMED = regex(r"[\w:|.-]{0,2000}")
"""What ids and namespaces of checkpoints look like, and the names that a history is filtered by."""

HISTORY = "name a checkpoint that is in the history of the thread"


class Saved(Checkpoints):
    """The saver of a server: a client names only checkpoints of the thread it speaks of.

    Where a thread is deleted, what else it has left goes with it.
    """

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a client names, or the newest one of a thread.

        LangGraph begins an empty thread where there is no such checkpoint.

        Raises:
            Problem: `bad_checkpoint`, `checkpoint_not_found` or `storage_corrupt`.
        """
        id, space = _named(config)
        found = await super().aget_tuple(config)
        if found is None and id and not space:
            what = "the thread has no such checkpoint"
            raise Problem("checkpoint_not_found", what, where=id, hint=HISTORY)
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, newest first.

        Raises:
            Problem: `bad_checkpoint` or `storage_corrupt`.
        """
        if before is not None and "configurable" not in before:
            # Clients send the checkpoint itself.
            before = {"configurable": dict(before)}
        _named(config or {})
        wanted = {"limit": limit, **(filter or {})}
        known = all(map(NAMED.fullmatch, wanted)) and all(wanted)
        known = known and all(map(_countable, wanted.values()))
        if not known or (before is not None and not _named(before)[0]):
            _refuse_checkpoint(wanted if before is None else before)
        listed = super().alist(config, filter=filter, before=before, limit=limit)
        async for found in listed:
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete everything there is of a thread."""
        await forget_thread(thread_id)
        await super().adelete_thread(thread_id)


def _named(config: RunnableConfig) -> tuple[str, str]:
    """Return the id and the namespace of the checkpoint that is asked for.

    Raises:
        Problem: `bad_checkpoint`.
    """
    place = config.get("configurable", {})
    id, space = (place.get(name) or "" for name in ("checkpoint_id", "checkpoint_ns"))
    for one in (id, space):
        if not isinstance(one, str) or not NAMED.fullmatch(one):
            _refuse_checkpoint(one)
    return id, space


def _countable(value: Any) -> bool:
    """Tell whether a value is no number that is too large for SQLite."""
    return not isinstance(value, int) or abs(value) < 2**63


def _refuse_checkpoint(named: Any) -> NoReturn:
    what = "this is no name of checkpoints"
    raise Problem("bad_checkpoint", what, where=repr(named)[:100], hint=HISTORY)


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
    # A form sends every number, also those that nobody has changed.
    unchanged = chosen.max_cost == Context.max_cost and BOUNDS.keys() <= (choices or {}).keys()
    if "max_cost" in (choices or {}) and not unchanged:
        check_prices(chosen)
