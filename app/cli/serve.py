"""dossier serve: start the LangGraph development server."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from config.errors import Problem
from storage.private import check_writable

SILENT = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "ANONYMIZED_TELEMETRY": "False"}
"""What keeps the server from calling anybody; whether LangSmith is told is the person's to say."""


def main(*, host: str, port: int, jobs: int) -> int:
    """Become the server; it ends with Ctrl-C."""
    check_writable()
    config = Path(__file__).parents[2] / "langgraph.json"
    beside = Path(sys.executable).with_name("langgraph")
    program = str(beside) if beside.exists() else shutil.which("langgraph")
    if program is None or not config.exists():
        hint = "pip install 'langgraph-cli[inmem]', and run it from a checkout"
        raise Problem("server_missing", "the LangGraph server is not installed", hint=hint)
    command = [program, "dev", "--no-browser", "--no-reload", "--config", str(config)]
    command += ["--host", host, "--port", str(port), "--n-jobs-per-worker", str(jobs)]
    # The server keeps what it was sent, as it was sent, in a folder of its own.
    os.umask(0o077)
    os.execve(program, command, {**os.environ, **SILENT})  # noqa: S606 - becoming it is the point
