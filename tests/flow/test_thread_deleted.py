"""A thread that is deleted on a server leaves nothing of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from calls.ledger import ActionRecord, defer_actions
from config.errors import Problem
from graph.session import ThreadSession
from library.tables import pages, sources
from memory.tables import utterances
from privacy.service import delete_thread
from runs.call_site import CallSite
from runs.checkpointer import save_run_status
from runs.lifecycle import list_recent_runs
from runs.lock import thread_lock
from runs.tables import calls
from storage.engine import flush_writes, read_rows
from tests.conftest import make
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

ME = "local/"


def named(home: Path, thread: str) -> list[Path]:
    """Return the files that are named after a thread."""
    return list(home.rglob(f"{thread}*"))


async def reports() -> int:
    """Return how many pages of reports there are."""
    wanted = select(func.count()).select_from(pages).where(pages.c.kind == "report")
    return int((await read_rows(wanted)).scalar_one())


async def test_it_leaves_no_run_no_record_no_page_of_a_report_no_trace_and_no_lock(
    thread: ThreadSession, choices: dict[str, object], home: Path
):
    with thread_lock("t1"):
        await thread.begin("How do bees dance?", make(choices), quiet)
    assert await reports()

    await delete_thread("t1")

    assert await list_recent_runs(ME) == []
    assert await reports() == 0
    for table in (calls, sources):
        assert (await read_rows(select(func.count()).select_from(table))).scalar_one() == 0
    assert named(home, "t1") == []


async def test_what_nobody_has_waited_to_be_written_is_not_written_after_it(
    thread: ThreadSession, choices: dict[str, object]
):
    await thread.begin("How do bees dance?", make(choices), quiet)
    search = ActionRecord("a search that came last")
    defer_actions(CallSite(ME, "t1", "t1-1", "", ""), "files", "search", [search])

    await delete_thread("t1")
    await flush_writes()

    assert (await read_rows(select(func.count()).select_from(utterances))).scalar_one() == 0


async def test_what_was_read_stays(thread: ThreadSession, choices: dict[str, object]):
    await thread.begin("How do bees dance?", make(choices), quiet)

    await delete_thread("t1")

    files = select(func.count()).select_from(pages).where(pages.c.kind == "file")
    assert (await read_rows(files)).scalar_one() == 3


async def test_one_that_is_at_work_is_left_alone(thread: ThreadSession, choices: dict[str, object]):
    await thread.begin("How do bees dance?", make(choices), quiet)

    with thread_lock("t1"), pytest.raises(Problem) as problem:
        await delete_thread("t1")

    assert problem.value.code == "run_in_progress"
    assert len(await list_recent_runs(ME)) == 1


@pytest.mark.parametrize(("of", "after"), [(("succeeded",), "cancelled"), (("running",), None)])
async def test_how_a_run_stands_is_written_into_its_state_which_stays_where_it_is(
    thread: ThreadSession, choices: dict[str, object], of: tuple[str, ...], after: str | None
):
    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state
    before = await thread.current()

    await save_run_status("t1", "cancelled", of=of)

    left = await thread.current()
    assert left.values["status"] == (after or state["status"])
    assert (left.next, left.config) == (before.next, before.config)
    assert left.values["report"] == state["report"]
