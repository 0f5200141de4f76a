"""A report is delivered once, the same to every client, and nothing is lost where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.session import ThreadSession
from nodes.deliver import summarize_research
from report.export import ReportTarget
from report.rendering.chat_report import unlink_citations
from runs.call_site import CallSite
from runs.lifecycle import find_run
from runs.trace import trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks"
)

QUESTION = "How do bees dance?"
SAID = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'


@pytest.fixture
def written(choices: dict[str, object], script: Script) -> dict[str, object]:
    script.on("reporter", SAID)
    return choices


async def test_a_client_that_asks_for_nothing_gets_the_files_in_the_home(
    thread: ThreadSession, written: dict[str, object], home: Path
):
    state = (await thread.begin(QUESTION, make(written), quiet)).state

    folder = home / "reports" / "t1-1"
    assert (await find_run("local/", "t1-1")).folder == str(folder)
    shown = str(state["messages"][-1].text)
    assert (folder / "report.md").read_text("utf-8").startswith(unlink_citations(shown)[:90])
    assert state["report"]["created"] in (folder / "report.html").read_text("utf-8")


async def test_a_command_names_the_folder(
    thread: ThreadSession, written: dict[str, object], home: Path, tmp_path: Path
):
    thread.set_report_target(ReportTarget(tmp_path / "out", force=False))
    await thread.begin(QUESTION, make(written), quiet)

    assert (tmp_path / "out" / "report.md").exists()
    assert not (home / "reports").exists()


async def test_a_report_that_is_delivered_again_keeps_its_date_and_its_files(
    thread: ThreadSession,
    written: dict[str, object],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    state = (await thread.begin(QUESTION, make(written), quiet)).state
    file = home / "reports" / "t1-1" / "report.md"
    first, count = file.read_bytes(), len(state["messages"])
    report = {name: value for name, value in state["report"].items() if name != "created"}
    await thread.graph.aupdate_state(thread.config, {"report": report}, as_node="reporter")
    monkeypatch.setattr("nodes.deliver.datetime", _Tomorrow)

    after = (await thread.resume(make(written), quiet)).state

    assert file.read_bytes() == first
    assert after["report"]["created"] == state["report"]["created"]
    assert len(after["messages"]) == count


class _Tomorrow:
    """A clock of another day."""

    @staticmethod
    def now(_: object) -> _Tomorrow:
        return _Tomorrow()

    def date(self) -> _Tomorrow:
        return self

    def isoformat(self) -> str:
        return "2099-01-01"


async def test_a_folder_that_cannot_be_written_costs_the_files_alone(
    thread: ThreadSession, written: dict[str, object], tmp_path: Path
):
    (tmp_path / "file").write_text("in the way")
    thread.set_report_target(ReportTarget(tmp_path / "file" / "below", force=False))

    state = (await thread.begin(QUESTION, make(written), quiet)).state

    assert state["status"] == "succeeded"
    assert state["report"]["file_error"]["code"] == "output_not_writable"
    assert "waggle dance" in str(state["messages"][-1].text)


async def test_what_the_run_did_is_kept_with_the_report_and_told_in_its_files(
    thread: ThreadSession, written: dict[str, object], home: Path
):
    state = (await thread.begin(QUESTION, make(written), quiet)).state

    log = state["report"]["research"]
    assert sum(log["calls"].values()) >= 5
    assert (log["web_searches"], log["unread"]) == (0, [])
    for name in ("report.md", "report.html"):
        told = (home / "reports" / "t1-1" / name).read_text("utf-8")
        assert "How it was researched" in told
        assert f"{sum(log['calls'].values())} model calls" in told
        assert "every sentence was compared with the stored text of its sources" in told


async def test_a_conversation_has_only_the_summary_of_how_it_was_researched(
    thread: ThreadSession, written: dict[str, object]
):
    state = (await thread.begin(QUESTION, make(written), quiet)).state

    shown = str(state["messages"][-1].text)
    assert "## How it was researched\n\n" in shown
    assert "every sentence was compared" not in shown


async def test_pages_that_could_not_be_read_are_kept_by_their_sites(home: Path):
    site = CallSite("local/", "t1", "t1-1", "s1", "0.0.0")
    fetched = [("/a", "page_timeout"), ("/a", "ok"), *[("/b", "page_unavailable")] * 2]
    for url, status in fetched:
        await trace(site, "fetch", "web", status, url=f"https://bees.example{url}")
    await trace(site, "search", "web", "ok", query="bees", hits=3)
    for query in ("honey", "comb"):
        failed = {"arxiv": "it is too slow"}
        await trace(site, "search", "web", "ok", query=query, hits=1, failed=failed)
    await trace(site, "search", "web", "search_unavailable", query="wax")

    log = await summarize_research("t1-1")

    assert log["unread"] == [{"site": "bees.example", "reason": "page_unavailable"}]
    assert log["web_searches"] == 3
    assert log["unanswered"] == {"arxiv": 2}
