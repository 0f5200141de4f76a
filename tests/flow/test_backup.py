"""A backup is all that is stored; a restore of it equals the original, or nothing is restored."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from config.errors import Problem
from graph.session import ThreadSession, open_session
from library.documents import list_stored_files
from library.page_retrieval import find_pages
from library.scope import list_namespaces
from library.tables import vector_sets, vectors
from privacy import backup as backup_module
from privacy import restore as restore_module
from privacy.backup import NOT_KEPT, write_backup
from privacy.restore import check_backup, restore_backup
from runs.call_site import join_owner
from storage.engine import close_database, run_read, run_write
from storage.file_store import file_store
from storage.table_rows import find_last_number
from storage.tables import metadata
from storage.upgrades import SCHEMA_VERSION
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

ME = join_owner("local", "")

MCP = '{"mcpServers": {"tracker": {"command": "tracker", "env": {"KEY": "%s"}}}}'


@pytest.fixture
async def backup(
    thread: ThreadSession, choices: dict[str, object], script: Script, home: Path, tmp_path: Path
) -> Path:
    """A backup of a home with a run that waits for its review, memory files, files and vectors."""
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees dance?", make(choices, auto_accept=False), quiet)
    (home / "AGENTS.md").write_text("Answer in metres.\n")
    (home / "users/ada").mkdir(parents=True)
    (home / "users/ada/AGENTS.md").write_bytes(b"Answer in \xff feet.\n")
    (home / "mcp.json").write_text(MCP % "${TRACKER_KEY}")
    (home / ".env").write_text("OPENAI_API_KEY=sk-secret-of-the-home\n")
    (home / "server-token").write_text("token-of-the-server")
    file_store().write("uploads/t1/hash/berths.csv", b"berth,depth\nNorth,7\n")
    file_store().write("reports/t0-1/report.md", b"# Bees\n")
    await run_write(_add_vector)
    file = tmp_path / "all.backup"
    await write_backup(file)
    return file


def _add_vector(connection: Any) -> None:
    row = {"namespace": 1, "embedder": "hash:8", "whole": 1}
    connection.execute(insert(vector_sets).values(**row))
    connection.execute(insert(vectors).values(set=1, page=1, vector=b"\x00\xff\n'"))


async def stored(home: Path) -> dict[str, Any]:
    """Everything that is stored in a home: rows, last numbers, checkpoints, files."""
    await close_database()

    def read(connection: Any) -> dict[str, Any]:
        rows = {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in metadata.tables.items()
            if name not in NOT_KEPT
        }
        last = {name: find_last_number(connection, metadata.tables[name]) for name in rows}
        return rows | {"last": last}

    kept = await run_read(read)
    kept["checkpoints"] = _checkpoints(home / "checkpoints.db")
    named = ["AGENTS.md", "users/ada/AGENTS.md", "mcp.json"]
    traces = [one.relative_to(home).as_posix() for one in sorted((home / "traces").glob("*"))]
    return kept | {name: (home / name).read_bytes() for name in [*named, *traces]}


def _checkpoints(file: Path) -> dict[str, Any]:
    with sqlite3.connect(file) as opened:
        names = ("checkpoints", "writes", "blobs")
        return {one: sorted(opened.execute(f"SELECT * FROM {one}"), key=repr) for one in names}  # noqa: S608


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Move into an empty home."""

    def move() -> Path:
        other = tmp_path / "other"
        monkeypatch.setenv("DOSSIER_HOME", str(other))
        new_process()
        return other

    return move


async def test_a_restored_home_equals_the_original(
    backup: Path, home: Path, elsewhere: Callable[[], Path]
):
    original = await stored(home)
    await close_database()
    other = elsewhere()

    manifest = await restore_backup(backup)

    assert await stored(other) == original
    assert original["pages"]
    assert original["checkpoints"]["writes"]
    assert any(name.startswith("traces/") for name in original)
    assert file_store().read("uploads/t1/hash/berths.csv") == b"berth,depth\nNorth,7\n"
    assert file_store().read("reports/t0-1/report.md") == b"# Bees\n"
    assert sum(one.rows for one in manifest.tables) == sum(
        len(rows) for name, rows in original.items() if name in metadata.tables
    )


