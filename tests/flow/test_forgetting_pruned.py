"""What is forgotten goes out of the report files of pruned runs, too, and kills lose nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from config.errors import Problem
from graph.session import ThreadSession
from library.tables import pages, sources
from privacy import retention
from privacy.saved_states import save_report_state
from privacy.service import plan_erasure, resolve_erasure_target
from runs import lifecycle
from runs.tables import calls, runs
from runs.trace import trace_file
from storage.engine import read_rows
from tests.flow.test_forgetting import (
    HARMLESS,
    ME,
    SECRETS,
    Killed,
    asked,
    everything,
    hidden,
    kill_at,
    no_byte,
    wipe,
)

pytestmark = [
    pytest.mark.usefixtures("either"),
    pytest.mark.extractive(
        "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
    ),
]

__all__ = ["hidden"]

VAULT = "Which number opens the Quillhaven vault?"
BEES = "Who described the waggle dance, and when?"


async def prune() -> None:
    """Do what the command does."""
    await retention.prune_threads(
        await retention.list_expired_threads(ME, 0), partial(save_report_state, ME)
    )


async def vault(opened: ThreadSession, choices: dict[str, object], read: Any, *more: Path) -> str:
    """Ask of a page and of others; return the id of the page."""
    secret = SECRETS["english"][0]
    root = await read(secret)
    mine = {**choices, "files": [*choices["files"], root]}  # type: ignore[misc]
    await asked(opened, mine, VAULT, 1, *more)
    await asked(opened, choices, BEES, 2)
    rows = await everything()
    (page,) = [id for id, row in rows.items() if row[1] == "file" and secret in str(row)]
    return page


async def test_the_files_of_a_pruned_run_are_drawn_anew_without_what_is_forgotten(
    thread: ThreadSession, choices: dict[str, object], hidden: Any, tmp_path: Path
):
    copy = tmp_path / "copies" / "vault"
    page = await vault(thread, choices, hidden, copy)
    other = (tmp_path / "reports" / "t1-2" / "report.md").read_bytes()
    before = (copy / "report.md").read_text("utf-8")
    await prune()

    plan = await wipe(page)

    assert [one.run for one in plan.reports] == ["t1-1"]
    assert await no_byte(tmp_path, *SECRETS["english"][1:])
    assert (tmp_path / "reports" / "t1-2" / "report.md").read_bytes() == other
    for name in ("report.md", "report.html"):
        assert "has been forgotten at the request" in (copy / name).read_text("utf-8")
    assert VAULT.split()[0] in before
    assert HARMLESS in str(await everything())


async def test_a_report_of_a_pruned_run_of_which_nothing_goes_is_left_as_it_is(
    thread: ThreadSession, choices: dict[str, object], hidden: Any, tmp_path: Path
):
    await vault(thread, choices, hidden)
    files = sorted((tmp_path / "reports").rglob("report.*"))
    before = [one.read_bytes() for one in files]
    await prune()
    (sleep,) = await read_rows(select(pages.c.id).where(pages.c.text.contains(HARMLESS)))

    plan = await wipe(sleep.id)

    assert plan.reports == ()
    assert [one.read_bytes() for one in files] == before


async def test_pages_that_another_owner_had_read_are_no_reason_to_touch_a_pruned_report(
    thread: ThreadSession, choices: dict[str, object], hidden: Any, tmp_path: Path
):
    page = await vault(thread, choices, hidden)
    await prune()
    file = tmp_path / "reports" / "t1-1" / "report.md"
    before = file.read_bytes()

    with pytest.raises(Problem) as refused:
        await plan_erasure(await resolve_erasure_target("other/", [page]))

    assert refused.value.code == "memory_not_found"
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "where",
    [
        "privacy.saved_states.log_event",
        "runs.checkpointer.CheckpointSaver.aprune",
        "privacy.retention.remove_thread_files",
        "privacy.retention.delete_run_records",
        "runs.checkpointer.CheckpointSaver.compact",
        "privacy.retention.purge_deleted_data",
    ],
)
@pytest.mark.parametrize("then", ["prune", "forget"])
async def test_pruning_that_was_killed_is_brought_to_its_end_and_forgetting_reaches_everything(
    thread: ThreadSession,
    choices: dict[str, object],
    hidden: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    then: str,
):
    page = await vault(thread, choices, hidden)

    with monkeypatch.context() as patch:
        kill_at(patch, where)
        with pytest.raises(Killed):
            await prune()
    if then == "prune":
        await prune()
        for table, column in ((runs, runs.c.thread), (sources, sources.c.thread)):
            assert (await read_rows(select(table).where(column == "t1"))).all() == []
        assert (await read_rows(select(calls))).all() == []
        assert not trace_file("t1-1").exists()

    await wipe(page)

    assert await no_byte(tmp_path, *SECRETS["english"][1:])
    assert (tmp_path / "reports" / "t1-1" / "report.md").exists()
    assert await lifecycle.list_recent_runs(ME) == [] or then == "forget"
