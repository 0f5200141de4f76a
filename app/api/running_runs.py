"""Stop runs that the server is working on."""

from __future__ import annotations

import sys

from langgraph_sdk import get_client
from langgraph_sdk.errors import NotFoundError

from app.server_kind import is_aegra
from config.errors import ErrorCode, Problem
from runs.lifecycle import RunRecord

_SERVER = "langgraph_api.server"
"""The module of LangGraph's server; it is loaded if the server runs in this process."""


async def cancel_run(run: RunRecord) -> int:
    """Stop the server's runs on the thread of a run; return how many there were.

    The server is called within this process, without a login: the caller must have made sure that
    the run belongs to the person.

    Raises:
        Problem: `server_missing` if this process is not a server.
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
