"""Kill workers of one PostgreSQL in the middle of runs, and see the others take these over.

    .ci/postgres python -m evals.takeover --kills 40 --workers 3

Each worker is a process with a home of its own. They share a database and a folder for files. A
worker that was killed is replaced by a new one. `--apart` hides from the workers that they are on
one machine, so that the lease of one that was killed has to end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, cast
from uuid import uuid4

from sqlalchemy import Connection, create_engine, make_url, text

from config.errors import ErrorCode, Problem
from evals.crash import MODEL, make_world
from evals.openai_server import Call, Server, digest_request
from graph.context import build_context
from graph.session import ThreadSession, open_session, pending_nodes
from graph.state import State
from runs.incomplete import find_resume_node
from runs.lock import acquire
from storage import leases

SERVER = "DOSSIER_TEST_POSTGRES"
"""The variable with the address of a PostgreSQL server; a schema is made there, and dropped."""

CHOICES = {"auto_accept": True, "learn": False, "web": "on", "max_rounds": 0, "max_reflections": 0}
"""What a run chooses: nobody reviews it, and no step is done twice."""

PAUSE = 0.05
"""The seconds that a worker waits when every thread is at work or done."""

LONGEST = 600.0
"""The seconds after which runs that have not ended never will."""


def question_of(thread: str) -> str:
    """Return the question of a thread, which no other thread asks."""
    return f"How do bees live in the hive named {thread}?"


async def work_on(threads: Sequence[str], *, seed: int = 0) -> None:
    """Work on threads until all of their runs have ended, whoever began them."""
    left = list(threads)
    random.Random(seed).shuffle(left)
    while left:
        done = [thread for thread in left if await _work_once(thread)]
        left = [thread for thread in left if thread not in done]
        if not done:
            await asyncio.sleep(PAUSE)


async def _work_once(thread: str) -> bool:
    """Begin or resume the run of a thread unless another process has it; is it over?"""
    try:
        lock = await asyncio.to_thread(acquire, thread, 0.0)
    except Problem as problem:
        if problem.error != ErrorCode.RUN_IN_PROGRESS:
            raise
        return False
    try:
        async with open_session(thread) as session:
            return await _go_on(session, thread)
    except Problem as problem:
        print(f"{thread}: {problem}", file=sys.stderr)
        if problem.error != ErrorCode.RUN_TAKEN_OVER:
            raise
        return False
    finally:
        await asyncio.to_thread(lock.release)


async def _go_on(session: ThreadSession, thread: str) -> bool:
    snapshot = await session.current()
    choices = build_context({**CHOICES})
    if not snapshot.values.get("run"):
        await session.begin(question_of(thread), choices, lambda _: None)
    elif pending_nodes(snapshot) or find_resume_node(cast("State", snapshot.values)):
        await session.resume(choices, lambda _: None)
    return True


class Outcome(NamedTuple):
    """What became of the runs whose workers were killed."""

    kills: int
    runs: int
    ended: int
    """How many of the runs have a report."""
    recorded: int
    """How many calls were made again though the ledger held their results."""
    in_flight: int
    """How many calls were made again that had been sent and not recorded."""
    overlaps: int
    """How many runs two processes worked on at the same time."""
    failures: int
    """How many workers ended with an error."""
    waits: tuple[float, ...]
    """The seconds from each kill until another worker held the thread."""


@contextmanager
def make_schema(server: str) -> Iterator[str]:
    """Make an empty schema on a server for as long as a `with` block lasts; its address."""
    name = f"takeover_{uuid4().hex}"
    url = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    path = {"options": f"-csearch_path={name}"}
    yield make_url(server).update_query_dict(path).render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


class Workers:
    """Processes that work on the same threads, each with a home of its own."""

    def __init__(
        self,
        folder: Path,
        database: str,
        world: Server,
        words: Sequence[str],
        lease: float = 10.0,
    ) -> None:
        self.folder, self.words, self.count = folder, words, 0
        self.running: list[subprocess.Popen[bytes]] = []
        self.failures = 0
        self.environment = {
            **os.environ,
            "DOSSIER_DATABASE_URL": database,
            "DOSSIER_FILES_URL": f"file://{folder}/files",
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            "DOSSIER_KEYLESS_SEARCH": "false",
            "DOSSIER_EMBEDDINGS": "none",
            "DOSSIER_MODEL": "openai:gpt-4o",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": world.url,
            "SEARXNG_URL": world.url.removesuffix("/v1"),
            "DOSSIER_LEASE_SECONDS": str(lease),
            # A machine that is busy is no reason to give up.
            "DOSSIER_CONNECT_SECONDS": "60",
        }

    def start(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        self.count += 1
        home = self.folder / f"home{self.count}"
        words = [*self.words, "--seed", str(self.count)]
        command = [sys.executable, "-m", "evals.takeover", "--work", *words]
        with (self.folder / f"worker{self.count}.log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                env={**self.environment, "DOSSIER_HOME": str(home)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker."""
        process.kill()
        process.wait()
        self.running.remove(process)

    def wait(self) -> None:
        """Wait until all have done their work."""
        for process in self.running:
            if process.wait(LONGEST):
                self.failures += 1

    def stop(self) -> None:
        """End what is left of them."""
        for process in self.running:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


