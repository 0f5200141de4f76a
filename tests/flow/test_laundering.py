"""What a run wrote itself proves nothing to a later one."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.context import Context
from graph.session import ThreadSession, open_session
from library.page_rows import NewPage
from library.scope import list_stored_pages
from library.store import store_pages
from memory.reports import find_related_reports
from report.source_registry import CitablePage, register_sources
from runs.call_site import CallSite
from storage.engine import close_database
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools.folder_ingestion import list_ignored_files
from tools.source_checks import verify_text

ME = "local/"
BEES = "How do bees dance?"
DOUBTFUL = "Bees dance 77 hours a week [S1]."


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "Checks", "Lessons")
async def test_a_number_that_was_doubted_in_one_run_is_doubted_in_the_next(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", f"The waggle dance tells of food [S1]. {DOUBTFUL}")
    first = (await thread.begin(BEES, make(choices), quiet)).state
    assert any("77" in one["text"] for one in first["report"]["doubted"])

    script.on("reporter", f"The waggle dance tells of food [S1]. {DOUBTFUL} Again 77 [S2].")
    async with open_session("t2") as later:
        choices = {**choices, "memory": ["report", "web", "file"]}
        second = (await later.begin(BEES, make(choices), quiet)).state

    body, doubted = second["report"]["body"], second["report"]["doubted"]
    assert "77" not in body or any("77" in one["text"] for one in doubted)
    kinds = {page.id: page.kind for page in await list_stored_pages(ME, limit=100)}
    assert {kinds[one["page"]] for one in second["sources"].values()} == {"file"}


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "Checks")
async def test_what_is_kept_of_a_report_is_without_its_doubtful_sentences(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on(
        "reporter", f"The waggle dance tells other bees the direction of food [S1]. {DOUBTFUL}"
    )
    await thread.begin(BEES, make(choices), quiet)

    notes = await find_related_reports(ME, BEES)

    assert [("food" in one.text, "77" in one.text) for one in notes] == [(True, False)]


async def test_a_report_that_an_older_thread_cites_bears_nothing_out():
    page = NewPage(title="Bees", place="", text="Bees dance 77 hours a week.")
    (report,) = await store_pages(ME, "report", "t0-1", [page])
    (file,) = await store_pages(
        ME, "file", "ab", [NewPage(title="Bees", place="", text="Bees dance.")]
    )
    cited = [CitablePage(report, "Bees", "", "report"), CitablePage(file, "Bees", "", "file")]
    sources = {one["id"]: one for one in await register_sources("t1", cited)}

    here, text = (
        CallSite(ME, "t1", "t1-1", "", ""),
        "Bees dance 77 hours a week [S1]. Bees dance [S2].",
    )
    left = await verify_text(here, Context(), "reporter", text, sources)
    await close_database()

    assert left.body == "Bees dance [S2]."


def test_a_report_page_is_passed_over_whatever_it_is_called(tmp_path: Path):
    head = '<!doctype html>\n<html lang="en">\n<head>\n<meta name="generator" content="Dossier">'
    (tmp_path / "old-notes.html").write_text(f"{head}<title>x</title>", encoding="utf-8")
    (tmp_path / "other.html").write_text("<p>Bees dance.</p>", encoding="utf-8")

    assert [(Path(one.path).name, one.code) for one in list_ignored_files(tmp_path)] == [
        ("old-notes.html", "own_report")
    ]
