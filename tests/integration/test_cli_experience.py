"""What past runs teach, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import Done, Forks, Place

pytestmark = pytest.mark.integration

LOG = Path(__file__).parents[2] / "examples" / "runs.jsonl"


@pytest.fixture(scope="module")
def imported(place: Place, forks: Forks) -> Done:
    return forks.run(place, "memory", "import-runs", str(LOG), "--json")


def test_a_log_is_imported_once(place: Place, forks: Forks, imported: Done):
    again = forks.run(place, "memory", "import-runs", str(LOG))

    assert imported.told == {"imported": 3, "known": 0}
    assert again.out.strip() == "0 runs imported, 3 known already."


def test_a_log_with_a_mistake_is_told_by_its_line_and_leaves_nothing(place: Place, forks: Forks):
    bad = place.folder / "bad.jsonl"
    bad.write_text('{"question": "Why?", "result": "resolved"}\n{"question": 1}\n', "utf-8")

    done = forks.run(place, "memory", "import-runs", "bad.jsonl")

    assert (done.status, done.problem[:18]) == (2, "error[log_invalid]")
    assert "bad.jsonl:2" in done.problem


def test_insights_are_listed_with_their_worth_and_their_runs(
    place: Place, forks: Forks, imported: Done
):
    assert imported.status == 0

    lines = forks.run(place, "memory", "insights").out
    told = json.loads(forks.run(place, "memory", "insights", "--json").out)

    assert "通车日期以运营公司的年鉴为准。" in lines
    assert {one["runs"][0]["run"] for one in told} == {"metro-2", "metro-3"}


def test_the_graph_is_a_page_in_the_folder_where_it_was_asked_for(
    place: Place, forks: Forks, imported: Done
):
    assert imported.status == 0

    done = forks.run(place, "memory", "graph")

    page = Path(done.out.strip())
    assert (done.status, page.name) == (0, "experience.html")
    assert "3 runs" in page.read_text("utf-8")


def test_the_graph_replaces_nothing_unasked_and_is_written_through_no_link(
    place: Place, forks: Forks, imported: Done
):
    assert imported.status == 0
    diary, page = place.folder / "diary.txt", place.folder / "drawn.html"
    diary.write_text("mine")
    page.symlink_to(diary)

    refused = forks.run(place, "memory", "graph", "--out", "drawn.html")
    forced = forks.run(place, "memory", "graph", "--out", "drawn.html", "--force")

    assert (refused.status, forced.status) == (5, 0)
    assert refused.problem.startswith("error[output_exists]")
    assert diary.read_text() == "mine"
    assert "3 runs" in page.read_text("utf-8")
    assert not page.is_symlink()
