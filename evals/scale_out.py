"""Measure several API processes and workers on one database: speed, memory, kills, two at once.

Every run researches a plan of some steps on servers on loopback, so a worker waits most of the time
as it does for real models. All processes share the cores of this machine with the databases and
with what plays the model and the web: more workers give more until the cores are full.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple
from uuid import uuid4

from evals.crash import MODEL, make_world, name_recorded_calls
from evals.local_servers import LocalServers, read_memory
from evals.world import World

QUESTION = "How do bees live?"
ASKED = {"messages": [{"role": "user", "content": QUESTION}]}
APPROVE = {"resume": {"decisions": [{"type": "approve"}]}}
PARTS = ("team", "many", "throughput", "kills")
DONE = ("success", "error", "interrupted", "timeout")

FAST = {"LEASE_DURATION_SECONDS": "6", "HEARTBEAT_INTERVAL_SECONDS": "2"}
FAST |= {"REAPER_INTERVAL_SECONDS": "1", "STUCK_PENDING_THRESHOLD_SECONDS": "5"}
FAST |= {"BG_JOB_MAX_RETRIES": "10", "WORKER_DRAIN_TIMEOUT": "1"}
"""How soon a dead worker is noticed, and one that stops gives its runs up, where many do so."""


def choices(**more: Any) -> dict[str, Any]:
    """Return the choices of a run whose memory is its own: a project has one user."""
    return {"project": f"p{uuid4().hex[:12]}", "again": "new", "learn": False, **more}


def environment(url: str, **more: str) -> dict[str, str]:
    """Return the environment in which a world on loopback is the model and the web."""
    return {
        "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
        "DOSSIER_FETCH_HOURS": "0",
        "DOSSIER_KEYLESS_SEARCH": "false",
        "DOSSIER_MODEL": "openai:gpt-4o",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "SEARXNG_URL": url,
        "LANGSMITH_TRACING": "false",
        **more,
    }


@contextmanager
def serving(options: argparse.Namespace, *, apis: int, workers: int) -> Iterator[LocalServers]:
    """Serve over a world in a process of its own."""
    with (
        shared_folder() as folder,
        World(options.steps, model_seconds=options.latency, web_seconds=0.1) as world,
        LocalServers(
            folder, environment(world.url), apis=apis, workers=workers, jobs=options.jobs
        ) as servers,
    ):
        yield servers


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a folder that the user of PostgreSQL can enter, too."""
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def begin(client: Any, graph: str = "research", **more: Any) -> tuple[str, str]:
    """Start a run in a new thread; return the ids of both."""
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread, graph, input=ASKED, context=choices(**more))
    return thread, run["run_id"]


async def end(client: Any, thread: str, run: str) -> dict[str, Any]:
    """Wait for the end of a run; return it."""
    while True:
        found: dict[str, Any] = await client.runs.get(thread, run)
        if found["status"] in DONE:
            return found
        await asyncio.sleep(0.25)


async def run_many(servers: LocalServers, count: int) -> tuple[float, list[str]]:
    """Put so many questions at once; return the seconds and what went wrong."""
    async with servers.client(0) as first, servers.client(-1) as other:
        clients = (first, other)
        started = time.monotonic()
        begun = await asyncio.gather(*(begin(clients[n % 2]) for n in range(count)))
        ended = await asyncio.gather(*(end(clients[n % 2], *one) for n, one in enumerate(begun)))
        seconds = time.monotonic() - started
    wrong = [str(one.get("error_message")) for one in ended if one["status"] != "success"]
    unsaid = [one for one in ended if (one["output"] or {}).get("status") != "succeeded"]
    return seconds, wrong + [str(one["output"])[:200] for one in unsaid]


async def measure_first_event(servers: LocalServers, times: int) -> list[float]:
    """Return the seconds from a question to the first event of its progress."""
    taken: list[float] = []
    async with servers.client() as client:
        for _ in range(times):
            thread = (await client.threads.create())["thread_id"]
            started, first = time.monotonic(), 0.0
            asked = {"input": ASKED, "context": choices(), "stream_mode": ["custom"]}
            async for part in client.runs.stream(thread, "research", **asked):
                first = first or (time.monotonic() - started if part.event == "custom" else 0.0)
            taken.append(first)
    return taken


