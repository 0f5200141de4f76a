"""What damage does to the files of a home is named, and never taken for a mistake of ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from app.cli.output import _unforeseen
from config.errors import Problem
from config.settings import settings
from graph.session import session
from storage.engine import close, database
from storage.soundness import damaged
from tests.conftest import make
from tests.flow.test_defects import quiet

COLUMNS = ("checkpoint", "metadata")


@pytest.fixture
async def kept(home: Path) -> Path:
    """A home with a database."""
    await database()
    await close()
    return home


async def test_a_whole_database_is_not_blamed(kept: Path):
    assert damaged() is None
    assert _unforeseen(KeyError("x")).code == "internal"


@pytest.mark.parametrize("name", ["dossier.db", "checkpoints.db"])
async def test_what_nobody_foresaw_is_told_as_damage_where_a_database_is_damaged(
    kept: Path, name: str
):
    content = (kept / "dossier.db").read_bytes()
    (kept / name).write_bytes(content[:8192] + b"\1" * 4096 * 4 + content[8192 + 4096 * 4 :])

    problem = _unforeseen(KeyError("x"))

    assert (problem.code, problem.where) == ("storage_corrupt", str(kept / name))
    assert problem.hint


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"\xc1text", b"no JSON", b"\x81\xa1a\xc0"])
async def test_a_checkpoint_that_makes_no_sense_is_told_as_damage(
    choices: dict[str, object], column: str, content: bytes
):
    async with session("broken") as opened:
        await opened.begin("Who described the waggle dance?", make(choices), quiet)
    with sqlite3.connect(settings().checkpoints) as file:
        file.execute(f"UPDATE checkpoints SET {column} = ?", (content,))  # noqa: S608
    file.close()

    async with session("broken") as opened:
        with pytest.raises(Problem) as failure:
            await opened.current()

    assert failure.value.code == "storage_corrupt"
    assert failure.value.hint
