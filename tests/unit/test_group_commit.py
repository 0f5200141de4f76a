"""Group commit: many writes, few waits for the disk, and no promise that is not kept."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from config.errors import Problem
from library.tables import sources
from storage import connect, engine
from storage.engine import (
    GroupCommit,
    close_database,
    commit_statements,
    get_engine,
    read_rows,
    write_in_group,
    write_with_next_group,
)
from storage.tables import events

pytestmark = pytest.mark.usefixtures("database")

on_both = pytest.mark.usefixtures("either")

ROOT = Path(__file__).parents[2]

WRITE_FOR_EVER = """
import asyncio
from itertools import count
from sqlalchemy import insert
from storage.engine import commit_statements
from storage.tables import events

async def write(name):
    for number in count():
        data = f"{name}-{number}"
        row = {"owner": "me", "run": "r", "name": "n", "after": data, "at": 0.0}
        await commit_statements((insert(events), row))
        print(data, flush=True)

async def main():
    await asyncio.gather(*(write(name) for name in "abcd"))

asyncio.run(main())
"""


def numbered(number: int, thread: str = "t1") -> dict[str, Any]:
    return {"thread": thread, "page": f"p{number}", "number": number}


async def written() -> list[int]:
    found = await read_rows(select(sources.c.number).order_by(sources.c.number))
    return list(found.scalars())


@pytest.fixture
async def commits(either: str) -> list[int]:
    """One entry for each transaction that is committed."""
    seen: list[int] = []
    event.listen(await get_engine(), "commit", lambda _: seen.append(1))
    return seen


@on_both
async def test_fifty_writes_at_the_same_moment_share_a_few_commits(commits: list[int]):
    await asyncio.gather(
        *(commit_statements((insert(sources), numbered(number))) for number in range(50))
    )

    assert await written() == list(range(50))
    assert len(commits) <= 3


@on_both
async def test_a_function_writes_all_or_nothing_and_what_it_reads_is_what_it_wrote():
    def work(connection: Connection) -> None:
        connection.execute(insert(sources), numbered(1))
        seen.append(connection.execute(select(func.count()).select_from(sources)).scalar_one())

    def fail(connection: Connection) -> None:
        connection.execute(insert(sources), numbered(2))
        raise ZeroDivisionError

    seen: list[int] = []
    results = await asyncio.gather(
        write_in_group(work), write_in_group(fail), return_exceptions=True
    )

    assert [type(result) for result in results] == [type(None), ZeroDivisionError]
    assert await written() == [1]
    assert seen[-1] == 1


async def test_writes_one_after_the_other_are_committed_one_by_one(commits: list[int]):
    for number in range(3):
        await commit_statements((insert(sources), numbered(number)))
        assert await written() == list(range(number + 1))

    assert len(commits) == 3


def keeping(number: int) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        connection.execute(insert(sources), numbered(number))

    return work


@on_both
async def test_what_nobody_waits_for_is_written_with_the_next_write(commits: list[int]):
    write_with_next_group(keeping(1))
    write_with_next_group(keeping(2))
    await asyncio.sleep(0)
    assert await written() == []

    await write_in_group(keeping(3))

    assert await written() == [1, 2, 3]
    assert len(commits) == 1


async def test_what_nobody_waits_for_is_written_soon_without_another_write(monkeypatch):
    monkeypatch.setattr(engine, "DEFERRED_SECONDS", 0.01)
    write_with_next_group(keeping(1))

    for _ in range(500):
        if await written():
            break
        await asyncio.sleep(0.01)

    assert await written() == [1]


async def test_what_nobody_waits_for_is_written_at_the_end():
    group = GroupCommit()
    group.defer(keeping(1))

    await group.finish()

    assert await written() == [1]


@on_both
async def test_an_entry_that_fails_does_not_harm_the_others():
    await commit_statements((insert(sources), numbered(3)))

    entries = [commit_statements((insert(sources), numbered(number))) for number in range(6)]
    results = await asyncio.gather(*entries, return_exceptions=True)

    assert [type(result) for result in results[3:4]] == [IntegrityError]
    assert [*results[:3], *results[4:]] == [None] * 5
    assert await written() == list(range(6))


@pytest.mark.parametrize("value", ["\ud800", 10**30])
async def test_a_value_the_database_cannot_hold_fails_and_nobody_waits_for_ever(value: object):
    row = numbered(1) | {"page" if isinstance(value, str) else "number": value}

    entries = [
        commit_statements((insert(sources), row)),
        commit_statements((insert(sources), numbered(2))),
    ]
    async with asyncio.timeout(5):
        results = await asyncio.gather(*entries, return_exceptions=True)

    assert isinstance(results[0], (ValueError, ArithmeticError))
    assert await written() == [2]


@on_both
async def test_the_statements_of_an_entry_have_an_effect_together_or_not_at_all():
    with pytest.raises(IntegrityError):
        await commit_statements((insert(sources), numbered(1)), (insert(sources), numbered(1)))

    assert await written() == []


async def test_what_one_disk_cannot_hold_is_told_to_everyone_who_shares_the_commit(
    monkeypatch: pytest.MonkeyPatch,
):
    await get_engine()
    await close_database()
    settle = connect._configure_sqlite

    def small(connection: Any, record: Any) -> None:
        settle(connection, record)
        connection.execute("PRAGMA max_page_count=400")

    monkeypatch.setattr(connect, "_configure_sqlite", small)
    big = {"owner": "me", "run": "r", "name": "n", "after": "x" * 5_000_000, "at": 0.0}

    entries = [
        commit_statements((insert(sources), numbered(1))),
        commit_statements((insert(events), big)),
    ]
    results = await asyncio.gather(*entries, return_exceptions=True)

    assert [getattr(result, "code", None) for result in results] == ["storage_full"] * 2
    assert await written() == []


async def test_a_database_that_cannot_be_opened_is_told_and_nobody_waits_for_ever(home):
    home.write_text("in the way")

    async with asyncio.timeout(5):
        with pytest.raises(Problem) as failure:
            await commit_statements((insert(sources), numbered(1)))

    assert failure.value.code == "storage_unavailable"


async def test_who_is_cancelled_while_waiting_has_still_written():
    task = asyncio.create_task(commit_statements((insert(sources), numbered(1))))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    await commit_statements((insert(sources), numbered(2)))

    assert await written() == [1, 2]


async def test_after_a_failure_the_next_write_works():
    with pytest.raises(Exception, match="no such table"):
        await commit_statements((text("INSERT INTO nowhere VALUES (1)"), None))

    await commit_statements((insert(sources), numbered(1)))

    assert await written() == [1]


async def test_what_commit_returned_from_survives_a_killed_process(home):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITE_FOR_EVER, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    told = [await process.stdout.readline() for _ in range(100)]
    os.kill(process.pid, signal.SIGKILL)
    told += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()

    kept = set((await read_rows(select(events.c.after))).scalars())
    sound = (await read_rows(text("PRAGMA integrity_check"))).scalar()

    assert {line.decode().strip() for line in told if line.endswith(b"\n")} <= kept
    assert sound == "ok"
