"""A thread is one process's on a shared database, until it gives it back or is gone."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from sqlalchemy import select, text, update

from config.errors import ErrorCode, Problem
from runs.checkpointer import open_checkpointer
from runs.lifecycle import create_run, find_run, mark_interrupted, set_report_dir
from runs.lock import acquire, is_thread_locked, thread_lock
from storage import fencing, leases
from storage.engine import commit_statements, read_rows, run_write, run_write_sync
from storage.fencing import find_lease, working_on
from storage.tables import leases as table
from tests.conftest import make
from tests.databases import OTHERS_OF_SCHEMA

pytestmark = [
    pytest.mark.parametrize("either", ["postgresql"], indirect=True),
    pytest.mark.usefixtures("either"),
]


def taken_over(thread: str = "t1") -> None:
    """Have another machine take a thread over, as when this process was away for too long."""
    stolen = update(table).where(table.c.name == thread)
    run_write_sync(lambda connection: connection.execute(stolen.values(holder="another")))


async def row(thread: str = "t1") -> Any:
    return (await read_rows(select(table).where(table.c.name == thread))).one()


def refused(raised: pytest.ExceptionInfo[Problem]) -> bool:
    return raised.value.error == ErrorCode.RUN_TAKEN_OVER


async def test_a_thread_is_held_by_one_at_a_time_and_counts_its_holders():
    first = acquire("t1")
    with pytest.raises(Problem) as raised:
        acquire("t1", 0)
    other = acquire("t2")
    held = is_thread_locked("t1")
    first.release()
    with thread_lock("t1"):
        token = (await row()).token
    other.release()

    assert raised.value.error == ErrorCode.RUN_IN_PROGRESS
    assert held
    assert token == 2
    assert not is_thread_locked("t1")
    assert find_lease("t1") is None


async def test_a_thread_is_waited_for_as_long_as_somebody_says():
    first = acquire("t1")
    waiting = asyncio.create_task(asyncio.to_thread(acquire, "t1", 20.0))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    first.release()

    (await waiting).release()


async def test_a_lease_lasts_while_its_process_lives(monkeypatch: pytest.MonkeyPatch):
    with thread_lock("t1"):
        before = (await row()).expires
        leases.renew_leases([find_lease("t1")])  # type: ignore[list-item]
        assert (await row()).expires > before
        assert (await row()).expires == pytest.approx(time.time() + 30, abs=5)


async def test_the_heart_of_a_process_beats_by_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(leases, "_RENEWALS", 300)
    with thread_lock("t1"):
        before = (await row()).expires
        until = time.monotonic() + 20
        while (await row()).expires <= before and time.monotonic() < until:
            await asyncio.to_thread(time.sleep, 0.05)
        assert (await row()).expires > before


@pytest.mark.parametrize("shift", [-86_400.0, 86_400.0])
async def test_the_clock_of_a_machine_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, shift: float
):
    now = time.time
    held = acquire("t1")
    monkeypatch.setattr(time, "time", lambda: now() + shift)

    with pytest.raises(Problem) as raised:
        acquire("t1", 0)

    assert raised.value.error == ErrorCode.RUN_IN_PROGRESS
    held.release()


async def test_a_lease_that_ended_is_taken_by_another_and_writes_of_the_first_are_refused():
    acquire("t1")
    mine = find_lease("t1")
    await run_write(
        lambda connection: connection.execute(text("UPDATE leases SET expires = 1, process = 'x'"))
    )

    second = leases._take
    taken = await run_write(lambda connection: second(connection, "t1"))

    assert taken
    assert mine
    assert (taken.token, mine.token) == (2, 1)
    with working_on("t1"), pytest.raises(Problem) as raised:
        await run_write(lambda connection: connection.execute(text("DELETE FROM leases")))
    assert refused(raised)
    assert (await row()).holder == taken.holder


async def test_a_process_of_this_machine_that_is_gone_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
):
    gone = await asyncio.create_subprocess_exec("sleep", "60")
    mark = leases._mark_of(gone.pid)
    acquire("t1")
    await run_write(lambda connection: connection.execute(update(table).values(process=mark)))
    with pytest.raises(Problem):
        acquire("t1", 0)
    assert is_thread_locked("t1")
    gone.kill()
    await gone.wait()

    assert not is_thread_locked("t1")
    with thread_lock("t1", 0):
        assert (await row()).token == 2


async def test_nothing_of_a_zombie_is_written():
    run = await create_run("local/", "t1", 1, "How do bees dance?", make({}))
    lock = acquire("t1")
    taken_over()

    async with open_checkpointer() as saver:
        place: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}}
        with pytest.raises(Problem) as checkpoint:
            await saver.aput(place, empty_checkpoint(), {"source": "input"}, {})
        placed: Any = {"configurable": {**place["configurable"], "checkpoint_id": "1"}}
        with pytest.raises(Problem) as write:
            await saver.aput_writes(placed, [("question", "?")], "task")
        saved = await saver.aget_tuple(place)
    with pytest.raises(Problem) as ended:
        await mark_interrupted("local/", "t1", "failed")
    with pytest.raises(Problem) as asked:
        await create_run("local/", "t1", 1, "How do bees dance?", make({}))
    with working_on("t1"), pytest.raises(Problem) as filed:
        await set_report_dir(run, "/elsewhere")
    lock.release()

    assert all(map(refused, (checkpoint, write, ended, asked, filed)))
    assert saved is None
    found = await find_run("local/", run)
    assert (found.status, found.folder) == ("running", "")
    assert (await row()).holder == "another"


async def test_what_is_committed_with_a_zombies_words_is_written():
    await create_run("local/", "t2", 1, "How do bees dance?", make({}))
    acquire("t1")
    taken_over()

    async def write(thread: str) -> None:
        with working_on(thread):
            await mark_interrupted("local/", thread, "paused")

    done = await asyncio.gather(write("t1"), write("t2"), return_exceptions=True)

    assert isinstance(done[0], Problem)
    assert done[1] is None
    assert (await find_run("local/", "t2-1")).status == "paused"


async def test_nobody_takes_a_thread_over_in_the_middle_of_a_write():
    acquire("t1")
    ended = text("UPDATE leases SET expires = 0, process = 'elsewhere'")
    await run_write(lambda connection: connection.execute(ended))
    begun, order = threading.Event(), list[str]()

    def write(connection: Any) -> None:
        begun.set()
        connection.execute(text("SELECT pg_sleep(0.3)"))
        order.append("written")

    with working_on("t1"):
        writing = asyncio.create_task(run_write(write))
    await asyncio.to_thread(begun.wait)
    taken = await asyncio.to_thread(leases.take_lease, "t1", 5.0)
    order.append("taken")
    await writing

    assert order == ["written", "taken"]
    assert taken
    taken.release()


async def test_a_process_that_is_stopped_in_the_middle_of_a_write_keeps_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(fencing, "fence_values", lambda lease: {"name": "t1", "idle": "200ms"})
    acquire("t1")
    ended = text("UPDATE leases SET expires = 0, process = 'elsewhere'")
    await run_write(lambda connection: connection.execute(ended))
    begun, go_on = threading.Event(), threading.Event()

    def stop(connection: Any) -> None:
        begun.set()
        go_on.wait(20)
        connection.execute(ended)

    with working_on("t1"):
        writing = asyncio.create_task(run_write(stop))
    await asyncio.to_thread(begun.wait)
    taken = await asyncio.to_thread(leases.take_lease, "t1", 10.0)
    go_on.set()

    assert taken
    with pytest.raises(Problem) as raised:
        await writing
    assert raised.value.error == ErrorCode.STORAGE_UNAVAILABLE
    assert (await row()).holder == taken.lease.holder


async def test_a_lost_connection_costs_no_lease():
    with thread_lock("t1"):
        killed = text(f"SELECT pg_terminate_backend(pid) {OTHERS_OF_SCHEMA}")
        assert await run_write(lambda connection: connection.execute(killed).all())

        leases.renew_leases([find_lease("t1")])  # type: ignore[list-item]
        with working_on("t1"):
            await commit_statements((update(table).values(token=7), None))

    assert (await row()).token == 7