async def measure_reads(servers: LocalServers, threads: Sequence[str], times: int) -> list[float]:
    """Return the seconds of reads that clients make of threads."""
    taken: list[float] = []

    async def read(client: Any, reader: int) -> None:
        chance = random.Random(reader)
        for _ in range(times // 4):
            started = time.monotonic()
            await _read(client, chance.choice(threads), chance.randrange(4))
            taken.append(time.monotonic() - started)

    async with servers.client(0) as first, servers.client(-1) as other:
        await asyncio.gather(*(read((first, other)[reader % 2], reader) for reader in range(4)))
    return taken


async def _read(client: Any, thread: str, way: int) -> None:
    """Read a thread in one of four ways."""
    if way == 0:
        await client.threads.get(thread)
    elif way == 1:
        await client.threads.get_state(thread)
    elif way == 2:
        await client.runs.list(thread)
    else:
        await client.threads.search(limit=10)


async def move_between_processes(servers: LocalServers) -> bool:
    """Ask through one API process, approve through another, and ask on through the first."""
    same = choices()
    async with servers.client(0) as first, servers.client(1) as other:
        thread = (await first.threads.create())["thread_id"]
        await first.runs.wait(thread, "dossier", input=ASKED, context=same)
        waits = (await other.threads.get_state(thread))["interrupts"]
        answer = await other.runs.wait(thread, "dossier", command=APPROVE, context=same)
        again = await first.runs.wait(thread, "research", input=ASKED, context=same)
    return bool(waits) and [answer["status"], again["status"]] == ["succeeded"] * 2


async def ask_twice_at_once(servers: LocalServers, times: int) -> tuple[int, int]:
    """Put two questions to each of some threads at once.

    Returns:
        How many of these runs failed, and in how many threads two worked at the same time.
    """

    async def ask(first: Any, other: Any) -> tuple[str, list[dict[str, Any]]]:
        thread, same = (await first.threads.create())["thread_id"], choices()
        asked = [{"messages": [{"role": "user", "content": f"{QUESTION} {n}"}]} for n in (1, 2)]
        runs = await asyncio.gather(
            *(
                client.runs.create(thread, "research", input=one, context=same)
                for client, one in zip((first, other), asked, strict=True)
            )
        )
        return thread, [await end(first, thread, run["run_id"]) for run in runs]

    async with servers.client(0) as first, servers.client(-1) as other:
        every = await asyncio.gather(*(ask(first, other) for _ in range(times)))
    failed = sum(run["status"] != "success" for _, runs in every for run in runs)
    return failed, sum(_overlap(servers, thread) for thread, _ in every)


def _overlap(servers: LocalServers, thread: str) -> bool:
    """Tell whether two runs of a thread called models at the same time."""
    spans = servers.query(
        "SELECT min(calls.started), max(calls.ended) FROM calls JOIN runs ON runs.id = calls.run"
        " WHERE runs.thread = %s GROUP BY runs.id ORDER BY 1",
        thread,
    )
    return len(spans) != 2 or spans[0][1] > spans[1][0]


async def kill_workers(options: argparse.Namespace, times: int) -> None:
    """End a worker in the middle of each of some runs, and print what became of them."""
    chance, kills = random.Random(1), list[Kill]()
    with shared_folder() as folder, make_world(options.latency, options.steps) as world:
        there = environment(world.site, **FAST)
        with LocalServers(folder, there, apis=1, workers=2, jobs=4) as servers:
            async with servers.client() as client:
                started = time.monotonic()
                await end(client, *await begin(client))
                usual = time.monotonic() - started
                for _ in range(times):
                    moment = chance.uniform(0.1, usual)
                    way = servers.stop if options.signal == "TERM" else servers.kill
                    kills.append(await end_worker(servers, client, world, moment, way))
                    print(f"{options.signal} after {moment:.1f} s: {kills[-1]}", flush=True)
    ended, held = sum(one.ended for one in kills), sum(one.recorded for one in kills)
    moved = [one.moved for one in kills if one.moved]
    print(f"workers ended in the middle of a run      {times}")
    print(f"runs that came to their end               {ended}")
    print(f"of these in another worker                {len(moved)}")
    print(f"recorded calls made again                 {held}")
    print(f"model calls in flight made again          {sum(one.in_flight for one in kills)}")
    print(f"seconds until another worker has the run  {_spread(moved) if moved else '-'}")
    print(f"seconds from the signal to the end        {_spread([one.seconds for one in kills])}")


class Kill(NamedTuple):
    """What became of a run whose worker was ended."""

    ended: bool
    """Whether it came to its end."""
    moved: float
    """The seconds until another worker had it; 0 if none needed to."""
    recorded: int
    """How many calls were made again though the ledger held their results."""
    in_flight: int
    """How many model calls were made again that had been sent and not recorded."""
    seconds: float
    """From the signal to the end."""


async def end_worker(
    servers: LocalServers, client: Any, world: Any, moment: float, way: Callable[[int], None]
) -> Kill:
    """Begin a run, and end the worker that has it some seconds later."""
    world.log.clear()
    thread, run = await begin(client)
    await asyncio.sleep(moment)
    told, moved = time.monotonic(), 0.0
    if pid := servers.worker_of(run):
        way(pid)
        moved = await wait_for_another_worker(servers, run, pid)
    held = recorded(servers, thread)
    found = await end(client, thread, run)
    # A run that nobody stops asks nothing twice.
    again = {name for name, times in world.requests().items() if times > 1}
    said = (found["output"] or {}).get("status")
    ended = (found["status"], said) == ("success", "succeeded")
    if not ended or again & held:
        print("  ", thread, found["status"], said, found.get("error_message"), again & held)
    in_flight = {one for one in again - held if one.startswith(MODEL)}
    return Kill(ended, moved, len(again & held), len(in_flight), time.monotonic() - told)


async def wait_for_another_worker(servers: LocalServers, run: str, pid: int) -> float:
    """Return the seconds until another worker has a run; 0 if it ends before."""
    began = time.monotonic()
    while (worker := servers.worker_of(run)) in (0, pid):
        rows = servers.query("SELECT status FROM runs WHERE run_id = %s", run, server=True)
        if not worker and rows[0][0] in DONE:
            return 0.0
        await asyncio.sleep(0.05)
    return time.monotonic() - began


def recorded(servers: LocalServers, thread: str) -> set[str]:
    """Name the calls of a thread's run whose results are in the ledger."""
    rows = servers.query("SELECT kind, result FROM calls WHERE run = %s", f"{thread}-1")
    return name_recorded_calls(rows, dict(servers.query("SELECT id, origin FROM pages")))


def _spread(taken: Sequence[float]) -> str:
    high = quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]
    return f"median {median(taken):.3f}, p95 {high:.3f}, most {max(taken):.3f}"


