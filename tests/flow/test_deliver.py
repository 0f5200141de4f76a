"""A report is delivered once, the same to every client, and nothing is lost where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.session import ThreadSession
from report.export import ReportTarget
from runs.lifecycle import find_run
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
    assert (folder / "report.md").read_text("utf-8").startswith(shown[:90])
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
