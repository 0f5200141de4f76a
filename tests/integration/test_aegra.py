"""Several API processes and workers of Aegra, on one PostgreSQL and one Redis.

`DOSSIER_TEST_AEGRA` names a Python from 3.12 on that has Dossier and Aegra; without it this one is
taken, and where a part is missing nothing of this is tested.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.crash import make_world
from evals.local_servers import LocalServers
from evals.scale_out import (
    APPROVE,
    ASKED,
    FAST,
    ask_twice_at_once,
    begin,
    choices,
    end,
    environment,
    move_between_processes,
    recorded,
    shared_folder,
    wait_for_another_worker,
)
from tests.collector import Collector, SentSpan, collecting

PYTHON = os.environ.get("DOSSIER_TEST_AEGRA", sys.executable)


def missing() -> str:
    """Return which part is missing; nothing if all are there."""
    has_aegra = [PYTHON, "-c", "import aegra_api, app.aegra_server"]
    if subprocess.run(has_aegra, capture_output=True, cwd="/").returncode:
        return "Aegra with Dossier, in a Python from 3.12 on: set DOSSIER_TEST_AEGRA"
    if not (shutil.which("redis-server") or shutil.which("valkey-server")):
        return "redis-server"
    if not shutil.which("initdb") and not [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]:
        return "PostgreSQL"
    return ""


MISSING = missing()

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(bool(MISSING), reason=f"there is no {MISSING}"),
]


@pytest.fixture(scope="module")
def world() -> Iterator[Any]:
    with make_world(0.3, steps=2) as world:
        yield world


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def servers(world: Any, collector: Collector) -> Iterator[LocalServers]:
    told = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    there = environment(world.site, **FAST, **told, DOSSIER_METRICS_TOKEN="s3cret")
    with shared_folder() as folder:
        with LocalServers(folder, there, apis=2, workers=2, python=PYTHON) as servers:
            yield servers
            running = servers.processes("")
        assert not [one for one in running if is_running(one.pid)]


@pytest.fixture
async def client(servers: LocalServers) -> AsyncIterator[Any]:
    async with servers.client() as client:
        yield client


def is_running(pid: int) -> bool:
    """Return whether there is a process of this id."""
    return Path(f"/proc/{pid}").exists()


async def until(reached: Callable[[], bool]) -> None:
    """Wait until something is so, a minute at most."""
    for _ in range(600):
        if reached():
            return
        await asyncio.sleep(0.1)


async def watch_until_the_end(
    servers: LocalServers, client: Any, thread: str, run: str, pid: int
) -> tuple[list[str], set[str]]:
    """Wait for the end of a run that one worker gives up.

    Returns:
        How the run stood, one after another, and what was recorded when another worker took it.
    """
    ended = asyncio.create_task(end(client, thread, run))
    moved = asyncio.create_task(wait_for_another_worker(servers, run, pid))
    stood, held = ["running"], set[str]()
    while not ended.done():
        if not moved.done():
            held = recorded(servers, thread)
        ((now,),) = servers.query("SELECT status FROM runs WHERE thread = %s", thread)
        stood += [now] if now != stood[-1] else []
        await asyncio.sleep(0.05)
    assert (await ended)["status"] == "success"
    return stood, held if await moved else set()


async def test_a_thread_goes_on_through_other_processes(servers: LocalServers):
    assert await move_between_processes(servers)


async def test_a_report_is_had_from_every_process(servers: LocalServers, client: Any):
    same = choices()
    thread, run = await begin(client, project=same["project"])
    await end(client, thread, run)
    query = {"format": "md", "project": same["project"]}

    for api in servers.processes("api"):
        key = {"x-api-key": (servers.home / "server-token").read_text().strip()}
        async with httpx.AsyncClient(base_url=api.url, headers=key, timeout=60) as http:
            report = await http.get(f"/reports/{thread}", params=query)
        assert report.status_code == 200
        assert "bees" in report.text


async def test_a_killed_worker_is_replaced_and_nothing_recorded_is_paid_again(
    servers: LocalServers, client: Any, world: Any
):
    world.log.clear()
    thread, run = await begin(client)
    await until(lambda: len(recorded(servers, thread)) >= 8)
    held, pid = recorded(servers, thread), servers.worker_of(run)
    assert held
    assert pid

    servers.kill(pid)
    sent = world.requests()
    found = await end(client, thread, run)

    assert found["status"] == "success"
    assert found["output"]["status"] == "succeeded"
    assert not (world.requests() - sent).keys() & held
    state = await client.threads.get_state(thread)
    assert [one["type"] for one in state["values"]["messages"]] == ["human", "ai"]


async def test_a_worker_that_stops_hands_its_runs_over_at_once_and_cancels_none(
    servers: LocalServers, client: Any, world: Any
):
    world.log.clear()
    thread, run = await begin(client)
    await until(lambda: len(recorded(servers, thread)) >= 8)
    pid = servers.worker_of(run)
    assert pid

    servers.stop(pid)
    stood, moved = await watch_until_the_end(servers, client, thread, run, pid)

    assert stood == ["running", "paused", "running", "succeeded"]
    twice = {name for name, times in world.requests().items() if times > 1}
    assert moved
    assert not twice & moved
    # Nobody had to notice that the worker was gone.
    lost = "SELECT execution_params ->> '_retry_count' FROM runs WHERE run_id = %s"
    assert servers.query(lost, run, server=True) == [(None,)]
    await until(lambda: not is_running(pid))
    assert not is_running(pid)


async def test_a_run_that_a_client_cancels_is_cancelled(servers: LocalServers, client: Any):
    thread, run = await begin(client)
    await until(lambda: len(recorded(servers, thread)) >= 3)

    await client.runs.cancel(thread, run)

    stands = "SELECT status FROM runs WHERE thread = %s"
    await until(lambda: servers.query(stands, thread) != [("running",)])
    assert servers.query(stands, thread) == [("cancelled",)]


async def test_two_workers_never_work_on_one_thread(servers: LocalServers):
    assert await ask_twice_at_once(servers, 3) == (0, 0)


async def test_a_refused_request_is_told_as_on_the_other_server(servers: LocalServers, client: Any):
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "dossier", input=ASKED, context=choices())
    url = servers.processes("api")[0].url
    key = {"x-api-key": client.http.client.headers["x-api-key"]}
    async with httpx.AsyncClient(base_url=url, headers=key) as http:
        forged = {"values": {"sources": {"S1": {}}}}
        refused = await http.post(f"/threads/{thread}/state", json=forged)
    async with httpx.AsyncClient(base_url=url) as http:
        stranger = await http.post(f"/threads/{thread}/runs", json={"command": APPROVE})
        page = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        preflight = await http.options("/threads", headers=page)
        health = await http.get("/health")

    assert [refused.status_code, refused.json()["code"]] == [422, "state_refused"]
    assert [stranger.status_code, stranger.json()["code"]] == [401, "token_missing"]
    assert preflight.status_code == 403
    assert health.status_code == 200


async def test_a_worker_sends_the_spans_of_a_run(
    servers: LocalServers, client: Any, collector: Collector
):
    thread, run = await begin(client)
    await end(client, thread, run)

    def sent() -> list[SentSpan]:
        return [one for one in collector.spans if one.attributes.get("dossier.run", "") == of]

    of = f"{thread}-1"
    await until(lambda: any(one.name == "invoke_workflow dossier" for one in sent()))
    used = sum(one.attributes.get("gen_ai.usage.input_tokens", 0) for one in sent())
    (paid,) = servers.query("SELECT sum(tokens_in) FROM attempts WHERE run = %s", of)[0]
    assert len({one.trace for one in sent()}) == 1
    assert used == paid > 0


def test_a_shell_becomes_one_of_the_installation(servers: LocalServers):
    read = f". '{servers.folder}/environment' && env -0"
    said = subprocess.run(["sh", "-c", read], check=True, capture_output=True, text=True).stdout
    found = dict(line.split("=", 1) for line in said.split("\0") if line)

    assert found["DOSSIER_HOME"] == str(servers.home)
    assert found["DOSSIER_DATABASE_URL"].startswith("postgresql://")
    assert found["REDIS_URL"].startswith("unix://")


async def test_figures_are_read_with_their_token_and_nothing_else_is(servers: LocalServers):
    right, wrong = ({"authorization": f"Bearer {token}"} for token in ("s3cret", "wrong"))
    async with httpx.AsyncClient(base_url=servers.processes("api")[0].url) as http:
        figures = await http.get("/api/metrics", headers=right)
        refused = [
            (await http.get("/api/metrics")).status_code,
            (await http.get("/api/metrics", headers=wrong)).status_code,
            (await http.get("/api/runs", headers=right)).status_code,
        ]

    assert figures.status_code == 200
    assert "dossier_runs" in figures.text
    assert refused == [401, 401, 401]


async def test_a_worker_answers_only_how_it_is(servers: LocalServers):
    async with httpx.AsyncClient(base_url=servers.processes("worker")[0].url) as http:
        told = [(await http.get(path)).status_code for path in ("/ready", "/threads", "/docs")]

    assert told == [200, 404, 404]


async def test_an_api_process_that_stops_waits_for_no_run_and_cancels_none(
    servers: LocalServers, client: Any
):
    stopped = servers.processes("api")[1]
    async with servers.client(1) as other:
        thread = (await other.threads.create())["thread_id"]
        asked = other.runs.wait(thread, "dossier", input=ASKED, context=choices(auto_accept=True))
        waiting = asyncio.create_task(asked)
        await until(lambda: len(recorded(servers, thread)) >= 3)
        (run,) = await client.runs.list(thread)

        servers.stop(stopped.pid)
        await asyncio.gather(waiting, return_exceptions=True)
        await until(lambda: not is_running(stopped.pid))

    assert not is_running(stopped.pid)
    assert (await end(client, thread, run["run_id"]))["status"] == "success"
