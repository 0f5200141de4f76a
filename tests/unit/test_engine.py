"""Opening the one database: what it promises, and what it says when it cannot be opened."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import event, func, insert, select, text

from config.errors import Problem
from config.settings import settings
from storage import engine
from storage.engine import close, database, reading, writing
from storage.tables import SCHEMA, events, metadata, schema

ROOT = Path(__file__).parents[2]

WRITE_200 = """
import asyncio, sys
from sqlalchemy import insert
from storage.engine import close, writing
from storage.tables import events

async def main():
    for number in range(200):
        row = {"owner": sys.argv[1], "run": "r", "name": "n", "data": str(number), "at": 0.0}
        async with writing() as connection:
            await connection.execute(insert(events), row)
    await close()

asyncio.run(main())
"""

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def file(home: Path) -> Path:
    """Where the database lies."""
    home.mkdir(parents=True)
    return home / "dossier.db"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make SQLite give up at once when the database is locked."""
    real = engine._settle

    def settle(connection: object, record: object) -> None:
        real(connection, record)
        connection.execute("PRAGMA busy_timeout=50")  # type: ignore[attr-defined]

    monkeypatch.setattr(engine, "_settle", settle)


async def refused() -> Problem:
    with pytest.raises(Problem) as failure:
        await database()
    return failure.value


def an_event(number: int = 0) -> dict[str, object]:
    return {"owner": "me/", "run": "t1-1", "name": "kept", "data": str(number), "at": 0.0}


async def test_all_tables_are_made_at_the_first_opening():
    async with reading() as connection:
        found = await connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))
        names = set(found.scalars())
        version = (await connection.execute(select(schema.c.version))).scalar()

    assert {*metadata.tables, "page_words"} <= names
    assert version == SCHEMA


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
async def test_every_connection_is_durable(pragma: str, value: object):
    async with reading() as first, reading() as second:
        told = [(await one.execute(text(f"PRAGMA {pragma}"))).scalar() for one in (first, second)]

    assert told == [value, value]


async def test_what_was_written_is_there_after_opening_again():
    async with writing() as connection:
        await connection.execute(insert(events), an_event())
    await close()

    async with reading() as connection:
        assert (await connection.execute(select(func.count()).select_from(events))).scalar() == 1


async def test_a_block_that_fails_writes_nothing():
    with pytest.raises(ZeroDivisionError):
        async with writing() as connection:
            await connection.execute(insert(events), an_event())
            raise ZeroDivisionError

    async with reading() as connection:
        assert (await connection.execute(select(func.count()).select_from(events))).scalar() == 0


async def test_reading_starts_no_transaction_that_writes():
    began = []
    event.listen((await database()).sync_engine, "before_cursor_execute", lambda *a: began.append(a[2]))

    async with reading() as connection:
        await connection.execute(select(events))

    assert not [statement for statement in began if "IMMEDIATE" in statement]


async def test_a_database_of_a_newer_program_is_refused_and_left_as_it_is(file: Path):
    with sqlite3.connect(file) as newer:
        newer.execute("PRAGMA journal_mode=WAL")
        newer.execute("CREATE TABLE schema (version INTEGER PRIMARY KEY)")
        newer.execute("INSERT INTO schema VALUES (?)", (SCHEMA + 1,))
    newer.close()
    before = file.read_bytes()

    problem = await refused()
    await close()

    assert (problem.code, problem.exit_status) == ("schema_newer", 2)
    assert f"version {SCHEMA + 1}" in problem.what
    assert file.read_bytes() == before


@pytest.mark.parametrize("data", [b"this is no database " * 400, b"SQLite format 3\x00" + b"\xff" * 9000])
async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(file: Path, data: bytes):
    file.write_bytes(data)

    problem = await refused()

    assert (problem.code, problem.exit_status) == ("storage_corrupt", 2)
    assert problem.where.endswith("dossier.db")
    assert file.read_bytes() == data


async def test_a_cut_off_database_is_refused_and_left_as_it_is(file: Path):
    await database()
    await close()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 3])

    with pytest.raises(Problem) as failure:
        async with reading() as connection:
            await connection.execute(text("PRAGMA integrity_check"))
            await connection.execute(select(events))

    assert failure.value.code == "storage_corrupt"


async def test_a_home_that_is_a_file_is_told(home: Path):
    home.write_text("I was here first")

    problem = await refused()

    assert (problem.code, problem.exit_status) == ("storage_unavailable", 7)
    assert "DOSSIER_HOME" in problem.hint


async def test_a_database_that_is_a_folder_is_told(file: Path):
    file.mkdir()

    assert (await refused()).code == "storage_unavailable"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("mysql://root:secret@there/dossier", "storage_unavailable"),
        ("nonsense", "config_value"),
        pytest.param(
            "postgresql://me:secret@127.0.0.1:1/dossier",
            "storage_unavailable",
            marks=pytest.mark.skipif(not find_spec("psycopg"), reason="psycopg is not installed"),
        ),
    ],
)
async def test_a_url_that_cannot_be_used_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, code: str
):
    monkeypatch.setenv("DOSSIER_DATABASE_URL", url)

    problem = await refused()

    assert problem.code == code
    assert "secret" not in str(problem)


async def test_opening_works_again_once_the_cause_is_gone(home: Path):
    home.write_text("in the way")
    await refused()
    home.unlink()

    assert await database()


@pytest.mark.usefixtures("impatient")
async def test_a_database_that_another_process_holds_is_busy(file: Path):
    await database()
    with held(file):
        with pytest.raises(Problem) as failure:
            async with writing() as connection:
                await connection.execute(insert(events), an_event())

        async with reading() as connection:
            assert (await connection.execute(select(events))).all() == []

    assert (failure.value.code, failure.value.exit_status) == ("storage_busy", 5)


@pytest.mark.usefixtures("impatient")
async def test_a_database_that_is_held_while_it_is_opened_is_busy(file: Path):
    await database()
    await close()

    with held(file):
        assert (await refused()).code == "storage_busy"


async def test_two_processes_that_write_at_the_same_time_lose_nothing(home: Path):
    command = [sys.executable, "-c", WRITE_200]
    both = [await asyncio.create_subprocess_exec(*command, name, cwd=ROOT) for name in "ab"]
    assert [await process.wait() for process in both] == [0, 0]

    async with reading() as connection:
        rows = (await connection.execute(select(events.c.owner, events.c.data))).all()

    assert sorted(rows) == sorted((name, str(number)) for name in "ab" for number in range(200))


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Lock a database as a process that writes to it does."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
