"""The graphs as a server serves them: one run at a time on a thread, and each outcome is recorded.

Clients that do not read the state get a short output.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph.state import CompiledStateGraph
from langgraph_sdk.auth.types import BaseUser
from langgraph_sdk.runtime import ServerRuntime
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from app.auth.caller_limits import check_caller_choices
from app.auth.login import check_active
from app.guarded_graph import NO_UPLOADS, GuardedGraph, make_guarded_graph
from app.problems import strip_command_hint
from app.server_kind import is_cancelled_by_client, queues_by_thread
from calls.run_budget import end_thread_sessions
from calls.run_spans import end_run_spans
from config.errors import ErrorCode, Problem
from config.garbage_collection import spare_loaded_objects
from config.resources import close_resources
from config.settings import settings
from graph.builder import make_graph
from graph.context import Context, build_context
from graph.records import DELIVERED, RunStatus
from library.uploads import is_upload_id
from models.chat_models import check_model_prices
from nodes.recall.recall_graph import make_recall_graph
from privacy.service import delete_thread
from report.document import extract_answer
from report.rendering.chat_report import unlink_citations
from runs.call_site import join_owner, name_server_user
from runs.checkpointer import open_checkpointer, save_run_status
from runs.cost_quotas import check_cost_quota
from runs.lifecycle import BROKEN_OFF, check_thread_owner, find_newest_run, mark_interrupted
from runs.lock import ThreadLock, acquire
from runs.thread_integrity import DAMAGE_ERRORS, check_thread_branches, find_damage
from runs.thread_saver import ThreadSaver
from text.regex import regex
from tools.mcp.connections import close_thread_connections
from tools.mcp.server_config import check_server_names, load_servers
from tools.upload_reading import find_upload_roots
from tools.web.providers.provider_registry import check_provider_names

QUEUE_SECONDS, QUEUE_INTERVAL = 600, 0.5
"""How long a run waits for others on its thread, and how often it checks, in seconds."""

SERVER_NAMES = frozenset(
    ["thread_id", "run_id", "checkpoint_id", "checkpoint_ns", "cron_id", "graph_id", "assistant_id"]
)
"""The keys that a server adds to a configuration, which may have choices as well."""


class CitedSource(TypedDict):
    """A source that a report cites."""

    id: str
    title: str
    location: str


class ResearchOutput(TypedDict, total=False):
    """The output for clients of MCP and A2A; most of it is there only once the run is done."""

    status: RunStatus
    answer: str
    """The report's answer, or the reply to small talk; its citations are ids of sources."""
    report: str
    """The whole report as Markdown."""
    sources: list[CitedSource]
    messages: list[AnyMessage]
    """The conversation; once it is done, only the last message."""


def make_unreviewed_graph(
    graph: CompiledStateGraph[Any, Any, Any, Any], uploads: Mapping[str, Sequence[str]] = NO_UPLOADS
) -> UnreviewedGraph:
    """Return a graph whose plans are not reviewed.

    Args:
        graph: The graph.
        uploads: The stored documents behind each upload or folder of uploads that a client chose.
    """
    return UnreviewedGraph(**{**vars(graph), "uploads": uploads})