async def test_files_are_found_where_they_are_after_a_restore(
    home: Path, tmp_path: Path, elsewhere: Callable[[], Path]
):
    address = file_store().address("uploads/t1/hash/bees.txt")
    file_store().write("uploads/t1/hash/bees.txt", b"Bees dance on the comb.\n")
    nearby = tmp_path / "home-of-bees" / "uploads"
    nearby.mkdir(parents=True)
    (nearby / "comb.txt").write_text("The comb hangs in the dark.\n")
    for folder in (Path(address).parent, nearby):
        await ingest_folder(ME, folder, str)
    await write_backup(tmp_path / "moved.backup")
    await close_database()
    other = elsewhere()
    await restore_backup(tmp_path / "moved.backup")

    moved = file_store().address("uploads/t1/hash/bees.txt")
    listed = [one.path for one in await list_stored_files(ME, [str(Path(moved).parent)])]
    beside = [one.path for one in await list_stored_files(ME, [str(nearby)])]
    assert moved.startswith(str(other))
    assert listed == [moved]
    assert beside == [str(nearby / "comb.txt")]
    for folder in (Path(moved).parent, nearby):
        assert await find_pages(ME, "bees comb", 5, [str(folder)])
    file_store().write("uploads/t1/hash/wasps.txt", b"Wasps chew wood.\n")
    await ingest_folder(ME, Path(moved).parent, str)
    groups = [one.group for one in await list_namespaces(ME) if one.group]
    assert sorted(groups) == sorted([str(Path(moved).parent), str(nearby)])


async def test_searches_of_a_restored_home_find_the_same(
    backup: Path, elsewhere: Callable[[], Path]
):
    queries = ["waggle dance", "winter cluster honey", "queen eggs"]
    found = [await find_pages(ME, one, 5) for one in queries]
    await close_database()
    elsewhere()
    await restore_backup(backup)

    assert [await find_pages(ME, one, 5) for one in queries] == found
    assert all(found)


async def test_a_review_that_waits_is_answered_in_the_restored_home(
    backup: Path, choices: dict[str, object], elsewhere: Callable[[], Path]
):
    await close_database()
    elsewhere()
    await restore_backup(backup)

    async with open_session("t1") as there:
        decision = {"type": "approve"}
        outcome = await there.answer_review(decision, make(choices, auto_accept=False), quiet)

    assert outcome.state["status"] == "succeeded"


async def test_no_key_is_in_a_backup(home: Path, backup: Path, tmp_path: Path):
    (home / "mcp.json").write_text(MCP % "written-in-clear")

    written = await write_backup(tmp_path / "second.backup")

    with zipfile.ZipFile(tmp_path / "second.backup") as archive:
        content = b"".join(map(archive.read, archive.namelist()))
    assert b"${TRACKER_KEY}" in content
    for key in (b"written-in-clear", b"sk-secret-of-the-home", b"token-of-the-server"):
        assert key not in content
    assert written.left_out == ["tracker: KEY"]
    assert b"dance" in content


