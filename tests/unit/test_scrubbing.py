"""What was deleted is in no free page and in no log of the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from config.errors import Problem
from config.settings import settings
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from storage.engine import close_database
from storage.maintenance import BEYOND, purge_deleted_data

SECRET = b"nobody may read this"


def home() -> bytes:
    return b"".join(one.read_bytes() for one in settings().home.rglob("*") if one.is_file())


def litter(file: Path) -> None:
    """Write rows and delete them, as a program does that leaves what it deletes."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA secure_delete=OFF")
        connection.execute("CREATE TABLE litter (text)")
        connection.executemany("INSERT INTO litter VALUES (?)", [(SECRET.decode() * 50,)] * 50)
        connection.execute("DELETE FROM litter")


@pytest.mark.usefixtures("database")
async def test_free_pages_and_the_write_ahead_log_are_empty_afterwards():
    await add_fact("me/", NewFact("Likes tea"))
    litter(settings().home / "dossier.db")
    assert SECRET in home()

    assert await purge_deleted_data() == ""

    assert SECRET not in home()
    assert (settings().home / "dossier.db-wal").stat().st_size == 0


@pytest.mark.usefixtures("database")
async def test_who_reads_meanwhile_is_named_as_what_keeps_the_old_log():
    await add_fact("me/", NewFact("Likes tea"))
    with closing(sqlite3.connect(settings().home / "dossier.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM facts").fetchall()

        with pytest.raises(Problem, match="storage_busy"):
            await purge_deleted_data()


async def test_of_postgresql_it_is_said_what_cannot_be_promised(either: str):
    await add_fact("me/", NewFact("Likes tea"))

    assert await purge_deleted_data() == {"sqlite": "", "postgresql": BEYOND}[either]
    await close_database()
