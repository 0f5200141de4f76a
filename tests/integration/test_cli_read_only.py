"""A data folder that can only be read is read, and what would write into it says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" and os.geteuid() == 0, reason="root ignores permissions"
)

READING = (
    ["runs", "--json"],
    ["search", "waggle dance"],
    ["pages", "list"],
    ["memory", "list"],
    ["doctor"],
)

WRITING = (
    ["memory", "add", "I like tea"],
    ["ask", WHO, "--docs", "bees", "--yes", "--json"],
    ["recall", WHO],
    ["memory", "forget", "profile", "--yes"],
    ["settings", "import", "mine.env", "--yes"],
    ["serve"],
)


def allow(home: Path, *, writing: bool) -> None:
    for one in (home, *home.rglob("*")):
        one.chmod((0o600 if writing else 0o400) | (0o100 if one.is_dir() else 0))


@pytest.fixture(scope="module")
def kept(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place with a run, a fact and pages, whose home can only be read."""
    place = Place(tmp_path_factory.mktemp("read-only"))
    (place.folder / "mine.env").write_text("DOSSIER_USER=me\n")
    assert forks.run(place, "ask", WHO, "--docs", "bees", "--yes", "--thread", "t").status in (0, 6)
    assert forks.run(place, "memory", "add", "I live in Bergen.").status == 0
    allow(place.home, writing=False)
    yield place
    allow(place.home, writing=True)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_what_only_reads_works(forks: Forks, kept: Place, words: list[str]):
    before = sorted(kept.home.rglob("*"))

    done = forks.start(kept, *words, bound=True).ended()

    assert (done.status, done.err) == (0, "")
    assert done.out.strip()
    assert sorted(kept.home.rglob("*")) == before


def test_a_run_is_shown_with_its_calls_and_all_is_exported(forks: Forks, kept: Place):
    shown = forks.start(kept, "runs", "show", "t-1", bound=True).ended()
    exported = forks.start(kept, "memory", "export", "all.json", bound=True).ended()

    assert "reporter" in shown.out
    assert exported.status == 0
    assert "Bergen" in (kept.folder / "all.json").read_text()


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_what_writes_says_that_it_cannot(forks: Forks, kept: Place, words: list[str]):
    done = forks.start(kept, *words, bound=True).ended()

    assert done.status == 7
    assert done.problem.startswith("error[home_read_only]")
    assert "DOSSIER_HOME" in done.problem


def test_what_another_process_has_not_written_back_is_read_too(forks: Forks, kept: Place):
    allow(kept.home, writing=True)
    copy = Place(kept.folder / "copy")
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(kept.home / "dossier.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout
    assert held.stdin
    try:
        assert held.stdout.readline() == b"held\n"
        shutil.copytree(kept.home, copy.home)
    finally:
        held.stdin.close()
        held.wait()
        held.stdout.close()
        allow(kept.home, writing=False)
    assert (copy.home / "dossier.db-wal").stat().st_size
    allow(copy.home, writing=False)

    found = forks.start(copy, "memory", "list", bound=True).ended()
    allow(copy.home, writing=True)
    (copy.home / "dossier.db-shm").unlink()
    allow(copy.home, writing=False)
    before = sorted(one.name for one in copy.home.iterdir())
    half = forks.start(copy, "memory", "list", bound=True).ended()
    after = sorted(one.name for one in copy.home.iterdir())

    allow(copy.home, writing=True)
    assert (found.status, half.status) == (0, 0)
    assert "Oslo" in found.out
    assert "Oslo" in half.out
    assert before == after


HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("UPDATE facts SET content = 'I live in Oslo.'")
held.commit()
print("held", flush=True)
sys.stdin.read()
"""
