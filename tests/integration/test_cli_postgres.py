"""The installed `dossier` command on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration


def test_two_runs_that_make_the_tables_at_the_same_time_both_succeed(
    postgres: str, forks: Forks, tmp_path: Path
):
    place = Place(tmp_path)
    where = {"DOSSIER_DATABASE_URL": postgres}
    words = ["ask", WHO, "--docs", "bees", "--yes", "--json", "--thread"]

    both = [forks.start(place, *words, thread, **where) for thread in ("one", "two")]
    told = [running.ended().told for running in both]
    again = forks.run(place, *words, "one", **where).told
    listed = forks.run(place, "runs", **where).out

    assert [one["status"] for one in [*told, again]] == ["succeeded"] * 3
    assert [one["run"] for one in [*told, again]] == ["one-1", "two-1", "one-2"]
    assert {quote["source"] for quote in told[0]["quotes"]} == {"S1"}
    assert all(run in listed for run in ("one-1", "two-1", "one-2"))


def test_a_server_that_is_not_there_is_told_in_one_line(tmp_path: Path):
    nowhere = "postgresql://me:secret@127.0.0.1:1/dossier"
    done = Place(tmp_path).run("runs", DOSSIER_DATABASE_URL=nowhere)

    assert done.status == 7
    assert done.problem.startswith("error[storage_unavailable]")
    assert "secret" not in done.err
