"""The one database, opened: what it promises."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event, func, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from config.errors import Problem
from storage import engine
from storage.connect import begin_transaction, create_database_engine
from storage.engine import close_database, commit_statements, get_engine, read_rows, run_write
from storage.tables import events, metadata, schema
from storage.upgrades import SCHEMA_VERSION
from tests.places import new_process

ROOT = Path(__file__).parents[2]

WRITE_200 = """
import asyncio, sys
from sqlalchemy import insert
from storage import engine
from storage.connect import begin_transaction, create_database_engine
from storage.engine import close_database, read_rows
from storage.engine import commit_statements
from storage.tables import events

async def main():
    for number in range(200):
        row = {"owner": sys.argv[1], "run": "r", "name": "n", "after": str(number), "at": 0.0}
        await commit_statements((insert(events), row))
    await close_database()

asyncio.run(main())
"""

pytestmark = pytest.mark.usefixtures("database")


def an_event(**more: object) -> dict[str, object]:
    return {"owner": "me/", "run": "t1-1", "name": "kept", "after": "", "at": 0.0} | more


async def put(row: dict[str, object]) -> None:
    await commit_statements((insert(events), row))


async def test_all_tables_are_made_at_the_first_opening():
    names = set((await read_rows(text("SELECT name FROM sqlite_master"))).scalars())
    version = (await read_rows(select(schema.c.version))).scalar()

    assert {*metadata.tables, "page_words"} <= names
    assert version == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
async def test_every_connection_is_durable(pragma: str, value: object):
    with (await get_engine()).connect() as first, (await get_engine()).connect() as second:
        told = [one.execute(text(f"PRAGMA {pragma}")).scalar() for one in (first, second)]

    assert told == [value, value]


async def test_what_was_written_is_there_after_opening_again():
    await put(an_event())
    await close_database()

    assert (await read_rows(select(func.count()).select_from(events))).scalar() == 1


async def test_a_block_that_fails_writes_nothing():
    def fail(connection: Connection) -> None:
        connection.execute(insert(events), an_event())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_write(fail)

    assert (await read_rows(select(func.count()).select_from(events))).scalar() == 0


class Deadlock(Exception):
    """What PostgreSQL says to one of two transactions that wait for each other."""

    sqlstate = "40P01"


def deadlocked(times: int, called: list[int]) -> Callable[[Connection], str]:
    """Return work that waits for another transaction so many times, and notes each call."""

    def work(_: Connection) -> str:
        called.append(1)
        if len(called) <= times:
            raise OperationalError("", {}, Deadlock())
        return "done"

    return work


async def test_a_transaction_that_another_one_waits_for_is_tried_up_to_five_times():
    called: list[int] = []

    assert await run_write(deadlocked(4, called)) == "done"
    assert len(called) == 5


async def test_a_transaction_is_given_up_when_others_wait_for_it_again_and_again():
    called: list[int] = []

    with pytest.raises(Problem) as failure:
        await run_write(deadlocked(9, called))

    assert (failure.value.code, len(called)) == ("storage_unavailable", 5)


async def test_a_transaction_that_fails_otherwise_is_not_tried_again():
    called: list[int] = []

    def fail(_: Connection) -> None:
        called.append(1)
        raise IntegrityError("", {}, ValueError())

    with pytest.raises(IntegrityError):
        await run_write(fail)

    assert len(called) == 1


async def test_reading_starts_no_transaction_that_writes():
    said: list[str] = []
    before = "before_cursor_execute"
    event.listen(await get_engine(), before, lambda *told: said.append(told[2]))

    await read_rows(select(events))

    assert said
    assert not [statement for statement in said if "IMMEDIATE" in statement]


async def test_a_mistake_in_a_statement_stays_what_it_is():
    await put(an_event(id=1))

    with pytest.raises(IntegrityError):
        await put(an_event(id=1))


async def test_what_is_up_to_date_is_opened_without_a_look_at_each_table_and_while_others_write():
    await get_engine()
    await close_database()
    other = await get_engine()
    with other.begin() as writing:
        begin_transaction(writing, writes=True)
        said: list[str] = []
        new_process()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                engine,
                "create_database_engine",
                lambda url: _listened(create_database_engine(url), said),
            )
            assert (await read_rows(select(func.count()).select_from(events))).scalar() == 0
    other.dispose()

    assert len([one for one in said if one != "BEGIN"]) < 5
    assert not any("IMMEDIATE" in one for one in said)


def _listened(made: Engine, said: list[str]) -> Engine:
    event.listen(made, "before_cursor_execute", lambda *args: said.append(args[2]))
    return made


async def test_a_table_that_is_missing_is_made_at_the_next_opening():
    await run_write(lambda connection: connection.execute(text("DROP TABLE meanings")))
    await close_database()

    assert (await read_rows(text("SELECT COUNT(*) FROM meanings"))).scalar() == 0


async def test_two_processes_that_write_at_the_same_time_lose_nothing(home):
    command = [sys.executable, "-c", WRITE_200]
    both = [await asyncio.create_subprocess_exec(*command, name, cwd=ROOT) for name in "ab"]
    assert [await process.wait() for process in both] == [0, 0]

    rows = (await read_rows(select(events.c.owner, events.c.after))).all()

    assert sorted(rows) == sorted((name, str(number)) for name in "ab" for number in range(200))
