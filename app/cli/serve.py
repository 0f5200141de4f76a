"""dossier serve: start the LangGraph development server."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from config.errors import Problem
from storage.private import check_writable

SERVER = Path(__file__).parents[1] / "dev.py"
"""What starts the server."""

SILENT = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "ANONYMIZED_TELEMETRY": "False"}
"""What keeps the server from calling anybody; whether LangSmith is told is the person's to say."""


def main(*, host: str, port: int, jobs: int) -> int:
    """Become the server; it ends with Ctrl-C."""
    check_writable()
    config = Path(__file__).parents[2] / "langgraph.json"
    if find_spec("langgraph_cli") is None or not config.exists():
        hint = "pip install 'langgraph-cli[inmem]', and run it from a checkout"
        raise Problem("server_missing", "the LangGraph server is not installed", hint=hint)
    # Without -P the folder of the file would be searched for modules first.
    command = [
        sys.executable,
        "-P",
        str(SERVER),
        "dev",
        "--no-browser",
        "--no-reload",
        "--config",
        str(config),
    ]
    command += ["--host", host, "--port", str(port), "--n-jobs-per-worker", str(jobs)]
    # The server keeps what it was sent, as it was sent, in a folder of its own.
    os.umask(0o077)
    os.execve(sys.executable, command, {**os.environ, **SILENT})  # noqa: S606 - becoming it is the point
