"""Memory files on disk: read again only when they have changed, written whole or not at all."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from typing import NamedTuple

from config.errors import Problem
from memory.files.locks import alone
from memory.files.replacing import replace
from memory.files.text import LARGEST, too_large

RACY = 2_000_000_000
"""For so many nanoseconds after a change another one may bear the same time."""

KEPT = 256
"""How many files are kept in memory; each has at most `LARGEST` bytes."""

Stamp = tuple[int, int, int, int]
"""When a file was changed, itself and its entry in nanoseconds, its size, and its number."""


class Seen(NamedTuple):
    """A file as it was read."""

    stamp: Stamp
    settled: bool
    """Whether its time was so long past that every later change has another one."""
    data: bytes


class Disk:
    """Files on disk, by their absolute paths.

    A file is read again when its stamp has changed. File systems count time in ticks, so a file
    that was read within two seconds of its last change is read again too: Git's remedy for what is
    "racily clean" (Documentation/technical/racy-git.txt).

    Whoever writes through this, in any process of one home, does so one after the other. A person's
    editor knows of no lock: what it saved up to the moment in which the new file takes the place of
    the old one is seen, and nothing is written then.
    """

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none."""
        return await asyncio.to_thread(self._read, path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected any more."""
        if len(data) > LARGEST:
            raise too_large(len(data), path)
        real = await asyncio.to_thread(os.path.realpath, path)
        async with alone(real):
            return await asyncio.to_thread(_write, path, data, expected)

    def _read(self, path: str) -> bytes | None:
        try:
            there, seen = os.stat(path), self._seen.get(path)
            if not stat.S_ISREG(there.st_mode):
                raise Problem("memory_file_unreadable", "it is no file", where=path)
            if seen and seen.settled and seen.stamp == _stamp(there):
                return seen.data
            seen = _look(path)
        except FileNotFoundError:
            self._seen.pop(path, None)
            return None
        except OSError as error:
            what = f"it cannot be read: {error.strerror}"
            raise Problem("memory_file_unreadable", what, where=path) from error
        if len(self._seen) >= KEPT:
            self._seen.clear()
        self._seen[path] = seen
        return seen.data


def _look(path: str) -> Seen:
    now = time.time_ns()
    with open(path, "rb") as opened:
        about = os.fstat(opened.fileno())
        if about.st_size > LARGEST:
            raise too_large(about.st_size, path)
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise too_large(len(data), path)
    settled = max(about.st_mtime_ns, about.st_ctime_ns) < now - RACY
    return Seen(_stamp(about), settled, data)


def _stamp(about: os.stat_result) -> Stamp:
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def _write(path: str, data: bytes, expected: bytes | None) -> bool:
    try:
        return replace(path, data, expected)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        raise Problem("memory_file_unwritable", what, where=path) from error


DISK = Disk()
"""The files on this machine."""
