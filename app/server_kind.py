"""Which server this process belongs to, and how the servers differ.

LangGraph's server (its development server and its images) and Aegra serve the same graphs.
"""

from __future__ import annotations

import os
import signal
import sys
from urllib.parse import urlsplit

MODULES = ("langgraph_api", "langgraph_runtime", "aegra_api")
"""The prefixes of the servers' modules."""


REQUEST_GRACE = 5
"""How many seconds a server that is told to stop waits for the requests it is answering."""


def is_aegra() -> bool:
    """Say whether the server is Aegra."""
    return "aegra_api" in sys.modules


def is_development_server() -> bool:
    """Say whether the server is LangGraph's development server, which is for one person."""
    return os.environ.get("LANGSMITH_LANGGRAPH_API_VARIANT") == "local_dev"


def find_development_host() -> str:
    """Return the host that a development server listens on; empty for other servers."""
    return urlsplit(os.environ.get("LANGGRAPH_API_URL", "")).hostname or ""


def find_listening_host() -> str:
    """Return the host at which a server of this machine listens; nothing where none is told."""
    return os.environ.get("HOST", "") if is_aegra() else find_development_host()


def queues_by_thread() -> bool:
    """Say whether the server itself runs only one run at a time on a thread."""
    return not is_aegra()


def limit_shutdown() -> None:
    """Let a server that is told to stop cut off the requests that do not end soon.

    A request may wait for a run, and the runs are ended after the requests only. Streams are ended
    by the server at once.
    """
    # Whoever started the server has chosen how; its handler of signals knows it.
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    running = getattr(server, "config", None)
    if getattr(running, "timeout_graceful_shutdown", 0) is None:
        running.timeout_graceful_shutdown = REQUEST_GRACE


def is_cancelled_by_client(error: BaseException, run: str) -> bool:
    """Say whether an error ended a run of the server because a client wants it no more.

    A server that is stopping, or has lost a run to another worker, cancels the tasks of runs, too.
    These runs go on elsewhere or later.

    Args:
        error: What ended the run.
        run: The server's id of the run.
    """
    if isinstance(error, Exception):
        # LangGraph's server has an error of its own for this.
        errors = sys.modules.get("langgraph_api.errors")
        return isinstance(error, getattr(errors, "UserInterrupt", ()))
    # Aegra notes for which runs it was asked, before it cancels the task.
    aegra = sys.modules.get("aegra_api.core.active_runs")
    return run in getattr(aegra, "explicit_run_cancellations", ())
