"""What the tests of the server share: one on a free port, and how a client talks to it."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.server_token import NAME

ROOT = Path(__file__).parents[2]
QUESTION = "How do the two papers disagree about forgetting?"
ANSWERED = ("succeeded", "partial")
"""How a run stands that has an answer, sure or not."""

APPROVE = {"resume": {"decisions": [{"type": "approve"}]}}


class Server(NamedTuple):
    """Where the server is, and with which environment it was started."""

    url: str
    environment: dict[str, str]
    pid: int

    @property
    def home(self) -> Path:
        """Its data folder."""
        return Path(self.environment["DOSSIER_HOME"])

    @property
    def token(self) -> str:
        """What scripts send with every request."""
        return (self.home / NAME).read_text(encoding="ascii").strip()


@contextmanager
def serving(home: Path, folder: Path | None = None, **more: str) -> Iterator[Server]:
    """Start a server of its own on a free port; in a new home it has read the example folder.

    Args:
        home: The data folder.
        folder: Where the server is started; in the data folder if none is given.
        more: Its environment besides that of the tests.
    """
    port = free_port()
    dossier = str(Path(sys.executable).with_name("dossier"))
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment = {**plain, "DOSSIER_HOME": str(home), "DOSSIER_MODEL": "extractive:"}
    # No test shall ask the providers of the open web.
    environment |= {"DOSSIER_KEYLESS_SEARCH": "false", **more}
    if not (home / "dossier.db").exists():
        shutil.copytree(_read_home(), home, dirs_exist_ok=True)
    log = (home / "server.log").open("a")
    serve = [dossier, "serve", "--port", str(port)]
    process = subprocess.Popen(serve, env=environment, cwd=folder or home, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, home / "server.log")
        yield Server(url, environment, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


@cache
def _read_home() -> Path:
    """Return a data folder in which the example folder was read: to read it takes a second."""
    home = Path(tempfile.mkdtemp(prefix="dossier-read-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    read = [str(Path(sys.executable).with_name("dossier")), "ingest", str(ROOT / "examples/docs")]
    environment = {**os.environ, "DOSSIER_HOME": str(home), "DOSSIER_MODEL": "extractive:"}
    subprocess.run(read, env=environment, check=True, capture_output=True, cwd=home)
    return home


def free_port() -> int:
    """Return a port that the system gives to nobody meanwhile: it takes its own from 32768 on."""
    while True:
        port = random.SystemRandom().randint(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(900):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/ok", timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(log.read_text())


def context(**more: Any) -> dict[str, Any]:
    """Return the choices of a run over the example folder."""
    # All tests of a server ask the same.
    new = {"again": "new"}
    return {"files": [str(ROOT / "examples" / "docs")], "max_steps": 2, **new, **more}


def asked(question: str = QUESTION) -> dict[str, Any]:
    """Return what a client sends to ask."""
    return {"messages": [{"role": "user", "content": question}]}


async def reviewed(client: Any) -> tuple[str, Any]:
    """Ask in a new thread, and stop at the plan."""
    thread = (await client.threads.create())["thread_id"]
    result = await client.runs.wait(thread, "dossier", input=asked(), context=context())
    return thread, result


async def dossier(server: Server, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command where the server's data is."""
    command = [str(Path(sys.executable).with_name("dossier")), *words]
    return await asyncio.to_thread(
        subprocess.run,
        command,
        env=server.environment,
        capture_output=True,
        cwd=server.home,
        check=False,
    )


async def listed(server: Server, thread: str) -> dict[str, str]:
    """Return how the runs of a thread stand, as the command line lists them, newest first."""
    told = await dossier(server, "runs", "--json")
    runs = json.loads(told.stdout)
    return {run["run"]: run["status"] for run in runs if run["thread"] == thread}