class UnreviewedGraph(GuardedGraph):
    """A graph that accepts its own plans, and whose output is short."""

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **more: Any
    ) -> AsyncIterator[Any]:
        """Run the graph to its end."""
        choices = _choose_for_programs(more.pop("context", None))
        async for part in super().astream(input, config, context=choices, **more):
            yield _shorten_part(part)

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the JSON schema of the output."""
        del config
        return TypeAdapter(ResearchOutput).json_schema()


def _to_output(values: Mapping[str, Any]) -> ResearchOutput:
    """Return the output for a state."""
    messages = list(values.get("messages", []))
    status = values.get("status", "running")
    if status not in DELIVERED or not messages or messages[-1].type != "ai":
        return ResearchOutput(status=status, messages=messages)
    report, sources, text = values["report"], values.get("sources", {}), str(messages[-1].text)
    cited = [sources[name] for name in report["cited"] if name in sources]
    return ResearchOutput(
        status=status,
        answer=extract_answer(report["body"]) if report["title"] else text,
        report=unlink_citations(text) if report["title"] else "",
        sources=[CitedSource(id=s["id"], title=s["title"], location=s["location"]) for s in cited],
        messages=messages[-1:],
    )


def _choose_for_programs(choices: Any) -> Any:
    """Return the choices of a run that a program starts.

    The plan is accepted, and nothing is learnt about the person unless `learn` is given, because
    the words are the program's. Studio's form, which people fill in, always sends `learn`.
    """
    if isinstance(choices, Context):
        return replace(choices, auto_accept=True)
    return {"learn": False, **(choices or {}), "auto_accept": True}


def _shorten_part(part: Any) -> Any:
    """Return a part of the stream, with the state of the outer graph reduced to the output."""
    if not isinstance(part, tuple) or part[-2] != "values" or "__interrupt__" in part[-1]:
        return part
    inner = len(part) > 2 and part[0]
    return part if inner else (*part[:-1], _to_output(part[-1]))


Graph = CompiledStateGraph[Any, Any, Any, Any]

NAMED = regex(r"[\w:|.-]{0,2000}")
"""The form of checkpoint ids and namespaces, and of the keys of a history filter."""

HISTORY = "name a checkpoint that is in the history of the thread"


class ServerCheckpointer(ThreadSaver):
    """The saver of a server: a client reaches only checkpoints of the thread that it names.

    Deleting a thread deletes everything else that belongs to it, too.
    """

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a client names, or the newest one of a thread.

        LangGraph would begin an empty thread if there is no such checkpoint.

        Raises:
            Problem: `bad_checkpoint`, `checkpoint_not_found` or `storage_corrupt`.
        """
        id, space = _checkpoint_address(config)
        found = await super().aget_tuple(config)
        if found is None and id and not space:
            what = "the thread has no such checkpoint"
            raise Problem(ErrorCode.CHECKPOINT_NOT_FOUND, what, where=id, hint=HISTORY)
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
            # Clients send the checkpoint without this wrapper.
            before = {"configurable": dict(before)}
        _checkpoint_address(config or {})
        wanted = {"limit": limit, **(filter or {})}
        named = all(name and NAMED.fullmatch(name) for name in wanted)
        # SQLite takes no larger numbers.
        small = not any(isinstance(one, int) and abs(one) >= 2**63 for one in wanted.values())
        if not (named and small) or (before is not None and not _checkpoint_address(before)[0]):
            _refuse_checkpoint(wanted if before is None else before)
        async for found in super().alist(config, filter=filter, before=before, limit=limit):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread with everything that belongs to it."""
        await delete_thread(thread_id)
        await super().adelete_thread(thread_id)


def _checkpoint_address(config: RunnableConfig) -> tuple[str, str]:
    """Return the id and the namespace of the requested checkpoint.

    Raises:
        Problem: `bad_checkpoint`.
    """
    place = config.get("configurable", {})
    id, space = (place.get(name) or "" for name in ("checkpoint_id", "checkpoint_ns"))
    for one in (id, space):
        if not isinstance(one, str) or not NAMED.fullmatch(one):
            _refuse_checkpoint(one)
    return id, space


def _refuse_checkpoint(named: Any) -> NoReturn:
    what = "this does not name a checkpoint"
    raise Problem(ErrorCode.BAD_CHECKPOINT, what, where=repr(named)[:100], hint=HISTORY)


@asynccontextmanager
async def open_server_checkpointer() -> AsyncIterator[ThreadSaver]:
    """Open the saver; the server calls this once, and closes it when the last run has ended.

    Whatever else the process has open is closed after it: a server that is stopping ends its runs
    when the lifespan of what it mounts is over.
    """
    try:
        async with open_checkpointer(ServerCheckpointer) as saver:
            yield saver
    finally:
        await close_resources()


def load_graph() -> None:
    """Load what the first run would have to load, and keep it out of garbage collection."""
    make_graph()
    spare_loaded_objects()


@asynccontextmanager
async def serve_dossier(
    config: RunnableConfig, runtime: ServerRuntime[Any]
) -> AsyncIterator[Graph]:
    """Serve the main graph, with a review of its plan.

    Raises:
        Problem: What `_hold_thread` raises.
    """
    async with _hold_thread(config, runtime) as uploads:
        yield make_guarded_graph(make_graph(), uploads)


@asynccontextmanager
async def serve_research(
    config: RunnableConfig, runtime: ServerRuntime[Any]
) -> AsyncIterator[Graph]:
    """Serve the main graph without a review, to clients that only wait for an answer (MCP, A2A).

    Raises:
        Problem: What `_hold_thread` raises.
    """
    async with _hold_thread(config, runtime) as uploads:
        yield make_unreviewed_graph(make_graph(), uploads)


@asynccontextmanager
async def _hold_thread(
    config: RunnableConfig, runtime: ServerRuntime[Any]
) -> AsyncIterator[Mapping[str, list[str]]]:
    """Lock a thread while a run works on it, and record how the run ended.

    Yields the stored documents behind each upload or folder of uploads that the client chose.

    Raises:
        Problem: `run_in_progress` if another process works on the thread, `thread_taken` if it is
            another user's, `token_wrong` if this user was removed, `cost_quota`, `storage_corrupt`
            if the run failed because of damaged checkpoints, or a problem with the choices.
    """
    if runtime.execution_runtime is None:
        yield {}
        return
    check_run_choices(runtime.execution_runtime.context, runtime.user)
    await _check_servers(runtime)
    uploads = await _find_uploads(runtime)
    thread = config["configurable"]["thread_id"]
    owner = _owner_of_run(runtime)
    await check_thread_owner(owner, thread)
    lock = await _wait_for_thread(thread)
    try:
        await _begin_run(owner, thread, runtime)
        yield uploads
    except BaseException as error:
        found = (
            await find_damage(make_graph(), thread) if isinstance(error, DAMAGE_ERRORS) else None
        )
        served = str(config["configurable"].get("run_id", ""))
        status, code = _status_after(found or error, served)
        await mark_interrupted(owner, thread, status, code=code)
        if found:
            raise strip_command_hint(found) from error
        await save_run_status(thread, status)
        raise
    finally:
        with suppress(Problem):
            await end_run_spans(thread)
        end_thread_sessions(thread)
        await close_thread_connections(thread)
        await asyncio.to_thread(lock.release)


async def _begin_run(owner: str, thread: str, runtime: ServerRuntime[Any]) -> None:
    """Make sure that a run may begin in a thread; record it if it resumes a stopped one.

    Raises:
        Problem: `token_wrong`, `cost_quota`, or what `check_thread_branches` raises.
    """
    async with open_checkpointer() as saver:
        await check_thread_branches(saver, make_graph(), thread)
    last = await find_newest_run(owner, thread)
    if settings().has_users and not (last and last.status == "running"):
        # Aegra starts the runs of crons without asking `app.auth`, and many runs may have been let
        # in before the first of them cost anything.
        user = name_server_user(runtime.user)
        await check_active(user)
        await check_cost_quota(user)
    if last and last.status in BROKEN_OFF:
        await save_run_status(thread, "running", of=BROKEN_OFF)


async def _wait_for_thread(thread: str) -> ThreadLock:
    """Lock a thread; if the server does not queue runs by thread, wait until others are done.

    Raises:
        Problem: `run_in_progress` if it is locked for too long, or what `acquire` raises.
    """
    if queues_by_thread():
        return await asyncio.to_thread(acquire, thread)
    ends = time.monotonic() + QUEUE_SECONDS
    while True:
        try:
            return await asyncio.to_thread(acquire, thread, 0)
        except Problem as problem:
            if problem.error is not ErrorCode.RUN_IN_PROGRESS or time.monotonic() > ends:
                raise
        await asyncio.sleep(QUEUE_INTERVAL)


@asynccontextmanager
async def serve_recall(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[Graph]:
    """Serve the memory researcher.

    Raises:
        Problem: A problem with the choices.
    """
    if runtime.execution_runtime is not None:
        check_run_choices(runtime.execution_runtime.context, runtime.user)
    try:
        yield make_guarded_graph(make_recall_graph(), await _find_uploads(runtime))
    finally:
        if runtime.execution_runtime is not None:
            with suppress(Problem):
                await end_run_spans(config["configurable"]["thread_id"])


def _owner_of_run(runtime: ServerRuntime[Any]) -> str:
    """Return the owner of a run, as its nodes will find it (`runs/call_site.py`)."""
    context = runtime.execution_runtime.context if runtime.execution_runtime else None
    return join_owner(name_server_user(runtime.user), (context or {}).get("project", ""))


async def _find_uploads(runtime: ServerRuntime[Any]) -> dict[str, list[str]]:
    """Return the stored documents behind each upload or folder of uploads that a client chose.

    Raises:
        Problem: `upload_not_found`, `upload_folder_not_found` or `upload_unready`.
    """
    context = runtime.execution_runtime.context if runtime.execution_runtime else None
    named = [one for one in (context or {}).get("files") or () if is_upload_id(one)]
    owner = _owner_of_run(runtime)
    return {one: await find_upload_roots(owner, [one]) for one in named}


async def _check_servers(runtime: ServerRuntime[Any]) -> None:
    """Make sure that the operator has configured the MCP servers that a client names.

    Raises:
        Problem: `mcp_unknown`, `config_syntax`, `mcp_config` or `mcp_env_denied`.
    """
    context = runtime.execution_runtime.context if runtime.execution_runtime else None
    if names := (context or {}).get("mcp"):
        check_server_names(names, await load_servers(_owner_of_run(runtime)))


def _status_after(error: BaseException, served: str) -> tuple[RunStatus, str]:
    """Return the status of a run after an error, and the code; empty if it was stopped.

    Args:
        error: What ended the run.
        served: The server's id of the run.
    """
    if isinstance(error, Problem):
        return "failed", error.code
    if is_cancelled_by_client(error, served):
        return "cancelled", ""
    return ("failed", "internal") if isinstance(error, Exception) else ("paused", "")


def _is_server_name(name: str) -> bool:
    """Say whether the server itself added this key to the choices of a run.

    Event streams and crons do so if no context is given.
    """
    return name in SERVER_NAMES or name.startswith(("__", "langgraph_"))


def check_run_choices(choices: dict[str, Any] | None, user: BaseUser | None = None) -> None:
    """Make sure that a caller's choices are valid; the server would silently drop invalid ones.

    Raises:
        Problem: `unknown_field`, `out_of_range`, `bad_choice`, `bad_locale`, `unknown_provider`,
            `model_without_price` or, where users log in, `choice_refused`.
    """
    given = (choices or {}).items()
    chosen = build_context({name: one for name, one in given if not _is_server_name(name)})
    if settings().has_users:
        check_caller_choices(chosen, name_server_user(user))
    check_provider_names(chosen.search)
    if chosen.max_cost is not None:
        check_model_prices(chosen)
