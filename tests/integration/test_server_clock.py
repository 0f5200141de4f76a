"""A server goes on with a run when the wall clock was set back in the meantime."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.serving import (
    ANSWERED,
    APPROVE,
    Server,
    asked,
    context,
    listed,
    reviewed,
    serving,
)

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

CLOCK = """
import pathlib, time
file, seconds, nanoseconds = pathlib.Path({file!r}), time.time, time.time_ns
time.time = lambda: seconds() + int(file.read_text())
time.time_ns = lambda: nanoseconds() + int(file.read_text()) * 10**9
"""
"""What every process of the server begins with: a file says how many seconds its clock is ahead."""

SAVED = (
    "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' "
    "ORDER BY rowid"
)

ENOUGH = 4
"""With how many checkpoints a run is in the middle of its work."""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that says how far the clock is ahead, beside the code that reads it."""
    file = tmp_path_factory.mktemp("clock") / "ahead"
    file.write_text("0")
    (file.parent / "sitecustomize.py").write_text(CLOCK.format(file=str(file)))
    return file


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, clock: Path) -> dict[str, Any]:
    """What became of three threads: one approved at once, two of which a killed server had left."""
    home = tmp_path_factory.mktemp("home")
    with serving(home, PYTHONPATH=str(clock.parent)) as server:
        found = asyncio.run(_before(server, clock))
        os.kill(server.pid, signal.SIGKILL)
    clock.write_text("-120")
    with serving(home, PYTHONPATH=str(clock.parent)) as server:
        found |= asyncio.run(_behind(server, found))
    return {**found, "home": home}


async def _before(server: Server, clock: Path) -> dict[str, Any]:
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        approved, _ = await reviewed(client)
        await asyncio.to_thread(clock.write_text, "-60")
        state = await client.runs.wait(approved, "dossier", command=APPROVE, context=context())
        waiting, _ = await reviewed(client)
        killed = (await client.threads.create())["thread_id"]
        choices = context(auto_accept=True)
        await client.runs.create(killed, "dossier", input=asked(), context=choices)
        await asyncio.to_thread(_wait_for, ENOUGH, server.home, killed)
    return {"approved": approved, "waiting": waiting, "killed": killed, "approved state": state}


async def _behind(server: Server, found: dict[str, Any]) -> dict[str, Any]:
    given = {"waiting": {"command": APPROVE}, "killed": {"input": None}}
    told: dict[str, Any] = {}
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        for name, more in given.items():
            thread = found[name]
            # A server that is killed may have lost the name of a thread, never its checkpoints.
            await client.threads.create(thread_id=thread, if_exists="do_nothing")
            choices = context(auto_accept=name == "killed")
            state = await client.runs.wait(
                thread, "dossier", **more, context=choices, multitask_strategy="enqueue"
            )
            told |= {f"{name} state": state, f"{name} runs": await listed(server, thread)}
            told[f"{name} history"] = await client.threads.get_history(thread, limit=100)
    return told


def ids(home: Path, thread: str) -> list[str]:
    """Return the ids of the checkpoints of a thread in the order in which they were saved."""
    with closing(sqlite3.connect(home / "checkpoints.db", timeout=20)) as file:
        return [name for (name,) in file.execute(SAVED, [thread])]


def _wait_for(count: int, home: Path, thread: str) -> None:
    while len(ids(home, thread)) < count:
        time.sleep(0.02)


def test_a_plan_is_approved_a_minute_before_it_was_shown(stopped: dict[str, Any]):
    state, saved = stopped["approved state"], ids(stopped["home"], stopped["approved"])

    assert state["status"] in ANSWERED
    assert state["report"]["cited"]
    assert saved == sorted(saved)


@pytest.mark.parametrize("name", ["waiting", "killed"])
def test_another_server_goes_on_two_minutes_before_the_first_one_was_killed(
    stopped: dict[str, Any], name: str
):
    state, saved = stopped[f"{name} state"], ids(stopped["home"], stopped[name])

    assert state["status"] in ANSWERED
    assert state["report"]["cited"]
    assert saved == sorted(saved)
    assert stopped[f"{name} runs"] == {f"{stopped[name]}-1": state["status"]}
    steps = [one["metadata"]["step"] for one in stopped[f"{name} history"]]
    assert steps == sorted(steps, reverse=True)
