#!/usr/bin/env python3
"""Run Dossier for a team on one machine, without Docker: databases, API processes and workers.

It starts what is not there (PostgreSQL, Redis), brings the databases to this version, starts the
processes, starts them again when they die, and stops all of them when it is stopped. What it runs
is in FOLDER/run.json; a shell that has read FOLDER/environment is one of the installation.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

PATIENCE = 300
"""How many seconds a process may take until it is ready."""

GRACE = 60
"""How many seconds a process may take to stop: a worker hands its runs over."""

DATABASE = "dossier"
"""The name of the database and of its user."""


class Program(NamedTuple):
    """A process that is kept running."""

    name: str
    command: Sequence[str]
    url: str = ""
    """Where it tells whether it is ready; nothing for what is ready when it has started."""


class Local:
    """The processes of one installation."""

    def __init__(self, folder: Path, *, restart: bool) -> None:
        """Keep logs and databases in a folder."""
        self.folder, self.restart = folder, restart
        self.programs: dict[str, Program] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.stopping = threading.Event()
        self.environment = {**os.environ, "DOSSIER_HOME": self._home()}

    def _home(self) -> str:
        return os.environ.get("DOSSIER_HOME") or str(self.folder / "home")

    def start_postgresql(self) -> None:
        """Start a PostgreSQL server of its own, which listens at a socket in the folder only."""
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
        path = os.pathsep.join([*map(str, reversed(found)), os.environ.get("PATH", "")])
        initdb, postgres = (shutil.which(name, path=path) for name in ("initdb", "postgres"))
        if not initdb or not postgres:
            sys.exit("There is no PostgreSQL: install it, or set DOSSIER_DATABASE_URL.")
        place = self.folder / "postgresql"
        as_user = _as_postgres(place)
        if not (place / "data").exists():
            made = [initdb, "-D", str(place / "data"), "-U", DATABASE, "-E", "UTF8"]
            made += ["--auth=trust", "--locale=C.UTF-8"]
            subprocess.run([*as_user, *made], check=True, stdout=subprocess.DEVNULL, cwd=place)
        settings = ["listen_addresses=", f"unix_socket_directories={place}", "max_connections=400"]
        options = [word for one in settings for word in ("-c", one)]
        self.start(Program("postgresql", [*as_user, postgres, "-D", str(place / "data"), *options]))
        psql = [str(Path(initdb).with_name("psql")), "-h", str(place), "-U", DATABASE]
        self._repeat([*psql, "-c", "SELECT 1", "postgres"], place / "log")
        listed = [*psql, "-tAc", "SELECT datname FROM pg_database", "postgres"]
        there = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
        if DATABASE not in there:
            subprocess.run([*psql, "-qc", f"CREATE DATABASE {DATABASE}", "postgres"], check=True)
        self.environment["DOSSIER_DATABASE_URL"] = (
            f"postgresql://{DATABASE}@/{DATABASE}?host={place}"
        )

    def start_redis(self) -> None:
        """Start a Redis server of its own, which listens at a socket in the folder only."""
        server = shutil.which("redis-server") or shutil.which("valkey-server")
        if not server:
            sys.exit("There is no Redis: install redis-server, or set REDIS_URL.")
        place = self.folder / "redis"
        place.mkdir(mode=0o700, exist_ok=True)
        socket = place / "redis.sock"
        socket.unlink(missing_ok=True)
        options = ["--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
        options += ["--dir", str(place), "--appendonly", "yes"]
        self.start(Program("redis", [server, *options]))
        self._await(socket.exists, "redis")
        self.environment["REDIS_URL"] = f"unix://{socket}?db=0"

    def migrate(self) -> None:
        """Bring the databases to this version."""
        command = [sys.executable, "-P", "-m", "app.aegra_server", "migrate"]
        with (self.folder / "migrate.log").open("ab") as log:
            done = subprocess.run(command, env=self.environment, stdout=log, stderr=log)
        if done.returncode:
            self.fail("migrate")

    def start(self, program: Program) -> None:
        """Start a program; what it says goes into its log."""
        self.programs[program.name] = program
        with (self.folder / f"{program.name}.log").open("ab") as log:
            self.running[program.name] = subprocess.Popen(
                program.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in a terminal goes to this program alone, which stops the others in order.
                start_new_session=True,
            )

    def serve(self, role: str, name: str, port: int, jobs: int) -> None:
        """Start a process of the server."""
        command = [sys.executable, "-P", "-m", "app.aegra_server", role]
        command += ["--port", str(port), "--jobs", str(jobs)]
        self.start(Program(name, command, f"http://127.0.0.1:{port}"))

    def wait_until_ready(self) -> None:
        """Wait until every process answers that it is ready."""
        for name, program in self.programs.items():
            if program.url:
                self._await(lambda url=program.url: _is_ready(url), name)

    def write_list(self) -> None:
        """Write down what runs."""
        listed = [
            {"name": name, "pid": process.pid, "url": self.programs[name].url}
            for name, process in self.running.items()
        ]
        names = ("DOSSIER_HOME", "DOSSIER_DATABASE_URL", "REDIS_URL")
        environment = {name: self.environment[name] for name in names}
        text = json.dumps({"processes": listed, "environment": environment}, indent=2)
        lines = [f"export {name}={shlex.quote(environment[name])}\n" for name in names]
        (self.folder / "environment").write_text("".join(lines))
        fresh = self.folder / "run.json.new"
        fresh.write_text(text + "\n")
        fresh.replace(self.folder / "run.json")

    def watch(self) -> None:
        """Start again what dies, until this program is told to stop."""
        while not self.stopping.wait(1):
            dead = [name for name, process in self.running.items() if process.poll() is not None]
            for name in dead:
                code = self.running.pop(name).returncode
                _say(f"{name} has ended ({code})")
                if self.restart:
                    self.start(self.programs[name])
            if dead:
                self.write_list()

    def stop(self) -> None:
        """Stop all processes: first who works, then who answers, at last the databases."""
        for begin in ("worker", "api", "redis", "postgresql"):
            asked = [process for name, process in self.running.items() if name.startswith(begin)]
            for process in asked:
                process.send_signal(signal.SIGINT if begin == "postgresql" else signal.SIGTERM)
            for process in asked:
                try:
                    process.wait(GRACE)
                except subprocess.TimeoutExpired:
                    process.kill()
        for name in ("environment", "run.json"):
            (self.folder / name).unlink(missing_ok=True)

    def fail(self, name: str) -> None:
        """Stop everything because of a process, and show the end of its log."""
        log = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        self.stop()
        sys.exit("\n".join([f"{name} does not start:", *log[-15:]]))

    def _repeat(self, command: Sequence[str], log: Path) -> None:
        del log
        self._await(
            lambda: not subprocess.run(command, capture_output=True).returncode, "postgresql"
        )

    def _await(self, ready: object, name: str) -> None:
        ends = time.monotonic() + PATIENCE
        while not ready():  # type: ignore[operator]
            if self.running[name].poll() is not None or time.monotonic() > ends:
                self.fail(name)
            time.sleep(0.2)


def _say(line: str) -> None:
    print(line, flush=True)


def _version(folder: Path) -> float:
    return float(folder.parent.name)


def _as_postgres(place: Path) -> list[str]:
    """Return how a command is run as a user who may run PostgreSQL, which root may not."""
    place.mkdir(mode=0o700, exist_ok=True)
    if os.getuid():
        return []
    user = pwd.getpwnam("postgres")
    os.chown(place, user.pw_uid, user.pw_gid)
    group = f"--regid={user.pw_gid}"
    return ["setpriv", f"--reuid={user.pw_uid}", group, "--init-groups"]


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ready", timeout=5):
            return True
    except OSError:
        return False


def main() -> None:
    """Run until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="for databases, home and logs")
    parser.add_argument("--apis", type=int, default=1, help="processes that answer clients")
    parser.add_argument("--workers", type=int, default=2, help="processes that work on runs")
    parser.add_argument("--jobs", type=int, default=10, help="runs that a worker does at once")
    parser.add_argument("--port", type=int, default=8123, help="of the first process, then upwards")
    parser.add_argument("--no-restart", action="store_true", help="leave dead what has died")
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(mode=0o755 if not os.getuid() else 0o700, parents=True, exist_ok=True)
    local = Local(folder, restart=not given.no_restart)

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        local.stopping.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if not os.environ.get("DOSSIER_DATABASE_URL"):
        _say(f"Starting PostgreSQL in {folder}")
        local.start_postgresql()
    if not os.environ.get("REDIS_URL"):
        local.start_redis()
    _say("Bringing the databases to this version")
    local.migrate()
    _say("Starting the processes, which takes some seconds")
    ports = iter(range(given.port, 65_536))
    for number in range(given.apis):
        local.serve("api", f"api-{number + 1}", next(ports), given.jobs)
    for number in range(given.workers):
        local.serve("worker", f"worker-{number + 1}", next(ports), given.jobs)
    local.wait_until_ready()
    local.write_list()
    _say(f"Ready: {', '.join(one.url for one in local.programs.values() if 'api' in one.name)}")
    local.watch()
    local.stop()


if __name__ == "__main__":
    main()
