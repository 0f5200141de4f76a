"""Old runs are pruned: what makes them resumable is deleted, what they brought stays."""

from __future__ import annotations

import time

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from sqlalchemy import select, update

from config.settings import settings
from graph.context import Context
from graph.records import RunStatus
from memory.pages import store as pages
from memory.pages.store import NewPage
from report.sources import Citable, register
from runs import retention
from runs.checkpointer import checkpoints
from runs.ledger import Call, once
from runs.lifecycle import UNFINISHED, listed, mark, opened
from runs.lock import held
from runs.place import Here
from runs.trace import trace, trace_file
from storage.engine import read_rows, write
from storage.tables import calls, runs, sources

DAY = 86_400.0

stored = pytest.mark.usefixtures("either")


async def ended(
    thread: str, days: float, status: RunStatus = "succeeded", owner: str = "me/", turn: int = 1
) -> None:
    """Leave behind what a run leaves that ended some days ago."""
    run = await opened(owner, thread, turn, f"Question {turn}?", Context())
    here = Here(owner, thread, run, "", "0.0.0")

    async def paid() -> str:
        return "paid for"

    await once(Call(here, "search", "web", [run]), paid)
    await trace(here, "search", "web", "ok")
    (page,) = await pages.keep(owner, "report", run, [NewPage(title=run, place="", text=run)])
    await register(thread, [Citable(page, run, "", "report")])
    async with checkpoints() as saver:
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        await saver.aput(config, empty_checkpoint(), {"source": "loop", "step": turn}, {})
    await mark(owner, run, status)
    old = update(runs).where(runs.c.id == run).values(updated=time.time() - days * DAY)
    await write(lambda connection: connection.execute(old))


async def left(thread: str) -> dict[str, int]:
    """Count what is there of a thread, by where it is."""
    async with checkpoints() as saver:
        config = {"configurable": {"thread_id": thread}}
        saved = len([one async for one in saver.alist(config)])
    rows = {
        table.name: len((await read_rows(select(table).where(column == value))).all())
        for table, column, value in (
            (runs, runs.c.thread, thread),
            (calls, calls.c.run, f"{thread}-1"),
            (sources, sources.c.thread, thread),
        )
    }
    return rows | {"saved": saved, "trace": int(trace_file(f"{thread}-1").exists())}


ALL = {"runs": 1, "calls": 1, "sources": 1, "saved": 1, "trace": 1}
NONE = dict.fromkeys(ALL, 0)


@stored
async def test_a_thread_that_ended_long_ago_leaves_nothing_that_made_it_resumable():
    await ended("old", days=100)
    await ended("new", days=1)

    kept = await retention.prune(await retention.finished("me/", 90 * DAY))

    assert kept == []
    assert await left("old") == NONE
    assert await left("new") == ALL


@stored
async def test_what_an_old_run_has_found_out_is_still_known():
    await ended("old", days=100)

    await retention.prune(await retention.finished("me/", 90 * DAY))

    assert [page.text for page in await pages.find("me/", "old-1", 5)] == ["old-1"]


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("status", UNFINISHED)
async def test_a_run_that_may_be_gone_on_with_is_kept_however_old_it_is(status: RunStatus):
    await ended("old", days=1000, status=status)

    assert await retention.finished("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_a_thread_is_kept_as_long_as_its_newest_run():
    await ended("long", days=200)
    await ended("long", days=1, turn=2)

    assert await retention.finished("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_nobody_prunes_another_owners_runs():
    await ended("theirs", days=200, owner="you/")

    assert await retention.finished("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_a_thread_that_is_at_work_meanwhile_is_kept_and_named():
    await ended("busy", days=200)
    await ended("idle", days=200)
    old = await retention.finished("me/", 90 * DAY)

    with held("busy"):
        (kept,) = await retention.prune(old)

    assert kept.thread == "busy"
    assert await left("busy") == ALL
    assert await left("idle") == NONE


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("status", ["waiting_review", "succeeded"])
async def test_a_thread_that_was_asked_further_since_it_was_found_is_kept(status: RunStatus):
    await ended("old", days=200)
    old = await retention.finished("me/", 90 * DAY)
    await ended("old", days=0, turn=2, status=status)

    (kept,) = await retention.prune(old)

    assert kept.thread == "old"
    assert await left("old") == {**ALL, "runs": 2, "sources": 2, "saved": 2}


@pytest.mark.usefixtures("database")
async def test_what_was_stopped_half_way_is_done_when_it_is_asked_for_again():
    await ended("old", days=200)
    trace_file("old-1").unlink()
    async with checkpoints() as saver:
        await saver.adelete_thread("old")

    await retention.prune(await retention.finished("me/", 90 * DAY))

    assert await listed("me/") == []
    assert await left("old") == NONE


@pytest.mark.usefixtures("database")
async def test_the_room_is_given_back_to_the_disk():
    for number in range(30):
        await ended(f"t{number}", days=200)
    before = settings().checkpoints.stat().st_size

    await retention.prune(await retention.finished("me/", 90 * DAY))

    assert settings().checkpoints.stat().st_size < before
