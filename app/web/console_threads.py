"""The status of conversations on the server, and starting runs on them from the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError
from langgraph_sdk.schema import Command, RunStatus
from starlette.requests import Request

from app.web.live_runs import STREAM_MODES, follow_run
from app.web.server_client import open_server_client
from config.errors import ErrorCode, Problem

GRAPH = "dossier"
WORKING: tuple[RunStatus, ...] = ("pending", "running")


class ThreadStanding(NamedTuple):
    """The status of a conversation."""

    status: str
    """`idle`, `busy`, `interrupted` or `error`; empty for one that the server does not know."""
    run: str
    """The server's run that works on it; empty for none."""
    request: Mapping[str, Any] | None
    """What it asks the person (LangChain's human-in-the-loop request)."""
    messages: list[Mapping[str, Any]]


UNKNOWN_THREAD = ThreadStanding("", "", None, [])


async def read_standing(request: Request, thread: str) -> ThreadStanding:
    """Return the status of a conversation."""
    if not is_server_thread(thread):
        return UNKNOWN_THREAD
    async with open_server_client(request) as client:
        try:
            found = await client.threads.get(thread)
        except NotFoundError:
            return UNKNOWN_THREAD
        run = await _find_working_run(client, thread)
        if run:
            return ThreadStanding("busy", run, None, [])
        state = await client.threads.get_state(thread)
    asked = [one["value"] for task in state["tasks"] for one in task["interrupts"]]
    shown = asked[0] if asked and isinstance(asked[0], dict) else None
    values = state["values"] if isinstance(state["values"], dict) else {}
    status = "interrupted" if shown else str(found["status"])
    return ThreadStanding(status, "", shown, list(values.get("messages") or []))


async def _find_working_run(client: LangGraphClient, thread: str) -> str:
    for status in WORKING:
        for one in await client.runs.list(thread, status=status, limit=1):
            return str(one["run_id"])
    return ""


def is_server_thread(thread: str) -> bool:
    """Say whether a thread may be the server's, whose thread ids are UUIDs."""
    try:
        return str(UUID(thread)) == thread.lower()
    except ValueError:
        return False


async def begin_thread(request: Request) -> str:
    """Return a new thread."""
    async with open_server_client(request) as client:
        return str((await client.threads.create())["thread_id"])


async def begin_run(
    request: Request,
    thread: str,
    choices: Mapping[str, Any],
    *,
    content: str | list[dict[str, Any]] | None = None,
    answer: Any = None,
) -> None:
    """Begin a run on a thread, and follow it.

    Args:
        request: In whose name.
        thread: The thread.
        choices: The choices of the run.
        content: The question; without one the run goes on where it stopped.
        answer: What the person answers to what the run asks.

    Raises:
        Problem: `run_in_progress` where a run works on the thread already.
    """
    said: dict[str, Any] = {"messages": [{"role": "user", "content": content}]}
    command = None if answer is None else Command(resume=answer)
    async with open_server_client(request) as client:
        if await _find_working_run(client, thread):
            what = "a run works on this conversation already"
            raise Problem(ErrorCode.RUN_IN_PROGRESS, what, hint="wait for it, or stop it")
        run = await client.runs.create(
            thread,
            GRAPH,
            input=None if content is None else said,
            command=command,
            context=dict(choices),
            stream_mode=STREAM_MODES,
            stream_resumable=True,
            multitask_strategy="reject",
        )
    follow_run(request, thread, str(run["run_id"]), _read_question(content))


def _read_question(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return str(content[0].get("text", ""))
    return content or ""


async def stop_thread_runs(request: Request, thread: str) -> None:
    """Stop the work on a thread; it can be resumed."""
    async with open_server_client(request) as client:
        for status in WORKING:
            for one in await client.runs.list(thread, status=status):
                await client.runs.cancel(thread, one["run_id"], wait=False)