def measure_throughput(options: argparse.Namespace, count: int) -> None:
    """Print how many runs an hour some numbers of workers do."""
    for workers in options.workers:
        with serving(options, apis=1, workers=workers) as servers:
            asyncio.run(run_many(servers, workers * 2))
            seconds, wrong = asyncio.run(run_many(servers, count))
            megabytes = max(read_memory(one.pid) for one in servers.processes("worker"))
        print(
            f"{workers} workers of {options.jobs} jobs: {count} runs in {seconds:.1f} s, "
            f"{count / seconds * 3600:.0f} an hour, {len(wrong)} errors, "
            f"a worker holds {megabytes:.0f} MB"
        )
        for one in wrong[:3]:
            print("  ", one)


def measure_many(options: argparse.Namespace, count: int) -> None:
    """Print what becomes of many questions at once."""
    with serving(options, apis=2, workers=3) as servers:
        seconds, wrong = asyncio.run(run_many(servers, count))
        threads = [str(row[0]) for row in servers.query("SELECT DISTINCT thread FROM runs")]
        print(f"{count} runs at once: {seconds:.1f} s, {len(wrong)} errors {wrong[:3]}")
        taken = asyncio.run(measure_reads(servers, threads, 400))
        print(f"reads at {len(threads)} threads: {_spread(taken)} s", flush=True)


def measure_team(options: argparse.Namespace) -> None:
    """Print what two API processes and three workers do."""
    with serving(options, apis=2, workers=3) as servers:
        for kind in ("api", "worker"):
            sizes = [read_memory(one.pid) for one in servers.processes(kind)]
            print(f"an idle {kind} process holds {max(sizes):.0f} MB")
        asyncio.run(run_many(servers, 3))
        print(f"first event of progress: {_spread(asyncio.run(measure_first_event(servers, 10)))}")
        print(f"a thread moves between processes: {asyncio.run(move_between_processes(servers))}")
        failed, overlaps = asyncio.run(ask_twice_at_once(servers, 10))
        print(f"two questions at once in 10 threads: {failed} failed, {overlaps} overlapped")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", help=f"{', '.join(PARTS)}; all of them when empty")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=40)
    told = "what workers are ended by: KILL, or TERM, on which they hand their runs over"
    parser.add_argument("--signal", choices=("KILL", "TERM"), default="KILL", help=told)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a model call")
    options = parser.parse_args()
    wanted = options.what or PARTS
    print(f"{os.cpu_count()} cores, {options.steps} steps, {options.latency} s a model call")
    if "team" in wanted:
        measure_team(options)
    if "many" in wanted:
        measure_many(options, options.runs)
    if "throughput" in wanted:
        measure_throughput(options, options.runs)
    if "kills" in wanted:
        asyncio.run(kill_workers(options, options.kills))


if __name__ == "__main__":
    main()