def kill_random_workers(
    server: str,
    folder: Path,
    kills: int,
    *,
    workers: int = 3,
    runs: int = 0,
    seed: int = 1,
    apart: bool = False,
    **small: Any,
) -> Outcome:
    """Kill workers in the middle of runs, and let the others bring all runs to their end.

    Args:
        server: The address of a PostgreSQL server.
        folder: Where the workers have their homes and files.
        kills: How many workers are killed.
        workers: How many work at the same time.
        runs: How many questions are asked; by default enough for the kills.
        seed: What the moments depend on.
        apart: Whether the workers shall not see that they are on one machine.
        small: What makes the world of the runs smaller (`make_world`).
    """
    threads = [f"t{number}" for number in range(runs or kills // 2 + workers)]
    chance, waits = random.Random(seed), list[float]()
    with make_schema(server) as database, make_world(**{"seconds": 0.05} | small) as world:
        words = [*threads, "--apart"] if apart else threads
        pool = Workers(folder, database, world, words)
        engine = create_engine(make_url(database).set(drivername="postgresql+psycopg"))
        try:
            for _ in range(workers):
                pool.start()
            while len(waits) < kills:
                waits.append(_kill_one(pool, engine, chance))
            pool.wait()
        finally:
            pool.stop()
        with engine.connect() as connection:
            ended = connection.execute(text(_ENDED)).scalar_one()
            overlaps = len({run for run, *_ in connection.execute(text(_OVERLAPS))})
            again = judge_calls(connection, world.log)
        engine.dispose()
    return Outcome(kills, len(threads), ended, *again, overlaps, pool.failures, waits=tuple(waits))


def _kill_one(pool: Workers, engine: Any, chance: random.Random) -> float:
    """Kill a worker in the middle of a run; return the seconds until another one has its thread."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.2, 1.5))
        process = chance.choice(pool.running)
        with engine.connect() as connection:
            thread, holder = find_holder(connection, process.pid)
        if not thread:
            continue
        pool.kill(process)
        killed = time.monotonic()
        pool.start()
        while time.monotonic() < until:
            with engine.connect() as connection:
                if find_other_holder(connection, thread, holder):
                    return time.monotonic() - killed
            time.sleep(0.02)
    msg = "no worker works on a run"
    raise TimeoutError(msg)


def find_holder(connection: Connection, pid: int) -> tuple[str, str]:
    """Return a thread that a process holds now, and the name of its lease; empty for none."""
    if not connection.execute(text("SELECT to_regclass('leases')")).scalar():
        return "", ""
    living = "SELECT * FROM leases WHERE expires > extract(epoch FROM clock_timestamp())"
    rows = [row for row in connection.execute(text(living)) if row.process.split()[2] == str(pid)]
    return (rows[0].name, rows[0].holder) if rows else ("", "")


def find_other_holder(connection: Connection, thread: str, holder: str) -> str:
    """Return who has a thread, or had it last, if that is not a given holder."""
    rows = connection.execute(
        text("SELECT holder FROM leases WHERE name = :name"), {"name": thread}
    )
    found = rows.scalar()
    return found if found is not None and found != holder else ""


class RepeatedCalls(NamedTuple):
    """How many model calls were made again."""

    recorded: int
    """Those whose results the ledger held."""
    in_flight: int
    """Those that had been sent and not recorded."""


def judge_calls(connection: Connection, log: Iterable[Call]) -> RepeatedCalls:
    """Compare what a model was asked with what the ledger of a database holds, and since when."""
    recorded: dict[str, list[float]] = defaultdict(list)
    for result, ended in connection.execute(text("SELECT result, ended FROM calls")):
        for name in set(re.findall(MODEL + "[0-9a-f]{24}", result)):
            recorded[name].append(ended)
    sent: dict[str, list[float]] = defaultdict(list)
    # The ledger has seconds since 1970.
    ahead = time.time() - time.monotonic()
    for call in log:
        if "messages" in call.body:
            sent[MODEL + digest_request(call.body)[:12].hex()].append(ahead + call.at)
    late = in_flight = 0
    for name, times in sent.items():
        ends = recorded[name]
        extra = max(0, len(times) - max(1, len(ends)))
        after = sum(at > max(ends) for at in times) if ends else 0
        late += min(extra, after)
        in_flight += extra - min(extra, after)
    return RepeatedCalls(late, in_flight)


_ENDED = "SELECT count(*) FROM runs WHERE status IN ('succeeded', 'partial')"

_OVERLAPS = """
WITH sessions AS (
    SELECT run, session, min(started) AS first, max(started) AS last FROM attempts
    GROUP BY run, session
)
SELECT a.run FROM sessions AS a JOIN sessions AS b ON a.run = b.run AND a.session < b.session
WHERE a.first < b.last AND b.first < a.last
"""
"""The runs for which two sessions have sent calls in turn."""


def _hide_machine() -> None:
    """Have this process look as one of another machine, whose end nobody here can see."""
    mark = f"{uuid4().hex} elsewhere {os.getpid()} 0"
    leases._process_mark = lambda: mark


def main() -> None:
    """Kill workers and print what became of their runs; or be one of the workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4, help="of each plan")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--postgres", default=os.environ.get(SERVER, ""))
    parser.add_argument("--work", nargs="+", metavar="THREAD", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.apart and options.work:
        _hide_machine()
    if options.work:
        asyncio.run(work_on(options.work, seed=options.seed))
        return
    if not options.postgres:
        parser.error(f"name a PostgreSQL server with --postgres or {SERVER}")
    with tempfile.TemporaryDirectory() as name:
        outcome = kill_random_workers(
            options.postgres,
            Path(name),
            options.kills,
            workers=options.workers,
            runs=options.runs,
            seed=options.seed,
            apart=options.apart,
            steps=options.steps,
        )
    waits = sorted(outcome.waits)
    print(f"workers killed in the middle of a run    {outcome.kills}")
    print(f"runs that came to their end              {outcome.ended} of {outcome.runs}")
    print(f"recorded calls made again                {outcome.recorded}")
    print(f"calls in flight made again               {outcome.in_flight}")
    print(f"runs that two processes worked on        {outcome.overlaps}")
    print(f"workers that ended with an error         {outcome.failures}")
    print(f"seconds until taken over, median         {waits[len(waits) // 2]:.1f}")
    print(f"seconds until taken over, longest        {waits[-1]:.1f}")


if __name__ == "__main__":
    main()
