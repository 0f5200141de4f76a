"""Memory files on disk.

One writer at a time, read again only when changed, written whole or not at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio

from config.errors import ErrorCode, Problem
from config.settings import settings
from memory.agents_md.content import MAX_FILE_BYTES, file_too_large_problem
from storage.permissions import FILE, FOLDER, open_private

PATIENCE = 30
"""The seconds that others may take; each needs some milliseconds."""

LOOK = 0.005
"""After how many seconds it is looked again whether the file is free."""


@asynccontextmanager
async def file_lock(name: str) -> AsyncIterator[None]:
    """Hold what a name stands for; the lock of a process that dies is released.

    Raises:
        Problem: `memory_file_busy` or `storage_unavailable`.
    """
    # Few commands change a file.
    from filelock import AsyncFileLock, Timeout  # noqa: PLC0415

    folder = settings().locks
    # No thread has a full stop in its name, so none has this lock.
    key = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:32]
    lock = AsyncFileLock(
        str(folder / f"file.{key}.lock"), timeout=PATIENCE, poll_interval=LOOK, mode=FILE
    )
    try:
        await anyio.Path(folder).mkdir(mode=FOLDER, parents=True, exist_ok=True)
        await lock.acquire()
    except Timeout as error:
        what = "another process holds it"
        raise Problem(ErrorCode.MEMORY_FILE_BUSY, what, where=name, hint="try again") from error
    except OSError as error:
        what, hint = f"it cannot be written: {error.strerror}", "set DOSSIER_HOME to such a folder"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=str(folder), hint=hint) from error
    try:
        yield
    finally:
        await lock.release()


def replace_file(path: str, data: bytes, expected: bytes | None) -> bool:
    """Write a file whole; return whether it was what was expected, or nothing was done.

    A link stays one: the file that it leads to is written. What is written is on the disk when this
    returns.

    Args:
        path: Which file; its folder is made where it is missing.
        data: What it shall hold.
        expected: What it must hold; `None` when it must not be there.

    Raises:
        OSError: If it cannot be written; it is as it was then.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        _fill(new, data, file)
        if not (_claimed(file) if expected is None else _held(file) == expected):
            return False
        os.replace(new, file)
        _settle(file.parent)
        return True
    finally:
        new.unlink(missing_ok=True)


def _claimed(file: Path) -> bool:
    """Make an empty file, if nobody has made one yet."""
    try:
        open(file, "xb", opener=open_private).close()
    except FileExistsError:
        return False
    return True


def _fill(new: Path, data: bytes, old: Path) -> None:
    """Write a file that nobody knows yet, with the rights of the one it will replace."""
    with open(new, "xb", opener=open_private) as opened:
        if old.exists():
            os.chmod(new, stat.S_IMODE(old.stat().st_mode))
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _held(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _settle(folder: Path) -> None:
    """Have the names in a folder on the disk, where folders can be opened."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


RACY = 2_000_000_000
"""For so many nanoseconds after a change another one may bear the same time."""

KEPT = 256
"""How many files are kept in memory; each has at most `MAX_FILE_BYTES` bytes."""

Stamp = tuple[int, int, int, int]
"""When a file was changed, itself and its entry in nanoseconds, its size, and its number."""


class CachedFile(NamedTuple):
    """A file as it was read."""

    stamp: Stamp
    settled: bool
    """Whether its time was so long past that every later change has another one."""
    data: bytes


class DiskFiles:
    """Files on disk, by their absolute paths.

    A file is read again when its stamp has changed. File systems count time in ticks, so a file
    that was read within two seconds of its last change is read again too: Git's remedy for what is
    "racily clean" (Documentation/technical/racy-git.txt).

    Whoever writes through this, in any process of one home, does so one after the other. A person's
    editor knows of no lock: what it saved up to the moment in which the new file takes the place of
    the old one is seen, and nothing is written then.
    """

    def __init__(self) -> None:
        self._seen: dict[str, CachedFile] = {}

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none."""
        return await asyncio.to_thread(self.look, path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected any more."""
        if len(data) > MAX_FILE_BYTES:
            raise file_too_large_problem(len(data), path)
        real = await asyncio.to_thread(os.path.realpath, path)
        async with file_lock(real):
            return await asyncio.to_thread(_write, path, data, expected)

    def look(self, path: str) -> bytes | None:
        """Return the same, in the thread that calls."""
        try:
            there, seen = os.stat(path), self._seen.get(path)
            if not stat.S_ISREG(there.st_mode):
                raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, "it is no file", where=path)
            if seen and seen.settled and seen.stamp == _stamp(there):
                return seen.data
            seen = _look(path)
        except FileNotFoundError:
            self._seen.pop(path, None)
            return None
        except OSError as error:
            what = f"it cannot be read: {error.strerror}"
            raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=path) from error
        if len(self._seen) >= KEPT:
            self._seen.clear()
        self._seen[path] = seen
        return seen.data


def _look(path: str) -> CachedFile:
    now = time.time_ns()
    with open(path, "rb") as opened:
        about = os.fstat(opened.fileno())
        if about.st_size > MAX_FILE_BYTES:
            raise file_too_large_problem(about.st_size, path)
        data = opened.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise file_too_large_problem(len(data), path)
    settled = max(about.st_mtime_ns, about.st_ctime_ns) < now - RACY
    return CachedFile(_stamp(about), settled, data)


def _stamp(about: os.stat_result) -> Stamp:
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def _write(path: str, data: bytes, expected: bytes | None) -> bool:
    try:
        return replace_file(path, data, expected)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        raise Problem(ErrorCode.MEMORY_FILE_UNWRITABLE, what, where=path) from error


DISK = DiskFiles()
"""The files on this machine."""
