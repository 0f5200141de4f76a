"""Uploads and reports of a run whose files are in a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import fsspec
import pytest

from app.cli.forget import list_outdated_reports, redraw_reports
from graph.session import ThreadSession
from library.page_retrieval import find_pages
from privacy.erasure_target import ErasureTarget
from privacy.service import delete_thread, execute_erasure, plan_erasure
from report.report_places import read_report_file
from runs.call_site import join_owner
from runs.lifecycle import find_run
from storage.file_store import file_store
from tests.flow.test_uploads import ferry, file, sent
from tests.places import new_process
from tests.unit.test_uploads import holding
from tools.run_files import list_folder_files
from tools.tables.table_answers import read_tables

ME = join_owner("local", "")


@pytest.fixture(autouse=True)
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """The content of a bucket that holds the files of this installation."""
    monkeypatch.setenv("DOSSIER_FILES_URL", "memory://dossier")
    new_process()
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system.store
    system.store.clear()


@pytest.fixture
def keyless(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "models": {"default": "extractive:"}}


async def test_a_table_that_was_uploaded_is_read_from_the_bucket_and_its_report_is_kept_there(
    thread: ThreadSession, keyless: dict[str, object], home: Path
):
    berths = file("berths.csv", b"berth,depth\nNorth,7\nSouth,9\n", "text/csv")
    asked = "How often does the ferry to Askoy leave?"
    state = await sent(thread, keyless, ferry(), berths, words=asked)

    names = [Path(one).name for one in file_store().list("uploads/t1")]
    assert names == ["berths.csv"]
    (stored,) = [one for one in await list_folder_files(ME, []) if one.suffix == ".csv"]
    assert stored.path.startswith("memory://dossier/uploads/t1/")
    (table,) = await read_tables(stored)
    assert [one.name for one in table.columns] == ["berth", "depth"]
    run = await find_run(ME, "t1-1")
    assert run.folder == "memory://dossier/reports/t1-1"
    assert "twenty minutes" in read_report_file(run.folder, "md").decode()
    assert state["report"].get("file_error") is None
    assert not holding(home, b"twenty minutes</p>")
    assert not (home / "uploads").exists()
    assert not (home / "reports").exists()


async def test_what_is_forgotten_is_taken_out_of_the_bucket(
    thread: ThreadSession, keyless: dict[str, object], bucket: dict[str, object]
):
    wages = file("wages.csv", b"name,wage\nQuorvix,4711\n", "text/csv")
    asked = "How often does the ferry to Askoy leave?"
    await sent(thread, keyless, ferry(), wages, words=asked)
    [page, *_] = [one for one in await find_pages(ME, "ferry Askoy", 5) if one.kind == "file"]
    [wage, *_] = [one for one in await find_pages(ME, "Quorvix", 5) if one.kind == "file"]

    plan = await plan_erasure(ErasureTarget(ME, pages=(page.id, wage.id)))
    outdated = await list_outdated_reports(ME, plan.reports)
    await execute_erasure(plan, partial(redraw_reports, ME))

    assert outdated[0][1] == [
        f"memory://dossier/reports/t1-1/{name}" for name in ("report.html", "report.md")
    ]
    assert [Path(one).name for one in plan.deleted] == ["wages.csv"]
    assert [one for one in bucket if "uploads" in one] == []
    assert b"twenty minutes" not in read_report_file("memory://dossier/reports/t1-1", "md")
    assert await list_outdated_reports(ME, ()) == []


async def test_a_deleted_thread_leaves_nothing_in_the_bucket(
    thread: ThreadSession, keyless: dict[str, object], bucket: dict[str, object]
):
    berths = file("berths.csv", b"berth,depth\nNorth,7\n", "text/csv")
    await sent(thread, keyless, ferry(), berths, words="How often does the ferry to Askoy leave?")
    assert bucket

    await delete_thread("t1")

    assert [*bucket] == []
