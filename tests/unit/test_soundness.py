"""What damage does to the files of a home is named, and never taken for a mistake of ours."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.base import CheckpointTuple

from app.cli.output import _to_internal_problem
from config.errors import Problem
from config.settings import settings
from graph.session import open_session
from graph.state import State
from runs.thread_integrity import find_fault
from storage.engine import close_database, get_engine
from storage.maintenance import find_database_damage
from tests.conftest import make
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

PHASES = {"finished": {}, "waiting": {"auto_accept": False}}

COLUMNS = ("checkpoint", "metadata")


@pytest.fixture
async def kept(home: Path) -> Path:
    """A home with a database."""
    await get_engine()
    await close_database()
    return home


async def test_a_whole_database_is_not_blamed(kept: Path):
    assert find_database_damage() is None
    assert _to_internal_problem(KeyError("x")).code == "internal"


@pytest.mark.parametrize("name", ["dossier.db", "checkpoints.db"])
async def test_what_nobody_foresaw_is_told_as_damage_where_a_database_is_damaged(
    kept: Path, name: str
):
    content = (kept / "dossier.db").read_bytes()
    (kept / name).write_bytes(content[:8192] + b"\1" * 4096 * 4 + content[8192 + 4096 * 4 :])

    problem = _to_internal_problem(KeyError("x"))

    assert (problem.code, problem.where) == ("storage_corrupt", str(kept / name))
    assert problem.hint


@pytest.mark.parametrize("phase", PHASES)
async def test_everything_that_a_run_saves_is_found_sound(choices: dict[str, object], phase: str):
    seen: list[CheckpointTuple] = []

    async def look(state: State) -> None:
        seen.extend([one async for one in opened.graph.checkpointer.alist(of_thread)])

    of_thread = {"configurable": {"thread_id": phase}}
    async with open_session(phase) as opened:
        opened.on_answer = look
        await opened.begin("How do bees dance?", make({**choices, **PHASES[phase]}), quiet)
        await look({})

    assert len(seen) > 5
    assert [what for one in seen if (what := find_fault(opened.graph, one))] == []


@pytest.mark.parametrize("part", [1e-05, 0.1, 1 - 1e-16, 0.0])
async def test_every_version_that_the_saver_counts_is_sound(
    monkeypatch: pytest.MonkeyPatch, choices: dict[str, object], part: float
):
    monkeypatch.setattr("random.random", lambda: part)
    async with open_session("t1") as opened:
        await opened.begin("How do bees dance?", make(choices), quiet)
        of_thread = {"configurable": {"thread_id": "t1"}}
        saved = [one async for one in opened.graph.checkpointer.alist(of_thread)]

    assert [what for one in saved if (what := find_fault(opened.graph, one))] == []


@pytest.mark.usefixtures("kept")
async def test_a_branch_that_was_forged_is_not_taken_up(choices: dict[str, object]):
    async with open_session("t1") as opened:
        await opened.begin("How do bees dance?", make(choices), quiet)
    with sqlite3.connect(settings().checkpoints) as file:
        copied = (
            "SELECT thread_id, 'step:1', checkpoint_id || 'z', NULL, type, checkpoint, metadata"
        )
        file.execute(f"INSERT INTO checkpoints {copied} FROM checkpoints")
    file.close()

    with pytest.raises(Problem, match="the id of a checkpoint") as failure:
        async with open_session("t1"):
            pytest.fail("it was taken up")

    assert failure.value.code == "storage_corrupt"


NONSENSE = [b"", b"\0" * 4096, b"\xc1text", b"no JSON", b"\x81\xa1a\xc0"]


@pytest.mark.parametrize("column", COLUMNS)
async def test_a_checkpoint_that_makes_no_sense_is_told_as_damage(
    choices: dict[str, object], column: str
):
    async with open_session("broken") as opened:
        await opened.begin("Who described the waggle dance?", make(choices), quiet)

    told = {content: await told_of(column, content) for content in NONSENSE}

    assert {content: code for content, (code, _) in told.items()} == dict.fromkeys(
        NONSENSE, "storage_corrupt"
    )
    assert all(hint for _, hint in told.values())


async def told_of(column: str, content: object) -> tuple[str, str]:
    """Put something into a column of every checkpoint; return what is then told of the thread."""
    with closing(sqlite3.connect(settings().checkpoints)) as file, file:
        file.execute(f"UPDATE checkpoints SET {column} = ?", (content,))  # noqa: S608
    async with open_session("broken") as opened:
        try:
            await opened.current()
        except Problem as problem:
            return problem.code, problem.hint
    return "", ""


async def test_a_checkpoint_in_an_unknown_encoding_is_told_as_damage(choices: dict[str, object]):
    async with open_session("broken") as opened:
        await opened.begin("Who described the waggle dance?", make(choices), quiet)

    told = {kind: (await told_of("type", kind))[0] for kind in ("pickle", "", None, 7)}

    assert told == dict.fromkeys(told, "storage_corrupt")
