"""Memory files on disk: one writer at a time, cached until changed, written atomically."""

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
from typing import TYPE_CHECKING, NamedTuple

import anyio

from config.errors import ErrorCode, Problem
from config.resources import RecentCache
from config.settings import settings
from memory.agents_md.content import MAX_FILE_BYTES, file_too_large_problem
from storage.permissions import FILE, FOLDER, open_private

if TYPE_CHECKING:
    from filelock import AsyncFileLock, Timeout

LOCK_SECONDS = 30
"""How long to wait for a lock; each writer needs some milliseconds."""

POLL_SECONDS = 0.005
"""The time between two attempts to take a lock."""


def _import_file_lock() -> tuple[type[AsyncFileLock], type[Timeout]]:
    """Import the lock and its error; that tries links on the disk, and few commands need it."""
    from filelock import AsyncFileLock, Timeout  # noqa: PLC0415

    return AsyncFileLock, Timeout


@asynccontextmanager
async def file_lock(name: str) -> AsyncIterator[None]:
    """Hold the lock of a name; the lock of a process that dies is released.

    Raises:
        Problem: `memory_file_busy` or `storage_unavailable`.
    """
    lock_kind, timeout = await asyncio.to_thread(_import_file_lock)
    folder = settings().locks
    # No thread has a full stop in its name, so none has this lock.
    key = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:32]
    file = str(folder / f"file.{key}.lock")
    lock = lock_kind(file, timeout=LOCK_SECONDS, poll_interval=POLL_SECONDS, mode=FILE)
    try:
        await anyio.Path(folder).mkdir(mode=FOLDER, parents=True, exist_ok=True)
        await lock.acquire()
    except timeout as error:
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
    """Replace a file atomically; return `False` and do nothing if it has changed.

    Of a link, the target is written. The data are on the disk when this returns.

    Args:
        path: The file; its folder is made if missing.
        data: Its new content.
        expected: The content it must have; `None` if it must not exist.

    Raises:
        OSError: If it cannot be written; it is unchanged then.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        _fill(new, data, file)
        if not (_create(file) if expected is None else _read(file) == expected):
            return False
        os.replace(new, file)
        _sync_folder(file.parent)
        return True
    finally:
        new.unlink(missing_ok=True)


def _create(file: Path) -> bool:
    """Make an empty file; return whether there was none."""
    try:
        open(file, "xb", opener=open_private).close()
    except FileExistsError:
        return False
    return True


def _fill(new: Path, data: bytes, old: Path) -> None:
    """Write a temporary file with the permissions of the one it will replace."""
    with open(new, "xb", opener=open_private) as opened:
        if old.exists():
            os.chmod(new, stat.S_IMODE(old.stat().st_mode))
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, where folders can be opened."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


RACY_NANOSECONDS = 2_000_000_000
"""How long after a change another one may get the same time stamp."""

CACHED_FILES = 256
"""How many files are cached; each has at most `MAX_FILE_BYTES` bytes."""

Stamp = tuple[int, int, int, int]
"""The times of change of a file's content and entry in nanoseconds, its size, and its inode."""


class CachedFile(NamedTuple):
    """A file as it was read."""

    stamp: Stamp
    settled: bool
    """Whether it was old enough that every later change has another time stamp."""
    data: bytes


class DiskFiles:
    """Files on disk, by their absolute paths.

    A file is read again when its stamp has changed. File systems count time in ticks, so a file
    that was read within two seconds of its last change is read again too: Git's remedy for what is
    "racily clean" (Documentation/technical/racy-git.txt).

    Writers through this class, in any process of one home, wait for each other. A person's editor
    knows no lock: what it saved before the file is replaced is noticed, and nothing is written.
    """

    def __init__(self) -> None:
        self._cache = RecentCache[str, CachedFile](CACHED_FILES)

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none."""
        return await asyncio.to_thread(self.look, path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file unless it has changed."""
        if len(data) > MAX_FILE_BYTES:
            raise file_too_large_problem(len(data), path)
        real = await asyncio.to_thread(os.path.realpath, path)
        async with file_lock(real):
            return await asyncio.to_thread(_write, path, data, expected)

    def look(self, path: str) -> bytes | None:
        """Return the same in the calling thread."""
        try:
            status, cached = os.stat(path), self._cache.get(path)
            if not stat.S_ISREG(status.st_mode):
                raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, "it is no file", where=path)
            if cached and cached.settled and cached.stamp == _stamp(status):
                return cached.data
            cached = self._cache[path] = _load(path)
        except FileNotFoundError:
            self._cache.pop(path, None)
            return None
        except OSError as error:
            what = f"it cannot be read: {error.strerror}"
            raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=path) from error
        return cached.data


def _load(path: str) -> CachedFile:
    now = time.time_ns()
    with open(path, "rb") as opened:
        status = os.fstat(opened.fileno())
        data = opened.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise file_too_large_problem(max(status.st_size, len(data)), path)
    settled = max(status.st_mtime_ns, status.st_ctime_ns) < now - RACY_NANOSECONDS
    return CachedFile(_stamp(status), settled, data)


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _write(path: str, data: bytes, expected: bytes | None) -> bool:
    try:
        return replace_file(path, data, expected)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        raise Problem(ErrorCode.MEMORY_FILE_UNWRITABLE, what, where=path) from error


DISK = DiskFiles()
"""The files on this machine."""
