"""A path is a path, whatever it is called: nothing in it is read as part of an address."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.errors import Problem
from graph.session import open_session
from library.chroma import connect_chroma
from memory.facts.fact import NewFact
from memory.facts.queries import list_facts
from memory.facts.store import add_fact
from storage.connect import create_database_engine, parse_database_url
from storage.engine import close_database
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.places import new_process

ROOT = Path(__file__).parents[2]

NAMES = [
    "q?x",
    "q?y",
    "q?mode=memory",
    "p%2Fq",
    "p%41",
    "a#b",
    "a b",
    "ü 蜂",
    "file:x",
    "~x",
    "a&b;c",
]


def lies(folder: Path) -> list[str]:
    """The files below a folder."""
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


async def facts() -> list[str]:
    found = [one.content for one in await list_facts("local/")]
    await close_database()
    return found


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "Verdict", "Enough")
@pytest.mark.parametrize("name", NAMES)
async def test_everything_of_a_home_lies_in_it(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, choices: dict[str, object]
):
    home = tmp_path / name
    monkeypatch.setenv("DOSSIER_HOME", str(home))
    new_process()
    before = lies(tmp_path)

    async with open_session("t1") as thread:
        await thread.begin("How do bees dance?", make(choices), quiet)
    await close_database()

    every = set(lies(tmp_path)) - {*before}
    assert {f"{name}/dossier.db", f"{name}/checkpoints.db"} <= every
    assert [one for one in every if not one.startswith(f"{name}/")] == []


@pytest.mark.parametrize("name", NAMES)
async def test_two_homes_and_two_databases_share_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    for place in (name, f"{name}y", "q"):
        monkeypatch.setenv("DOSSIER_DATABASE_URL", f"sqlite:///{tmp_path}/{place}.db")
        new_process()
        assert await facts() == []
        await add_fact("local/", NewFact(f"Lives in {place}"))

    monkeypatch.setenv("DOSSIER_DATABASE_URL", f"sqlite:///{tmp_path}/{name}.db")
    new_process()
    assert await facts() == [f"Lives in {name}"]
    assert {f"{name}.db", f"{name}y.db", "q.db"} <= set(lies(tmp_path))


def test_the_address_of_a_server_is_one():
    there = parse_database_url("postgresql://me:p%40ss@there:5433/dossier?sslmode=require")

    assert (there.host, there.password, there.query["sslmode"]) == ("there", "p@ss", "require")
    assert parse_database_url("sqlite://").database is None
    assert parse_database_url("sqlite+pysqlite:////x/q?y").database == "/x/q?y"


@pytest.mark.parametrize("written", ["postgresql://host:port/x", "postgresql://[::1/x", "x", ""])
def test_what_is_no_address_of_a_database_is_told_with_a_hint(written: str):
    with pytest.raises(Problem) as told:
        create_database_engine(written)

    assert told.value.code == "config_value"
    assert "postgresql://" in told.value.hint


def test_chroma_heeds_no_file_of_the_current_folder(tmp_path: Path):
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=theirs.Api\nALLOW_RESET=true\n")

    client = connect_chroma("one")

    assert not client.get_settings().allow_reset
    client.close()


CHROMA = """
from config.errors import Problem
from library.chroma import connect_chroma, _call_chroma

try:
    _call_chroma("x", lambda: connect_chroma("x"), 5)
except Problem as problem:
    print(problem)
"""


def test_a_file_of_settings_that_chroma_cannot_use_is_told_as_a_problem(tmp_path: Path):
    (tmp_path / ".env").write_text("ALLOW_RESET=perhaps\nCHROMA_SERVER_HTTP_PORT=first\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DOSSIER_HOME": str(tmp_path / "home")}

    done = subprocess.run(
        [sys.executable, "-P", "-c", CHROMA],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.startswith("error[chroma_unavailable]")
    assert "searches go on without it" in done.stdout
