"""Nobody but the person reads what is kept, also in a home that was open to others before."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.doctor import _privacy
from config.errors import Problem
from config.settings import settings
from graph.session import ThreadSession
from memory.agents_md.disk import replace_file
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from runs.lock import thread_lock
from storage.engine import close_database
from storage.permissions import find_exposed_files, secure_home
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.places import new_process


def modes(home: Path) -> dict[str, str]:
    return {
        str(one.relative_to(home)): oct(stat.S_IMODE(one.lstat().st_mode))
        for one in (home, *home.rglob("*"))
    }


def open_ones(home: Path) -> list[str]:
    return [name for name, mode in modes(home).items() if int(mode, 8) & 0o077]


def open_all(home: Path) -> None:
    for one in (home, *home.rglob("*")):
        one.chmod(0o777 if one.is_dir() else 0o666)


@pytest.fixture(autouse=True)
def umask():
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_a_whole_run_leaves_nothing_that_others_may_read(
    thread: ThreadSession, choices: dict[str, object], home: Path
):
    with thread_lock("t1"):
        await thread.begin("How do bees dance?", make(choices), quiet)

    every = modes(home)
    assert open_ones(home) == []
    assert {"dossier.db", "dossier.db-wal", "checkpoints.db", "checkpoints.db-wal"} < set(every)
    assert {name.partition("/")[0] for name in every} >= {"traces", "locks"}


async def test_a_home_that_was_open_is_closed_at_the_next_use_and_what_is_not_ours_stays(
    home: Path,
):
    await add_fact("local/", NewFact("Likes tea"))
    await close_database()
    (home / "vectors" / "x").mkdir(parents=True)
    (home / "vectors" / "x" / "index.bin").touch()
    (home / "photo.jpg").touch()
    open_all(home)

    await add_fact("local/", NewFact("Likes coffee"))
    await close_database()

    assert open_ones(home) == ["photo.jpg"]


@pytest.mark.parametrize(("was", "becomes"), [(0o755, 0o600), (0o700, 0o600), (0o550, 0o400)])
async def test_a_file_that_could_be_run_becomes_one_that_is_read_and_written(
    home: Path, was: int, becomes: int
):
    (home / "traces").mkdir(parents=True)
    (home / "traces" / "r.jsonl").touch()
    (home / "traces" / "r.jsonl").chmod(was)
    (home / "traces").chmod(0o755)

    secure_home(again=True)

    assert modes(home)["traces/r.jsonl"] == oct(becomes)
    assert modes(home)["traces"] == oct(0o700)


def test_a_file_that_only_its_owner_may_run_is_not_called_open_to_others(home: Path):
    (home / "traces").mkdir(parents=True, mode=0o700)
    (home / "traces" / "r.jsonl").touch()
    (home / "traces" / "r.jsonl").chmod(0o700)
    home.chmod(0o700)

    assert find_exposed_files() == []


def test_a_memory_file_of_the_home_is_closed_and_one_of_a_project_is_as_others_there(
    home: Path, tmp_path: Path
):
    home.mkdir()
    for file in (home / "AGENTS.md", tmp_path / "AGENTS.md"):
        assert replace_file(str(file), b"- tea\n", None)

    assert stat.S_IMODE((home / "AGENTS.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "AGENTS.md").stat().st_mode) == 0o666


async def test_doctor_names_what_cannot_be_closed(home: Path, monkeypatch: pytest.MonkeyPatch):
    await add_fact("local/", NewFact("Likes tea"))
    await close_database()
    assert "nobody else" in await _privacy()
    (home / "dossier.db").chmod(0o644)

    def refused(self: Path, mode: int) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.raises(Problem) as told:
        await _privacy()

    assert (told.value.code, str(home / "dossier.db") in told.value.what) == (
        "home_not_private",
        True,
    )
    assert find_exposed_files() == [settings().home / "dossier.db"]


async def test_a_file_of_settings_a_trace_and_an_upload_are_closed_and_links_are_left(
    home: Path, tmp_path: Path
):
    for name in (
        ".env",
        "server-token",
        "traces/r.jsonl",
        "uploads/t/one/a.csv",
        "users/x/AGENTS.md",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    (tmp_path / "theirs.txt").touch()
    (home / "traces" / "link").symlink_to(tmp_path / "theirs.txt")
    (home / "vectors").symlink_to(tmp_path)
    open_all(home)
    (tmp_path / "theirs.txt").chmod(0o644)

    await add_fact("local/", NewFact("Likes tea"))
    await close_database()

    assert sorted(open_ones(home)) == ["traces/link", "vectors"]
    assert stat.S_IMODE((tmp_path / "theirs.txt").stat().st_mode) == 0o644


async def test_a_home_behind_a_link_is_closed_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (home / "traces").mkdir(parents=True, mode=0o755)
    (tmp_path / "linked").symlink_to(home)
    monkeypatch.setenv("DOSSIER_HOME", str(tmp_path / "linked"))
    new_process()

    await add_fact("local/", NewFact("Likes tea"))
    await close_database()

    assert open_ones(home) == []


async def test_what_a_library_makes_meanwhile_is_closed_at_the_end(home: Path):
    await add_fact("local/", NewFact("Likes tea"))
    (home / "vectors" / "x").mkdir(parents=True)
    (home / "vectors" / "x" / "index.bin").touch(mode=0o666)
    await close_database()

    assert open_ones(home) == []


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/home", "/proc/home", "/" + "x" * 300])
async def test_a_home_that_cannot_be_made_is_told_by_name(place: str):
    with pytest.raises(Problem, match="cannot make") as failure:
        secure_home(Path(place))

    assert failure.value.code == "storage_unavailable"
    assert failure.value.hint


async def test_a_database_that_is_kept_elsewhere_by_a_link_is_closed(home: Path, tmp_path: Path):
    await add_fact("local/", NewFact("Likes tea"))
    await close_database()
    (home / "dossier.db").rename(tmp_path / "kept.db")
    (home / "dossier.db").symlink_to(tmp_path / "kept.db")
    (tmp_path / "kept.db").chmod(0o666)

    secure_home(again=True)

    assert stat.S_IMODE((tmp_path / "kept.db").stat().st_mode) == 0o600


@pytest.fixture
def public() -> Iterator[Path]:
    """Give a folder that others can get to, and use."""
    with tempfile.TemporaryDirectory() as folder:
        deep = Path(folder).resolve() / "deep"
        deep.mkdir()
        deep.parent.chmod(0o711)
        deep.chmod(0o705)
        yield deep


async def test_doctor_names_a_link_to_what_others_may_read(home: Path, public: Path):
    await add_fact("local/", NewFact("Likes tea"))
    await close_database()
    (home / "uploads").symlink_to(public)

    with pytest.raises(Problem) as told:
        await _privacy()

    assert str(home / "uploads") in told.value.what
    assert str(public) in told.value.what
    assert stat.S_IMODE(os.lstat(public).st_mode) == 0o705


async def test_a_link_to_where_others_cannot_get_is_not_named(home: Path, public: Path):
    await add_fact("local/", NewFact("Likes tea"))
    await close_database()
    (home / "traces").symlink_to(public)
    os.chmod(public.parent, 0o700)

    assert "nobody else" in await _privacy()
