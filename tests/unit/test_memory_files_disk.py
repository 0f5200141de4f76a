"""Memory files on disk: no change is missed, none is lost, and none is half done."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from config.errors import Problem
from memory.agents_md import disk
from memory.agents_md.backends import change_file
from memory.agents_md.disk import DiskFiles

HOUR = 3_600 * 10**9


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "hive").mkdir()
    return tmp_path / "hive" / "AGENTS.md"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that were really read."""
    paths: list[str] = []
    look = disk._load

    def spy(path: str) -> disk.CachedFile:
        paths.append(path)
        return look(path)

    monkeypatch.setattr(disk, "_load", spy)
    return paths


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an hour pass."""
    now = time.time_ns() + HOUR
    monkeypatch.setattr(disk.time, "time_ns", lambda: now)


async def test_a_file_that_has_not_changed_for_long_is_read_once(
    file, looks, monkeypatch: pytest.MonkeyPatch
):
    file.write_bytes(b"a")
    files = DiskFiles()
    later(monkeypatch)

    assert [await files.read(str(file)) for _ in range(3)] == [b"a"] * 3
    assert len(looks) == 1


@pytest.mark.parametrize("hidden", [False, True])
async def test_a_change_within_a_tick_of_the_clock_is_not_missed(
    file, monkeypatch: pytest.MonkeyPatch, hidden: bool
):
    monkeypatch.setattr(disk, "_stamp", lambda about: (1, 1, about.st_size, 1))
    file.write_bytes(b"a")
    if hidden:
        os.utime(file, (1, 1))
    files = DiskFiles()
    await files.read(str(file))
    file.write_bytes(b"b")

    later(monkeypatch)

    assert await files.read(str(file)) == b"b"


async def test_a_change_that_hides_its_time_is_not_missed(file, monkeypatch: pytest.MonkeyPatch):
    file.write_bytes(b"a")
    os.utime(file, (1, 1))
    files = DiskFiles()
    later(monkeypatch)
    await files.read(str(file))
    file.write_bytes(b"b")
    os.utime(file, (1, 1))

    assert await files.read(str(file)) == b"b"


async def test_a_file_that_took_the_place_of_another_is_read(file, monkeypatch):
    file.write_bytes(b"a")
    files = DiskFiles()
    later(monkeypatch)
    await files.read(str(file))
    other = file.with_name("other")
    other.write_bytes(b"b")
    os.replace(other, file)

    assert await files.read(str(file)) == b"b"


async def test_a_file_is_made_with_its_folders_only_if_it_is_not_there(tmp_path: Path):
    path = str(tmp_path / "new" / "folder" / "AGENTS.md")
    files = DiskFiles()

    assert await files.read(path) is None
    assert await files.write(path, b"a", None)
    assert not await files.write(path, b"b", None)
    assert await files.read(path) == b"a"


@pytest.mark.parametrize("expected", [b"a", b"", None])
async def test_what_is_not_as_expected_is_not_written(file, expected: bytes | None):
    file.write_bytes(b"mine")
    files = DiskFiles()

    assert not await files.write(str(file), b"theirs", expected)
    assert file.read_bytes() == b"mine"
    assert os.listdir(file.parent) == [file.name]


async def test_what_a_person_saved_while_the_new_file_was_written_stays(
    file, monkeypatch: pytest.MonkeyPatch
):
    file.write_bytes(b"a\n")
    fill = disk._fill
    saved = iter([b"a\nby hand\n"])

    def slow(new: Path, data: bytes, old: Path) -> None:
        fill(new, data, old)
        for text in saved:
            file.write_bytes(text)

    monkeypatch.setattr(disk, "_fill", slow)
    await change_file(DiskFiles(), str(file), lambda held: (held or b"") + b"by an agent\n")

    assert file.read_bytes() == b"a\nby hand\nby an agent\n"


async def test_a_file_that_is_saved_all_the_time_is_given_up(file):
    files = DiskFiles()
    number = iter(range(1000))

    def restless(held: bytes | None) -> bytes:
        file.write_bytes(b"%d" % next(number))
        return b"x"

    with pytest.raises(Problem) as problem:
        await change_file(files, str(file), restless)

    assert (problem.value.code, problem.value.where) == ("memory_file_busy", str(file))


async def test_many_writers_at_once_lose_nothing(file):
    files = DiskFiles()

    async def add(number: int) -> None:
        await change_file(files, str(file), lambda held: (held or b"") + b"%d\n" % number)

    await asyncio.gather(*(add(number) for number in range(30)))

    assert sorted(map(int, file.read_text().split())) == list(range(30))


async def test_a_link_stays_one_and_the_rights_stay(tmp_path: Path, file):
    real = tmp_path / "dotfiles" / "agents.md"
    real.parent.mkdir()
    real.write_bytes(b"a")
    real.chmod(0o640)
    file.symlink_to(real)

    assert await DiskFiles().write(str(file), b"b", b"a")
    assert file.is_symlink()
    assert real.read_bytes() == b"b"
    assert real.stat().st_mode & 0o777 == 0o640


async def test_a_write_that_fails_leaves_the_file_as_it_was(file, monkeypatch: pytest.MonkeyPatch):
    file.write_bytes(b"a")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "fsync", full)
    with pytest.raises(Problem) as problem:
        await DiskFiles().write(str(file), b"b", b"a")

    assert (problem.value.code, problem.value.where) == ("memory_file_unwritable", str(file))
    assert os.listdir(file.parent) == [file.name]
    assert file.read_bytes() == b"a"


async def test_a_file_does_not_grow_beyond_what_can_be_read(file):
    with pytest.raises(Problem) as problem:
        await DiskFiles().write(str(file), b"x" * 65_537, None)

    assert problem.value.code == "memory_file_too_large"
    assert not file.exists()
