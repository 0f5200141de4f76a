"""The one database, when it cannot be opened or fails: what a person is told."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import insert, select, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from config.errors import Problem
from storage import connect
from storage.engine import (
    close_database,
    commit_statements,
    get_engine,
    read_rows,
    run_write,
    to_database_problem,
)
from storage.permissions import is_read_only
from storage.tables import events
from storage.upgrades import SCHEMA_VERSION

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def file(home: Path) -> Path:
    """Where the database lies."""
    home.mkdir(parents=True)
    return home / "dossier.db"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make SQLite give up at once when the database is locked."""
    settle(monkeypatch, "busy_timeout=50")


def settle(monkeypatch: pytest.MonkeyPatch, pragma: str) -> None:
    """Set one thing more on every connection."""
    usual = connect._configure_sqlite

    def also(connection: Any, record: Any) -> None:
        usual(connection, record)
        connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr(connect, "_configure_sqlite", also)


async def refused() -> Problem:
    with pytest.raises(Problem) as failure:
        await get_engine()
    return failure.value


def an_event(**more: object) -> dict[str, object]:
    return {"owner": "me/", "run": "t1-1", "name": "kept", "after": "", "at": 0.0} | more


async def put(row: dict[str, object]) -> None:
    await commit_statements((insert(events), row))


async def test_a_database_of_a_newer_program_is_refused_and_left_as_it_is(file):
    with sqlite3.connect(file) as newer:
        newer.execute("PRAGMA journal_mode=WAL")
        newer.execute("CREATE TABLE schema (version INTEGER PRIMARY KEY)")
        newer.execute("INSERT INTO schema VALUES (?)", (SCHEMA_VERSION + 1,))
    newer.close()
    before = file.read_bytes()

    problem = await refused()
    await close_database()

    assert (problem.code, problem.exit_status) == ("schema_newer", 7)
    assert f"version {SCHEMA_VERSION + 1}" in problem.what
    assert file.read_bytes() == before


@pytest.mark.parametrize("data", [b"no database " * 400, b"SQLite format 3\x00" + b"\xff" * 9000])
async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(file, data: bytes):
    file.write_bytes(data)

    problem = await refused()

    assert (problem.code, problem.exit_status) == ("storage_corrupt", 7)
    assert problem.where.endswith("dossier.db")
    assert file.read_bytes() == data


async def test_a_cut_off_database_is_refused_and_left_as_it_is(file):
    await get_engine()
    await close_database()
    cut = file.read_bytes()[:20_000]
    file.write_bytes(cut)

    problem = await refused()

    assert problem.code == "storage_corrupt"
    assert file.read_bytes() == cut


async def test_a_home_that_is_a_file_is_told(home):
    home.write_text("I was here first")

    problem = await refused()

    assert (problem.code, problem.exit_status) == ("storage_unavailable", 7)
    assert "DOSSIER_HOME" in problem.hint


async def test_a_database_that_is_a_folder_is_told(file):
    file.mkdir()

    assert (await refused()).code == "storage_unavailable"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("mysql://root:secret@there/dossier", "storage_unavailable"),
        ("nonsense", "config_value"),
        ("postgresql://me:secret@127.0.0.1:1/dossier", "storage_unavailable"),
    ],
)
async def test_a_url_that_cannot_be_used_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, code: str
):
    monkeypatch.setenv("DOSSIER_DATABASE_URL", url)

    problem = await refused()

    assert problem.code == code
    assert "secret" not in str(problem)


def test_a_server_that_fails_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_DATABASE_URL", "postgresql://me:secret@there/dossier")

    problem = to_database_problem(
        OperationalError("SELECT 1", {}, Exception("server closed the connection"))
    )

    assert isinstance(problem, Problem)
    assert problem.code == "storage_unavailable"
    assert problem.where == "postgresql://me:***@there/dossier"


@pytest.mark.parametrize(
    "error", [errors.DuplicatePreparedStatement(), errors.InvalidSqlStatementName()]
)
def test_a_pooler_that_mixes_sessions_is_told_as_such(error: psycopg.Error):
    problem = to_database_problem(ProgrammingError("SELECT 1", {}, error))

    assert isinstance(problem, Problem)
    assert problem.code == "storage_unavailable"
    assert "pool_mode = session" in problem.hint


async def test_opening_works_again_once_the_cause_is_gone(home):
    home.write_text("in the way")
    await refused()
    home.unlink()

    assert await get_engine()


@pytest.mark.usefixtures("impatient")
async def test_a_database_that_another_process_holds_is_busy(file):
    await get_engine()
    with held(file):
        with pytest.raises(Problem) as failure:
            await put(an_event())

        assert (await read_rows(select(events))).all() == []

    assert (failure.value.code, failure.value.exit_status) == ("storage_busy", 5)


@pytest.mark.usefixtures("impatient")
async def test_a_database_that_is_held_while_a_table_is_to_be_made_is_busy(file):
    await get_engine()
    await run_write(lambda connection: connection.execute(text("DROP TABLE meanings")))
    await close_database()

    with held(file):
        assert (await refused()).code == "storage_busy"


@pytest.mark.usefixtures("impatient")
async def test_a_database_that_lacks_nothing_is_read_while_it_is_held(file):
    await get_engine()
    await close_database()

    with held(file):
        assert (await read_rows(select(events))).all() == []


async def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch):
    settle(monkeypatch, "max_page_count=400")

    with pytest.raises(Problem) as failure:
        await put(an_event(after="x" * 5_000_000))
    await put(an_event())

    assert (failure.value.code, failure.value.exit_status) == ("storage_full", 7)


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Lock a database as a process that writes to it does."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_file_that_another_run_makes_meanwhile_is_not_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "checkpoints.db"
    real = os.access

    def access(path: Path, mode: int) -> bool:
        found = real(path, mode)
        file.touch()
        return found

    monkeypatch.setattr(os, "access", access)

    assert not is_read_only(file)
