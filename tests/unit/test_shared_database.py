"""What `dossier doctor` says of a database that several machines may use."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import text, update

from app.cli import shared_database
from app.cli.shared_database import describe_shared_database
from config.errors import ErrorCode, Problem
from runs.checkpointer import open_checkpointer
from runs.lock import thread_lock
from storage.engine import run_write
from storage.tables import leases
from tests.places import new_process

on_postgresql = pytest.mark.parametrize("either", ["postgresql"], indirect=True)


async def test_a_home_of_its_own_is_told(home: object):
    assert (await describe_shared_database()).startswith("none: everything is in the home")


@on_postgresql
@pytest.mark.usefixtures("either")
async def test_what_other_machines_see_is_told(monkeypatch: pytest.MonkeyPatch):
    async with open_checkpointer():
        with thread_lock("t1"), thread_lock("t2"):
            gone = update(leases).where(leases.c.name == "t2").values(expires=1.0)
            await run_write(lambda connection: connection.execute(gone))
            said = await describe_shared_database()
    monkeypatch.setenv("DOSSIER_FILES_URL", "memory://dossier")
    monkeypatch.setenv("DOSSIER_CHROMA_URL", "http://127.0.0.1:1")
    new_process()
    shared = await describe_shared_database()

    assert "1 thread is at work, and 1 thread of processes that are gone can be resumed" in said
    assert "in the home, where no other machine finds them (DOSSIER_FILES_URL" in said
    assert "compared in memory (DOSSIER_CHROMA_URL" in said
    assert "connections are free, 10 for each process" in said
    assert "uploads and tables are in memory://dossier" in shared
    assert "vectors are in http://127.0.0.1:1" in shared
    assert "0 threads are at work" in shared


@on_postgresql
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(("shift", "way"), [(-60, "behind"), (60, "ahead of")])
async def test_a_clock_that_is_wrong_is_told(
    monkeypatch: pytest.MonkeyPatch, shift: float, way: str
):
    await describe_shared_database()
    now = time.time
    monkeypatch.setattr(shared_database.time, "time", lambda: now() + shift)

    with pytest.raises(Problem, match=f"60 s {way} that of the database") as raised:
        await describe_shared_database()

    assert raised.value.error == ErrorCode.CLOCK_WRONG


@on_postgresql
@pytest.mark.usefixtures("either")
async def test_a_server_without_free_connections_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_DATABASE_CONNECTIONS", "5000")
    new_process()

    with pytest.raises(Problem, match="connections are free, and a process opens up to 5000"):
        await describe_shared_database()


@pytest.mark.bare
@on_postgresql
@pytest.mark.usefixtures("either")
async def test_checkpoints_of_a_newer_program_are_told():
    async with open_checkpointer():
        newer = text("INSERT INTO checkpoint_migrations (v) VALUES (99)")
        await run_write(lambda connection: connection.execute(newer))

        with pytest.raises(Problem, match="the checkpoints have version 99") as raised:
            await describe_shared_database()

    assert raised.value.error == ErrorCode.SCHEMA_NEWER
