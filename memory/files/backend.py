"""Where memory files lie: on disk, in the state of a graph, in a store, or anywhere else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from config.errors import Problem

TRIES = 100
"""How often a change is made again because the file has been changed meanwhile."""


class Backend(Protocol):
    """A place for files; all its methods may be called from several tasks at once."""

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        ...

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless somebody else has written it since it was read.

        Args:
            path: Which file.
            data: What it shall hold.
            expected: What it held when it was read; `None` for a file that is to be made.

        Returns:
            Whether it was written; if not, it is as it was.

        Raises:
            Problem: `memory_file_unwritable`, with the path.
        """
        ...


class Change(NamedTuple):
    """What a file held before a change, and what it holds after it."""

    before: bytes | None
    after: bytes


async def change(
    files: Backend, path: str, how: Callable[[bytes | None], Awaitable[bytes] | bytes]
) -> Change:
    """Change a file, and again if it is changed by others meanwhile, until it holds.

    Args:
        files: Where it lies.
        path: Which file.
        how: Is told what the file holds, and returns what it shall hold.

    Raises:
        Problem: `memory_file_busy` when others never leave it alone, or what `files` raises.
    """
    for _ in range(TRIES):
        before = await files.read(path)
        wanted = how(before)
        after = wanted if isinstance(wanted, bytes) else await wanted
        if after == (before or b"") or await files.write(path, after, before):
            return Change(before, after)
    what = "it is changed all the time"
    raise Problem("memory_file_busy", what, where=path, hint="try again")
