"""Old runs are pruned by a command that asks first."""

from __future__ import annotations

import pytest

from tests.integration.command import WHO, Done, Forks, Place

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def asked(place: Place, forks: Forks) -> Done:
    """A question that was answered."""
    return forks.run(place, "ask", WHO, "--docs", "bees", "--yes", "--json")


def test_an_age_that_cannot_be_read_is_refused(place: Place, forks: Forks):
    done = forks.run(place, "runs", "prune", "--keep", "soon")

    assert done.status == 2
    assert "'soon' is not a length of time" in done.problem


def test_nothing_is_pruned_where_nobody_can_be_asked(place: Place, forks: Forks, asked: Done):
    done = forks.run(place, "runs", "prune", "--keep", "0h")

    assert done.status == 3
    assert "prune_unconfirmed" in done.problem
    assert asked.told["run"] in forks.run(place, "runs").out


def test_a_run_that_is_young_enough_is_kept(place: Place, forks: Forks, asked: Done):
    done = forks.run(place, "runs", "prune", "--yes")

    assert done.out == "No run ended more than 90d ago.\n"
    assert asked.told["run"] in forks.run(place, "runs").out


def test_a_dry_run_says_what_would_go_and_how_much(place: Place, forks: Forks, asked: Done):
    words = ("runs", "prune", "--keep", "0h", "--dry-run")

    done, told = forks.run(place, *words), forks.run(place, *words, "--json").told

    assert asked.told["thread"] in done.out
    assert "Would be deleted: 1 run in 1 thread, about 0." in done.out
    assert (told["runs"], told["threads"]) == (1, 1)
    assert told["bytes"] > 1_000
    assert told["expired"][0]["runs"] == [asked.told["run"]]
    assert forks.run(place, *words, "--keep-last", "1", "--json").told["threads"] == 0
    assert forks.run(place, *words, "--everybody", "--json").told["threads"] == 1
    assert asked.told["run"] in forks.run(place, "runs").out


def test_a_run_is_pruned_and_its_report_and_pages_stay(place: Place, forks: Forks, asked: Done):
    run = asked.told["run"]
    upload = place.home / "uploads" / asked.told["thread"] / "hash" / "table.csv"
    upload.parent.mkdir(parents=True)
    upload.write_text("a,b\n1,2\n")

    done = forks.run(place, "runs", "prune", "--keep", "0h", "--yes", "--json")

    assert (done.status, done.told["runs"], done.told["threads"]) == (0, 1, 1)
    assert done.told["freed"] > 0
    assert forks.run(place, "runs", "show", run).status == 4
    assert forks.run(place, "resume", run).status == 4
    assert not upload.exists()
    assert (place.folder / "reports" / run / "report.md").exists()
    assert forks.run(place, "recall", WHO, "--json").told["status"] != "insufficient_evidence"
