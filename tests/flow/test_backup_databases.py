"""A backup is restored on PostgreSQL as on SQLite, and from each of them on the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from graph.session import open_session
from library.page_retrieval import find_pages
from privacy.backup import NOT_KEPT, write_backup
from privacy.restore import restore_backup
from runs.call_site import join_owner
from storage.engine import close_database, run_read
from storage.tables import metadata
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

ME = join_owner("local", "")


async def _rows() -> dict[str, Any]:
    def read(connection: Any) -> dict[str, Any]:
        return {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in metadata.tables.items()
            if name not in NOT_KEPT
        }

    return await run_read(read)


@pytest.mark.parametrize(
    ("first", "second"),
    [("postgresql", "postgresql"), ("sqlite", "postgresql"), ("postgresql", "sqlite")],
)
async def test_a_backup_moves_between_databases(
    first: str,
    second: str,
    choices: dict[str, object],
    script: Script,
    home: Path,
    tmp_path: Path,
    postgres: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
):
    script.on("Draft", draft("waggle dance"))
    urls = {"sqlite": "", "postgresql": postgres}
    source = request.getfixturevalue("emptied_tables") if first == second else urls[first]
    await _move(home, source, monkeypatch)
    folder = choices["files"][0]  # type: ignore[index]
    await ingest_folder(ME, Path(folder), lambda _: None)
    reviewed = make(choices, auto_accept=False)
    async with open_session("t1") as session:
        await session.begin("How do bees dance?", reviewed, quiet)
    await write_backup(tmp_path / "all.backup")
    rows, found = await _rows(), await find_pages(ME, "winter cluster honey", 3)

    await _move(tmp_path / "other", urls[second], monkeypatch)
    await restore_backup(tmp_path / "all.backup")

    assert await _rows() == rows
    assert await find_pages(ME, "winter cluster honey", 3) == found
    assert found
    async with open_session("t1") as session:
        outcome = await session.answer_review({"type": "approve"}, reviewed, quiet)
    assert outcome.state["status"] == "succeeded"
    # Numbers go on behind those that were given.
    (tmp_path / "bees/new.md").write_text("# Wax\n\nWax is made by young bees.")
    await ingest_folder(ME, Path(folder), lambda _: None)
    assert await find_pages(ME, "wax young bees", 1)


async def _move(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await close_database()
    monkeypatch.setenv("DOSSIER_HOME", str(home))
    monkeypatch.setenv("DOSSIER_DATABASE_URL", url)
    new_process()
