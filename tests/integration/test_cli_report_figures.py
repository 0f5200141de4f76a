"""The figures of reports that need no judge, on the command line."""

from __future__ import annotations

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Place:
    """A folder in which two questions were asked of the files about bees."""
    place = Place(tmp_path_factory.mktemp("figures"))
    asked = [(WHO, "one"), ("Below how many degrees do bees form a winter cluster?", "one")]
    for question, thread in asked:
        done = forks.run(place, "ask", question, "--docs", "bees", "--thread", thread, "--yes")
        assert done.status == 0, done.err
    return place


def test_a_report_of_quotations_is_verified_throughout(place: Place, forks: Forks):
    (told,) = forks.run(place, "eval", "report", "one-1", "--json").told

    assert told["run"] == "one-1"
    assert told["claims"] == told["cited"] == told["verified"] > 0
    assert (told["verified_share"], told["doubted_share"], told["removed_share"]) == (1, 0, 0)
    assert told["quotations"] == told["quotations_verified"] > 0
    assert told["sources"] >= told["documents"] >= told["independent"] >= 1
    assert (told["parts"], told["parts_covered"], told["parts_open"]) == (1, 1, [])
    assert told["reading_grade"] is not None
    assert "characters_per_sentence" not in told


def test_reports_stand_side_by_side_and_may_be_named_by_their_files(place: Place, forks: Forks):
    words = ["reports/one-1/report.md", "reports/one-2"]
    shown = forks.run(place, "eval", "report", *words)
    told = forks.run(place, "eval", "report", *words, "--json").told

    assert shown.status == 0, shown.err
    assert shown.out.splitlines()[0].split() == ["one-1", "one-2"]
    assert f"one-1: {WHO}" in shown.out
    # The first report is that of a turn behind which the thread has gone on.
    assert [one["run"] for one in told] == ["one-1", "one-2"]
    assert told[0]["question"] == WHO


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("nobody-1", 4, "run_not_found"),
        ("nowhere/report.md", 4, "file_not_found"),
        ("bees", 4, "run_not_found"),
        ("bees/dance.md", 4, "run_not_found"),
        ("small-1", 5, "run_unfinished"),
        ("", 4, "run_not_found"),
    ],
)
def test_a_report_that_is_not_known_is_told(
    place: Place, forks: Forks, name: str, status: int, code: str
):
    if name == "small-1":
        forks.run(place, "ask", "hello", "--docs", "bees", "--thread", "small", "--yes")
    done = forks.run(place, "eval", "report", name, "--json")

    assert (done.status, done.told["error"]["code"]) == (status, code)


def test_a_report_has_to_be_named(place: Place, forks: Forks):
    done = forks.run(place, "eval", "report")

    assert (done.status, "dossier runs" in done.problem) == (2, True)
