"""API processes and workers on this machine, with databases of their own, for as long as needed."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import psycopg
from langgraph_sdk import get_client
from sqlalchemy import make_url

RUN_LOCAL = Path(__file__).parents[1] / "deploy" / "run_local.py"

PATIENCE = 600
"""How many seconds all processes may take to be ready."""


class Process(NamedTuple):
    """A process of the installation."""

    name: str
    pid: int
    url: str


class LocalServers:
    """What `deploy/run_local.py` starts, with its data in a folder."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        *,
        apis: int = 1,
        workers: int = 1,
        jobs: int = 10,
        python: str = sys.executable,
    ) -> None:
        self.folder, self.python = folder, python
        named = ("DOSSIER_DATABASE_URL", "DATABASE_URL", "REDIS_URL", "DOSSIER_HOME")
        inherited = {name: value for name, value in os.environ.items() if name not in named}
        self.environment = {**inherited, **environment}
        self.counts = {"apis": apis, "workers": workers, "jobs": jobs}
        self.started: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start everything, and wait until it is ready.

        Raises:
            RuntimeError: With what was said when it does not become ready.
        """
        command = [self.python, str(RUN_LOCAL), "--folder", str(self.folder)]
        command += ["--port", str(_find_ports(self.counts["apis"] + self.counts["workers"]))]
        command += [
            word for name, count in self.counts.items() for word in (f"--{name}", str(count))
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "run_local.log"
        with log.open("wb") as out:
            self.started = subprocess.Popen(  # noqa: S603 - our own command
                command, env=self.environment, stdout=out, stderr=out
            )
        ends = time.monotonic() + PATIENCE
        while not self._list.exists():
            if self.started.poll() is not None or time.monotonic() > ends:
                self.__exit__()
                raise RuntimeError(log.read_text())
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        if self.started and self.started.poll() is None:
            self.started.terminate()
            self.started.wait()

    @property
    def _list(self) -> Path:
        return self.folder / "run.json"

    def _said(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self._list.read_text())
        return said

    def processes(self, kind: str) -> list[Process]:
        """Return the processes of a kind (`api`, `worker`) that run now."""
        every = [Process(**one) for one in self._said()["processes"]]
        return [one for one in every if one.name.startswith(kind)]

    @property
    def home(self) -> Path:
        """Return the data folder of all processes."""
        return Path(self._said()["environment"]["DOSSIER_HOME"])

    def client(self, number: int = 0, **headers: str) -> Any:
        """Return a client of one of the API processes."""
        token = (self.home / "server-token").read_text().strip()
        url = self.processes("api")[number].url
        return get_client(url=url, api_key=token, headers=headers)

    def query(self, statement: str, *values: Any, server: bool = False) -> list[Any]:
        """Return rows of Dossier's database, or of the server's."""
        url = make_url(self._said()["environment"]["DOSSIER_DATABASE_URL"])
        if server:
            url = url.set(database=f"{url.database}_server")
        with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def worker_of(self, run: str) -> int:
        """Return the id of the process that works on a run of the server; 0 for none."""
        rows = self.query("SELECT claimed_by FROM runs WHERE run_id = %s", run, server=True)
        claimed = rows[0][0] if rows else None
        return int(claimed.split("-")[-3]) if claimed else 0

    @staticmethod
    def kill(pid: int) -> None:
        """Kill a process, which is told nothing."""
        os.kill(pid, signal.SIGKILL)

    @staticmethod
    def stop(pid: int) -> None:
        """Tell a process to stop, as an operator does."""
        os.kill(pid, signal.SIGTERM)


def _find_ports(count: int) -> int:
    """Return the first of so many free ports; the system gives them to nobody meanwhile."""
    while True:
        first = random.SystemRandom().randint(20_000, 31_000)
        with suppress(OSError), ExitStack() as held:
            for port in range(first, first + count):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first


def read_memory(pid: int) -> float:
    """Return how many megabytes of memory a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = dict(line.split(":", 1) for line in lines)
    return int(sizes["VmRSS"].split()[0]) / 1_024
