"""Stop what the server works on for a run."""

from __future__ import annotations

import sys

from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError

from app.server_kind import is_aegra
from config.errors import ErrorCode, Problem
from runs.lifecycle import RunRecord

_SERVER = "langgraph_api.server"
"""The module of LangGraph's server, which is loaded where it runs in this process."""


async def cancel_run(run: RunRecord) -> int:
    """Stop the runs of the server that work on the thread of a run; return how many there were.

    The server is asked within this process and without a login, so the caller has made sure that
    the run is the person's own.

    Raises:
        Problem: `server_missing` where this process is no server.
    """
    if is_aegra():
        from app.aegra_runs import stop_aegra_runs  # noqa: PLC0415 - there only where Aegra is

        return await stop_aegra_runs(run.thread)
    if _SERVER not in sys.modules:
        what, hint = "this process does not run it", "stop it where it runs"
        raise Problem(ErrorCode.SERVER_MISSING, what, where=run.id, hint=hint)
    client, count = get_client(), 0
    for status in ("pending", "running"):
        try:
            working = await client.runs.list(run.thread, status=status)
        except NotFoundError:
            # A run of the command line: the server does not know its thread.
            return 0
        for one in working:
            await client.runs.cancel(run.thread, one["run_id"], wait=False)
            count += 1
    return count
