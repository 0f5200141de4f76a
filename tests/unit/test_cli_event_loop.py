"""The database is closed behind the work of a command."""

from __future__ import annotations

import pytest

from app.cli.event_loop import run_and_close
from config.errors import ErrorCode, Problem
from runs.lifecycle import find_run, list_recent_runs
from storage import engine

pytestmark = pytest.mark.usefixtures("home")


def open_databases() -> list[str]:
    return list(engine._engines.get())


async def look(owner: str) -> tuple[list[str], list[str]]:
    """Return the runs of an owner, and the databases that are open meanwhile."""
    return [run.id for run in await list_recent_runs(owner)], open_databases()


def test_the_result_is_returned_and_the_database_is_closed():
    runs, opened = run_and_close(look("a/"))

    assert runs == []
    assert len(opened) == 1
    assert open_databases() == []


def test_it_is_closed_after_a_problem_too():
    with pytest.raises(Problem) as raised:
        run_and_close(find_run("a/", "gone-1"))

    assert raised.value.code == ErrorCode.RUN_NOT_FOUND
    assert open_databases() == []


def test_work_after_that_opens_it_again():
    run_and_close(look("a/"))
    _, opened = run_and_close(look("a/"))

    assert len(opened) == 1
