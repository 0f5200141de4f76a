"""Several processes on one page store: nothing is lost, doubled, half written or seen late."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from config.settings import settings
from library.page_retrieval import find_pages
from storage.engine import read_rows
from storage.tables import schema
from storage.upgrades import SCHEMA_VERSION
from tests.faults.page_writer import find_flaws, fresh, kill_writer, write_together
from tests.integration.command import Forks, Place, Running

pytestmark = pytest.mark.usefixtures("either")


def started(forks: Forks, folder: Path, commands: list[list[str]]) -> list[Running]:
    """Start commands on the database of the test, all at once."""
    place, usual = Place(folder), settings()
    where = {"DOSSIER_HOME": str(usual.home), "DOSSIER_DATABASE_URL": usual.database}
    return [forks.start(place, *words, **where) for words in commands]


async def test_processes_that_keep_pages_at_the_same_time_lose_none():
    assert await write_together(3, 20) == 60
    assert await find_flaws() == []


async def test_a_process_that_is_killed_leaves_the_store_intact_and_another_goes_on():
    _, kept = await kill_writer(3, 20)

    assert kept == 20
    assert await find_flaws() == []


async def test_processes_that_read_the_same_folders_in_at_the_same_time_agree(
    forks: Forks, tmp_path: Path
):
    inner = tmp_path / "docs" / "inner"
    inner.mkdir(parents=True)
    for number in range(12):
        (inner / f"{number}.txt").write_text(f"Bees dance, says file {number}.")
    folders = [str(inner.parent), str(inner)]
    orders = [folders, folders[::-1], folders]
    running = started(forks, tmp_path / "place", [["ingest", *order] for order in orders])

    assert [one.ended().status for one in running] == [0, 0, 0]
    assert await find_flaws() == []
    for folder in folders:
        assert len(await find_pages("local/", "bees dance", 20, [folder])) == 12


async def test_an_open_reader_finds_what_another_process_wrote_by_its_next_search():
    found, _ = await fresh(5)

    assert found == 5


@pytest.mark.bare
async def test_processes_that_make_a_new_database_at_the_same_time_all_succeed(
    forks: Forks, tmp_path: Path
):
    opened = started(forks, tmp_path / "place", [["memory", "list"]] * 3)

    assert [one.ended().status for one in opened] == [0, 0, 0]
    assert list((await read_rows(select(schema.c.version))).scalars()) == [SCHEMA_VERSION]
