"""Several processes on one page store: nothing is lost, doubled, half written or seen late."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from evals.durability import flaws, fresh, kill, together
from memory.pages.store import find
from storage.engine import read_rows
from storage.tables import schema
from storage.upgrades import SCHEMA

pytestmark = pytest.mark.usefixtures("either")

ROOT = Path(__file__).parents[2]

INGEST = """
import asyncio, sys
from pathlib import Path
from tools.ingest import ingest

async def main():
    for folder in sys.argv[1:]:
        await ingest("eval/", Path(folder), lambda _: None)

asyncio.run(main())
"""

OPEN = "import asyncio; from storage.engine import database; asyncio.run(database())"


async def test_processes_that_keep_pages_at_the_same_time_lose_none():
    assert await together(3, 20) == 60
    assert await flaws() == []


async def test_a_process_that_is_killed_leaves_the_store_intact_and_another_goes_on():
    _, kept = await kill(3, 20)

    assert kept == 20
    assert await flaws() == []


async def test_processes_that_read_the_same_folders_in_at_the_same_time_agree(tmp_path: Path):
    inner = tmp_path / "docs" / "inner"
    inner.mkdir(parents=True)
    for number in range(12):
        (inner / f"{number}.txt").write_text(f"Bees dance, says file {number}.")
    folders = [str(inner.parent), str(inner)]
    orders = [folders, folders[::-1], folders]
    command = [sys.executable, "-c", INGEST]
    running = [await asyncio.create_subprocess_exec(*command, *o, cwd=ROOT) for o in orders]

    assert [await process.wait() for process in running] == [0, 0, 0]
    assert await flaws() == []
    for folder in folders:
        assert len(await find("eval/", "bees dance", 20, [folder])) == 12


async def test_an_open_reader_finds_what_another_process_wrote_by_its_next_search():
    found, _ = await fresh(5)

    assert found == 5


@pytest.mark.bare
async def test_processes_that_make_a_new_database_at_the_same_time_all_succeed():
    command = [sys.executable, "-c", OPEN]
    opened = [await asyncio.create_subprocess_exec(*command, cwd=ROOT) for _ in range(3)]

    assert [await process.wait() for process in opened] == [0, 0, 0]
    assert list((await read_rows(select(schema.c.version))).scalars()) == [SCHEMA]