async def test_what_is_written_during_a_backup_is_in_it_whole_or_not_at_all(
    home: Path, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A page is written when its table was read, and the table of its namespaces was not."""
    reading = backup_module.read_table

    def read(connection: Any, table: Any, columns: Any) -> Any:
        with (
            sqlite3.connect(home / "dossier.db") as other,
            sqlite3.connect(home / "checkpoints.db") as saved,
        ):
            other.execute("INSERT INTO heard VALUES ('me', 't9', ?, 1.0)", (str(table),))
            saved.execute("INSERT INTO blobs VALUES ('t9', ?, 'x', 'x', 0)", (str(table),))
        yield from reading(connection, table, columns)

    monkeypatch.setattr(backup_module, "read_table", read)

    written = await write_backup(tmp_path / "second.backup")

    first = await check_backup(backup)
    assert written.manifest.tables == first.tables
    assert written.manifest.checkpoints == first.checkpoints


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-500])


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _other_row(file: Path) -> None:
    """Write a row that was not saved, as if by somebody who knows the form."""
    _replace(file, "tables/heard.jsonl", b'["me","t1","m1",1.0]\n')


def _newer(file: Path) -> None:
    manifest = zipfile.ZipFile(file).read("manifest.json")
    number = f'"schema_version": {SCHEMA_VERSION}'.encode()
    newer = f'"schema_version": {SCHEMA_VERSION + 1}'.encode()
    assert number in manifest
    _replace(file, "manifest.json", manifest.replace(number, newer))


def _forged(file: Path) -> None:
    manifest = zipfile.ZipFile(file).read("manifest.json")
    _replace(
        file, "manifest.json", manifest.replace(b"users/ada/AGENTS.md", b"users/../../evil.md")
    )


def _replace(file: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(file) as archive:
        entries = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for one, old in entries.items():
            archive.writestr(one, content if one == name else old)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_cut, "backup_damaged"),
        (_flip, "backup_damaged"),
        (_other_row, "backup_damaged"),
        (_newer, "backup_newer"),
        (_forged, "backup_invalid"),
        (lambda file: file.write_text("a report"), "backup_invalid"),
        (lambda file: file.unlink(), "file_not_found"),
    ],
)
async def test_of_a_file_that_is_not_whole_nothing_is_restored(
    backup: Path,
    change: Callable[[Path], None],
    code: str,
    tmp_path: Path,
    elsewhere: Callable[[], Path],
):
    change(backup)
    await close_database()
    other = elsewhere()

    with pytest.raises(Problem) as refused:
        await restore_backup(backup)

    assert refused.value.code == code
    assert not other.exists() or not any(other.iterdir())
    assert not (tmp_path / "evil.md").exists()


async def test_nothing_is_restored_where_something_is(backup: Path, home: Path):
    with pytest.raises(Problem, match="not empty"):
        await restore_backup(backup)

    (found,) = await find_pages(ME, "winter cluster honey", 1)
    assert found.title == "Winter"


@pytest.mark.parametrize("where", ["AGENTS.md", "uploads/t1/hash/berths.csv"])
async def test_a_file_that_is_there_and_is_another_is_never_replaced(
    backup: Path, where: str, elsewhere: Callable[[], Path]
):
    await close_database()
    other = elsewhere()
    (other / where).parent.mkdir(parents=True)
    (other / where).write_text("mine")

    with pytest.raises(Problem, match=where):
        await restore_backup(backup)

    assert (other / where).read_text() == "mine"


async def test_a_restore_that_fails_leaves_nothing_and_can_be_done_again(
    backup: Path,
    home: Path,
    elsewhere: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
):
    original = await stored(home)
    await close_database()
    other = elsewhere()
    with monkeypatch.context() as patch:
        patch.setattr(restore_module, "_is_equal", lambda *_: False)
        with pytest.raises(Problem, match="differs from what was saved"):
            await restore_backup(backup)
    assert not [*other.rglob("*.md")]
    assert not await find_pages(ME, "winter cluster honey", 1)
    await close_database()

    await restore_backup(backup)

    assert await stored(other) == original


async def test_a_full_disk_is_told_before_anything_is_written(
    backup: Path, elsewhere: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
):
    await close_database()
    other = elsewhere()
    full = shutil.disk_usage("/")._replace(free=100_000_001)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)

    with pytest.raises(Problem) as refused:
        await restore_backup(backup)

    assert refused.value.code == "storage_full"
    assert not (other / "AGENTS.md").exists()


async def test_a_backup_onto_a_full_disk_leaves_the_one_before(
    backup: Path, monkeypatch: pytest.MonkeyPatch
):
    before = _content(backup)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(Problem) as refused:
        await write_backup(backup, force=True)

    assert refused.value.code == "storage_full"
    assert _content(backup) == before


def _content(file: Path) -> tuple[bytes, int, list[Path]]:
    """The content of a file, who may read it, and what a failure has left beside it."""
    return file.read_bytes(), file.stat().st_mode & 0o777, [*file.parent.glob(".*.part")]


async def test_a_backup_is_for_its_owner_alone_and_replaces_nothing_unasked(backup: Path):
    assert _content(backup)[1:] == (0o600, [])
    with pytest.raises(Problem, match="output_exists"):
        await write_backup(backup)
