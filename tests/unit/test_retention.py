"""Old runs are pruned: what makes them resumable is deleted, what they brought stays."""

from __future__ import annotations

import time

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from sqlalchemy import select, update

from calls.ledger import LedgerCall, call_once
from config.settings import settings
from graph.context import Context
from graph.records import RunStatus
from library import page_retrieval
from library import store as pages
from library.page_rows import NewPage
from library.tables import sources
from privacy import retention
from report.source_registry import CitablePage, register_sources
from runs.call_site import CallSite
from runs.checkpointer import open_checkpointer
from runs.lifecycle import UNFINISHED_STATUSES, create_run, list_recent_runs, set_run_status
from runs.lock import thread_lock
from runs.tables import calls, runs
from runs.trace import flush_traces, read_trace, trace, trace_file
from storage.engine import read_rows, run_write

DAY = 86_400.0

stored = pytest.mark.usefixtures("either")


async def ended(
    thread: str, days: float, status: RunStatus = "succeeded", owner: str = "me/", turn: int = 1
) -> None:
    """Leave behind what a run leaves that ended some days ago."""
    run = await create_run(owner, thread, turn, f"Question {turn}?", Context())
    here = CallSite(owner, thread, run, "", "0.0.0")

    async def paid() -> str:
        return "paid for"

    await call_once(LedgerCall(here, "search", "web", [run]), paid)
    await trace(here, "search", "web", "ok")
    await flush_traces()
    (page,) = await pages.store_pages(
        owner, "report", run, [NewPage(title=run, place="", text=run)]
    )
    await register_sources(thread, [CitablePage(page, run, "", "report")])
    async with open_checkpointer() as saver:
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        await saver.aput(config, empty_checkpoint(), {"source": "loop", "step": turn}, {})
    await set_run_status(owner, run, status)
    old = update(runs).where(runs.c.id == run).values(updated=time.time() - days * DAY)
    await run_write(lambda connection: connection.execute(old))


async def left(thread: str) -> dict[str, int]:
    """Count what is there of a thread, by where it is."""
    async with open_checkpointer() as saver:
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
    return rows | {"saved": saved, "trace": min(1, len(await read_trace(f"{thread}-1")))}


ALL = {"runs": 1, "calls": 1, "sources": 1, "saved": 1, "trace": 1}
NONE = dict.fromkeys(ALL, 0)


@stored
async def test_a_thread_that_ended_long_ago_leaves_nothing_that_made_it_resumable():
    await ended("old", days=100)
    await ended("new", days=1)

    kept = await retention.prune_threads(await retention.list_expired_threads("me/", 90 * DAY))

    assert kept == []
    assert await left("old") == NONE
    assert await left("new") == ALL


@stored
async def test_what_an_old_run_has_found_out_is_still_known():
    await ended("old", days=100)

    await retention.prune_threads(await retention.list_expired_threads("me/", 90 * DAY))

    assert [page.text for page in await page_retrieval.find_pages("me/", "old-1", 5)] == ["old-1"]


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("status", UNFINISHED_STATUSES)
async def test_a_run_that_may_be_gone_on_with_is_kept_however_old_it_is(status: RunStatus):
    await ended("old", days=1000, status=status)

    assert await retention.list_expired_threads("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_a_thread_is_kept_as_long_as_its_newest_run():
    await ended("long", days=200)
    await ended("long", days=1, turn=2)

    assert await retention.list_expired_threads("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_nobody_prunes_another_owners_runs():
    await ended("theirs", days=200, owner="you/")

    assert await retention.list_expired_threads("me/", 90 * DAY) == []


@pytest.mark.usefixtures("database")
async def test_a_thread_that_is_at_work_meanwhile_is_kept_and_named():
    await ended("busy", days=200)
    await ended("idle", days=200)
    old = await retention.list_expired_threads("me/", 90 * DAY)

    with thread_lock("busy"):
        (kept,) = await retention.prune_threads(old)

    assert kept.thread == "busy"
    assert await left("busy") == ALL
    assert await left("idle") == NONE


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("status", ["waiting_review", "succeeded"])
async def test_a_thread_that_was_asked_further_since_it_was_found_is_kept(status: RunStatus):
    await ended("old", days=200)
    old = await retention.list_expired_threads("me/", 90 * DAY)
    await ended("old", days=0, turn=2, status=status)

    (kept,) = await retention.prune_threads(old)

    assert kept.thread == "old"
    assert await left("old") == {**ALL, "runs": 2, "sources": 2, "saved": 2}


@pytest.mark.usefixtures("database")
async def test_lines_of_a_trace_that_are_still_to_be_written_go_too():
    await ended("old", days=200)
    await trace(CallSite("me/", "old", "old-1", "", ""), "search", "web", "ok")

    await retention.prune_threads(await retention.list_expired_threads("me/", 90 * DAY))
    await flush_traces()

    assert not trace_file("old-1").exists()


@pytest.mark.usefixtures("database")
async def test_what_was_stopped_half_way_is_done_when_it_is_asked_for_again():
    await ended("old", days=200)
    trace_file("old-1").unlink()
    async with open_checkpointer() as saver:
        await saver.adelete_thread("old")

    await retention.prune_threads(await retention.list_expired_threads("me/", 90 * DAY))

    assert await list_recent_runs("me/") == []
    assert await left("old") == NONE


@pytest.mark.usefixtures("database")
async def test_the_room_is_given_back_to_the_disk():
    for number in range(30):
        await ended(f"t{number}", days=200)
    before = settings().checkpoints.stat().st_size

    await retention.prune_threads(await retention.list_expired_threads("me/", 90 * DAY))

    assert settings().checkpoints.stat().st_size < before
