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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from uuid import uuid4

from evals.crash import MODEL, make_world, name_recorded_calls
from evals.local_servers import LocalServers, read_memory
from evals.world import World

QUESTION = "How do bees live?"
ASKED = {"messages": [{"role": "user", "content": QUESTION}]}
APPROVE = {"resume": {"decisions": [{"type": "approve"}]}}
DONE = ("success", "error", "interrupted", "timeout")

FAST = {"LEASE_DURATION_SECONDS": "6", "HEARTBEAT_INTERVAL_SECONDS": "2"}
FAST |= {"REAPER_INTERVAL_SECONDS": "1", "STUCK_PENDING_THRESHOLD_SECONDS": "5"}
"""How soon a dead worker is noticed where many are killed."""


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
def serving(options: argparse.Namespace, **counts: int) -> Iterator[LocalServers]:
    """Serve over a world in a process of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="scale-") as folder,
        World(options.steps, model_seconds=options.latency, web_seconds=0.1) as world,
    ):
        Path(folder).chmod(0o755)
        with LocalServers(Path(folder), environment(world.url), **counts) as servers:
            yield servers


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
    clients = [servers.client(number) for number in range(len(servers.processes("api")))]
    started = time.monotonic()
    begun = await asyncio.gather(*(begin(clients[n % len(clients)]) for n in range(count)))
    ended = await asyncio.gather(*(end(clients[0], *one) for one in begun))
    seconds = time.monotonic() - started
    wrong = [str(one.get("error_message")) for one in ended if one["status"] != "success"]
    unsaid = [one for one in ended if (one["output"] or {}).get("status") != "succeeded"]
    return seconds, wrong + [str(one["output"])[:200] for one in unsaid]


async def measure_first_event(servers: LocalServers, times: int) -> list[float]:
    """Return the seconds from a question to the first event of its progress."""
    client, taken = servers.client(), list[float]()
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
    clients, taken = [servers.client(0), servers.client(-1)], list[float]()

    async def read(reader: int) -> None:
        client, chance = clients[reader % 2], random.Random(reader)
        for _ in range(times // 4):
            thread = chance.choice(threads)
            ways: tuple[Callable[[], Awaitable[Any]], ...] = (
                lambda thread=thread: client.threads.get(thread),
                lambda thread=thread: client.threads.get_state(thread),
                lambda thread=thread: client.runs.list(thread),
                lambda: client.threads.search(limit=10),
            )
            started = time.monotonic()
            await chance.choice(ways)()
            taken.append(time.monotonic() - started)

    await asyncio.gather(*(read(reader) for reader in range(4)))
    return taken


async def move_between_processes(servers: LocalServers) -> bool:
    """Ask through one API process, approve through another, and ask on through the first."""
    first, other = servers.client(0), servers.client(1)
    same = choices()
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
    first, other = servers.client(0), servers.client(-1)

    async def ask() -> tuple[str, list[dict[str, Any]]]:
        thread, same = (await first.threads.create())["thread_id"], choices()
        asked = [{"messages": [{"role": "user", "content": f"{QUESTION} {n}"}]} for n in (1, 2)]
        runs = await asyncio.gather(
            *(
                client.runs.create(thread, "research", input=one, context=same)
                for client, one in zip((first, other), asked, strict=True)
            )
        )
        return thread, [await end(first, thread, run["run_id"]) for run in runs]

    every = await asyncio.gather(*(ask() for _ in range(times)))
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
    """Kill a worker in the middle of each of some runs, and print what became of them."""
    chance, taken, repeated, ended = random.Random(1), list[float](), 0, 0
    inflight = 0
    with (
        tempfile.TemporaryDirectory(prefix="scale-") as folder,
        make_world(options.latency, options.steps) as world,
    ):
        Path(folder).chmod(0o755)
        there = environment(world.site, **FAST)
        with LocalServers(Path(folder), there, apis=1, workers=2, jobs=4) as servers:
            client = servers.client()
            started = time.monotonic()
            await end(client, *await begin(client))
            usual = time.monotonic() - started
            for _ in range(times):
                world.log.clear()
                thread, run = await begin(client)
                await asyncio.sleep(chance.uniform(0.1, usual))
                held = recorded(servers, thread)
                pid = servers.worker_of(run)
                if pid:
                    servers.kill(pid)
                killed, sent = time.monotonic(), world.requests()
                found = await end(client, thread, run)
                taken.append(time.monotonic() - killed)
                again = (world.requests() - sent).keys() & sent.keys()
                output = found["output"] or {}
                ended += found["status"] == "success" and output.get("status") == "succeeded"
                repeated += len(again & held)
                inflight += len({one for one in again - held if one.startswith(MODEL)})
                if found["status"] != "success" or again & held:
                    print("  ", thread, found["status"], found.get("error_message"), again & held)
    print(f"workers killed in the middle of a run     {times}")
    print(f"runs that came to their end elsewhere     {ended}")
    print(f"recorded calls made again                 {repeated}")
    print(f"model calls in flight made again          {inflight}")
    print(f"seconds from the kill to the end          {_spread(taken)}")


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
        with serving(options, apis=1, workers=workers, jobs=options.jobs) as servers:
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


def measure_team(options: argparse.Namespace, count: int) -> None:
    """Print what two API processes and three workers do."""
    with serving(options, apis=2, workers=3, jobs=options.jobs) as servers:
        for kind in ("api", "worker"):
            sizes = [read_memory(one.pid) for one in servers.processes(kind)]
            print(f"an idle {kind} process holds {max(sizes):.0f} MB")
        asyncio.run(run_many(servers, 3))
        print(f"first event of progress: {_spread(asyncio.run(measure_first_event(servers, 10)))}")
        print(f"a thread moves between processes: {asyncio.run(move_between_processes(servers))}")
        failed, overlaps = asyncio.run(ask_twice_at_once(servers, 10))
        print(f"two questions at once in 10 threads: {failed} failed, {overlaps} overlapped")
        seconds, wrong = asyncio.run(run_many(servers, count))
        print(f"{count} runs at once: {seconds:.1f} s, {len(wrong)} errors {wrong[:3]}")
        threads = [str(row[0]) for row in servers.query("SELECT DISTINCT thread FROM runs")]
        print(f"reads: {_spread(asyncio.run(measure_reads(servers, threads, 400)))} s")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", help="team, throughput, kills; all of them when empty")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a model call")
    options = parser.parse_args()
    wanted = options.what or ["team", "throughput", "kills"]
    print(f"{os.cpu_count()} cores, {options.steps} steps, {options.latency} s a model call")
    if "team" in wanted:
        measure_team(options, options.runs)
    if "throughput" in wanted:
        measure_throughput(options, options.runs)
    if "kills" in wanted:
        asyncio.run(kill_workers(options, options.kills))


if __name__ == "__main__":
    main()
