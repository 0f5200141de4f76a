"""Which server this process belongs to, and how the servers differ.

LangGraph's server (its development server and its images) and Aegra serve the same graphs.
"""

from __future__ import annotations

import os
import sys
from urllib.parse import urlsplit

MODULES = ("langgraph_api", "langgraph_runtime", "aegra_api")
"""The prefixes of the servers' modules."""


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


def is_stop(error: BaseException) -> bool:
    """Say whether an error is how the server stops a run, rather than a failure."""
    # LangGraph's server stops runs with an `Exception` of its own; other stops are not exceptions.
    stopped = getattr(sys.modules.get("langgraph_api.errors"), "UserInterrupt", ())
    return isinstance(error, stopped) or not isinstance(error, Exception)
