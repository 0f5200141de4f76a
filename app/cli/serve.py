"""dossier serve: start the LangGraph development server in a folder of the home.

The server runs code from its current folder: it imports modules, and unpickles the files that an
earlier server has stored in `.langgraph_api`. That folder may be a stranger's.
"""

from __future__ import annotations

import os
import socket
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from app.cli.output import print_notice
from app.server_token import load_server_token
from config import environment
from config.errors import ErrorCode, Problem
from config.settings import settings
from memory.agents_md.project_trust import project_name
from storage.permissions import FOLDER, SERVER_FOLDER, check_writable, secure_home

SILENT = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "ORT_DISABLE_TELEMETRY": "1",
}
"""Turns the telemetry of the server, of Chroma and of onnxruntime off.

Whether runs go to LangSmith is up to the person.
"""


def serve(*, port: int, host: str, jobs: int) -> None:
    """Start the LangGraph development server with this agent.

    Raises:
        Problem: `server_missing`, `address_unusable`, or what is wrong with the home or its token.
    """
    check_writable()
    if find_spec("langgraph_cli") is None:
        hint = "pip install 'langgraph-cli[inmem]'"
        raise Problem(ErrorCode.SERVER_MISSING, "the LangGraph server is not installed", hint=hint)
    # Without -P Python would search the current folder for modules first.
    command = [sys.executable, "-P", "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    # It names the graphs to the server.
    command += ["--config", str(files("app") / "langgraph.json")]
    command += ["--host", host, "--port", str(port), "--n-jobs-per-worker", str(jobs)]
    check_address(host, port)
    load_server_token()
    started = Path.cwd()
    folder = _folder()
    print_notice(f"The server stores what it is sent in {folder}")
    os.chdir(folder)
    # The server stores what it is sent, unchanged.
    os.umask(0o077)
    os.execve(sys.executable, command, {**_environment(started), **SILENT})  # noqa: S606 - becoming it is the point


def check_address(host: str, port: int) -> None:
    """Make sure that the server can listen there; it would fail itself, or take another port.

    Raises:
        Problem: `address_unusable`.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except (OSError, UnicodeError) as error:
        what = f"the server cannot listen here: {getattr(error, 'strerror', '') or 'no such host'}"
        where = f"{host}:{port}"
        hint = "choose another --port, or a --host that is an address of this machine"
        raise Problem(ErrorCode.ADDRESS_UNUSABLE, what, where=where, hint=hint) from error


def _folder() -> Path:
    """Return the folder to start the server in: one for each current folder."""
    secure_home()
    folder = settings().home.absolute() / SERVER_FOLDER / project_name(os.getcwd())
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    return folder


def _environment(started: Path) -> dict[str, str]:
    """Return the environment, with relative paths resolved from the current folder."""
    given = {name: value for name, value in os.environ.items() if value}
    return {name: environment.resolve_env_value(name, one, started) for name, one in given.items()}
