"""Every run is known, and two processes never work on one thread."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from config.errors import Problem
from graph.context import Context
from graph.records import RunStatus
from runs.lifecycle import (
    check_thread_id,
    check_thread_owner,
    create_run,
    find_newest_run,
    find_run,
    list_recent_runs,
    mark_interrupted,
    set_report_dir,
    set_run_status,
)
from runs.lock import is_thread_locked, thread_lock
from tests.cases import each_case

ROOT = Path(__file__).parents[2]

HOLD = """
import time
from runs.lock import thread_lock

with thread_lock("t1"):
    print("held", flush=True)
    time.sleep(60)
"""

stored = pytest.mark.usefixtures("either")


async def begin(thread: str = "t1", turn: int = 1, owner: str = "local/", **choices: object) -> str:
    return await create_run(owner, thread, turn, f"Question {turn}?", Context(**choices))


@stored
async def test_a_run_is_known_from_its_first_moment():
    await begin(max_steps=2, style="蜜蜂")

    run = await find_run("local/", "t1-1")

    assert (run.id, run.thread, run.turn, run.owner) == ("t1-1", "t1", 1, "local/")
    assert (run.question, run.status, run.code, run.folder) == ("Question 1?", "running", "", "")
    assert run.context == {"max_steps": 2, "style": "蜜蜂"}


@stored
async def test_how_a_run_stands_is_written_down():
    run = await begin()
    before = await find_run("local/", run)
    await set_run_status("local/", run, "partial", code="budget_spent")
    await set_report_dir(run, "/reports/t1")
    await set_run_status("local/", run, "succeeded")

    after = await find_run("local/", run)

    assert (after.status, after.code, after.folder) == ("succeeded", "", "/reports/t1")
    assert after.created == before.created
    assert after.updated > before.updated


@stored
async def test_a_run_that_begins_again_after_a_crash_stays_one_run():
    await begin()
    await begin()

    assert len(await list_recent_runs("local/")) == 1


@stored
async def test_a_run_that_begins_again_keeps_when_it_was_asked_and_where_its_report_shall_go():
    await create_run("local/", "t1", 1, "Why?", Context(), "/tmp/out")
    first = await find_run("local/", "t1-1")

    await create_run("local/", "t1", 1, "Why?", Context())

    again = await find_run("local/", "t1-1")
    assert (again.created, again.out) == (first.created, "/tmp/out")


@stored
async def test_another_question_at_the_same_place_of_a_thread_is_another_run():
    names = [
        await create_run("local/", "t1", 1, f"{why}?", Context()) for why in ("a", "b", "c", "b")
    ]

    assert names == ["t1-1", "t1-1.2", "t1-1.3", "t1-1.2"]
    assert (await find_run("local/", "t1-1")).question == "a?"


@stored
async def test_the_newest_fork_is_found_whatever_the_clock_said(monkeypatch: pytest.MonkeyPatch):
    now = time.time()
    for number in range(1, 13):
        monkeypatch.setattr(time, "time", lambda number=number: now - 60 * number)
        await create_run("local/", "t1", 1, f"Question {number}?", Context())

    assert (await find_run("local/", "t1")).id == "t1-1.12"
    kept = await find_newest_run("local/", "t1")
    assert kept
    assert kept.question == "Question 12?"


@stored
async def test_a_new_question_ends_what_was_still_to_be_done_in_its_thread():
    await set_run_status("local/", await begin(turn=1), "succeeded")
    await set_run_status("local/", await begin(turn=2), "waiting_review")
    await set_run_status("local/", await begin("t2"), "waiting_review")
    await begin(turn=3)

    stands = {run.id: run.status for run in await list_recent_runs("local/")}
    assert stands == {
        "t1-1": "succeeded",
        "t1-2": "cancelled",
        "t2-1": "waiting_review",
        "t1-3": "running",
    }


@stored
async def test_a_thread_belongs_to_one_owner():
    await begin(owner="maya/")

    with pytest.raises(Problem) as problem:
        await begin(owner="local/", turn=2)

    assert problem.value.code == "thread_taken"
    assert await list_recent_runs("local/") == []


@stored
@pytest.mark.parametrize("status", ["running", "waiting_review", "succeeded"])
async def test_only_a_run_that_was_at_work_can_be_broken_off(status: RunStatus):
    run = await begin()
    await set_run_status("local/", run, status)
    await set_run_status("local/", await begin("t2"), "running")

    await mark_interrupted("local/", "t1", "cancelled")

    expected = "cancelled" if status == "running" else status
    assert (await find_run("local/", run)).status == expected
    assert (await find_run("local/", "t2-1")).status == "running"


@stored
async def test_a_thread_is_found_by_its_newest_run():
    for turn in (1, 2, 10):
        await begin(turn=turn)

    assert (await find_run("local/", "t1")).turn == 10
    assert (await find_run("local/", "t1-2")).turn == 2


@stored
async def test_a_run_is_found_before_a_thread_of_the_same_name():
    await begin("t1", 2)
    await begin("t1-2", 7)

    assert (await find_run("local/", "t1-2")).thread == "t1"
    assert (await find_run("local/", "t1-2-7")).thread == "t1-2"


@stored
async def test_the_newest_run_of_a_thread_is_its_owners():
    for turn in (1, 2):
        await begin(turn=turn)

    run = await find_newest_run("local/", "t1")

    assert run
    assert run.turn == 2
    assert await find_newest_run("maya/", "t1") is None
    assert await find_newest_run("local/", "t1-2") is None


@stored
async def test_where_a_report_lies_says_nothing_about_how_the_run_stands():
    run = await begin()
    await set_run_status("local/", run, "partial", code="budget_spent")
    await set_report_dir(run, "/reports/t1")

    after = await find_run("local/", run)

    assert (after.status, after.code, after.folder) == ("partial", "budget_spent", "/reports/t1")


@stored
async def test_runs_are_listed_newest_first_and_no_more_than_asked_for():
    for turn in range(1, 6):
        await begin(turn=turn)

    assert [run.turn for run in await list_recent_runs("local/", 3)] == [5, 4, 3]


@stored
async def test_another_persons_run_is_not_found_and_not_listed():
    await begin(owner="maya/")

    with pytest.raises(Problem) as hidden:
        await find_run("local/", "t1-1")
    with pytest.raises(Problem) as missing:
        await find_run("local/", "t2-1")

    assert (hidden.value.code, hidden.value.exit_status) == ("run_not_found", 4)
    assert str(hidden.value).replace("t1-1", "t2-1") == str(missing.value)
    assert await list_recent_runs("local/") == []


@pytest.mark.parametrize("name", ["t1", "a", "A-b_9", "0", "_", "x" * 64])
def test_a_thread_may_be_named_so(name: str):
    assert check_thread_id(name) == name


@each_case(
    [
        "",
        " ",
        "a b",
        "-a",
        "../x",
        "a/b",
        "a\\b",
        ".",
        "a.b",
        "x" * 65,
        "a\x00",
        "a\n",
        "ａ",
        "é",
        "蜜",
        "%2e",
    ]
)
def test_a_thread_may_not_be_named_so(name: str):
    with pytest.raises(Problem) as failure:
        check_thread_id(name)

    assert (failure.value.code, failure.value.exit_status) == ("bad_thread_id", 2)
    assert "\n" not in str(failure.value)


def test_a_held_thread_cannot_be_held_again():
    with thread_lock("t1"), pytest.raises(Problem) as failure, thread_lock("t1"):
        pass

    assert (failure.value.code, failure.value.exit_status) == ("run_in_progress", 5)


def test_a_home_that_may_not_be_written_is_told(home: Path):
    home.write_text("in the way")

    with pytest.raises(Problem) as failure, thread_lock("t1"):
        pass

    assert failure.value.code == "storage_unavailable"
    assert not is_thread_locked("t1")


def test_other_threads_are_free():
    with thread_lock("t1"), thread_lock("t2"):
        assert not is_thread_locked("t3")


def test_a_thread_is_free_again_when_the_work_ends_however_it_ends():
    with pytest.raises(ZeroDivisionError), thread_lock("t1"):
        raise ZeroDivisionError

    assert not is_thread_locked("t1")


async def test_a_thread_that_another_process_holds_is_held_until_that_process_dies():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert await process.stdout.readline() == b"held\n"

    with pytest.raises(Problem, match="run_in_progress"), thread_lock("t1"):
        pass
    assert is_thread_locked("t1")

    os.kill(process.pid, signal.SIGKILL)
    await process.wait()

    assert not is_thread_locked("t1")
    with thread_lock("t1"):
        assert is_thread_locked("t1")


@stored
async def test_nobody_says_how_a_run_of_another_owner_stands():
    run = await begin(owner="maya/")

    await set_run_status("willy/", run, "succeeded")
    await mark_interrupted("willy/", "t1", "failed")

    assert (await find_run("maya/", run)).status == "running"


@stored
async def test_a_thread_of_another_owner_is_refused_and_a_new_one_is_anybodys():
    await begin(owner="maya/")

    await check_thread_owner("willy/", "t2")
    await check_thread_owner("maya/", "t1")
    with pytest.raises(Problem) as problem:
        await check_thread_owner("willy/", "t1")

    assert problem.value.code == "thread_taken"
