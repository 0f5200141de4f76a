"""Bring the checkpoints of a home into its shared database: older programs kept them in a file."""

from __future__ import annotations

import asyncio
import hashlib
import platform
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from config.resources import Resource
from config.settings import settings
from runs.lock import acquire
from runs.postgres_checkpointer import PostgresCheckpointSaver
from runs.tables import runs
from storage.engine import read_rows

if TYPE_CHECKING:
    from runs.checkpointer import CheckpointSaver

PATIENCE = 600.0
"""The seconds to wait for another process that does it."""

_done = Resource(set[tuple[str, str]])
"""The databases and files for which this process has done it."""

OpenFile = Callable[[], AbstractAsyncContextManager["CheckpointSaver"]]
"""Opens the checkpoints of the file."""


async def move_checkpoints(saver: PostgresCheckpointSaver, open_file: OpenFile) -> None:
    """Move threads of the file into the database if their runs are there; do so once in a process.

    Others are those of another database, to which this home may go back. It may be interrupted and
    repeated: what is in the database already stays as it is there.

    Raises:
        Problem: `storage_corrupt` if a thread cannot be read.
    """
    file, done = settings().checkpoints, _done.get()
    place = (settings().database, str(file))
    if place in done or not await asyncio.to_thread(file.exists):
        return
    # The processes of a home do it one after the other.
    lock = await asyncio.to_thread(acquire, f"move-{_name(file)}", PATIENCE)
    try:
        if await asyncio.to_thread(file.exists):
            async with open_file() as old:
                await _move_known(old, saver)
                is_empty = not await old.list_threads()
            if is_empty:
                await asyncio.to_thread(_delete, file)
        done.add(place)
    finally:
        await asyncio.to_thread(lock.release)


async def _move_known(old: CheckpointSaver, saver: PostgresCheckpointSaver) -> None:
    known = set((await read_rows(select(runs.c.thread).distinct())).scalars())
    for thread in known.intersection(await old.list_threads()):
        of_thread: Any = {"configurable": {"thread_id": thread}}
        async for found in old.alist(of_thread):
            await saver.import_checkpoint(found)
        await old.adelete_thread(thread)


def _name(file: Path) -> str:
    """Return a name for a file of this machine, which no other machine's has."""
    return hashlib.sha256(f"{platform.node()} {file.absolute()}".encode()).hexdigest()[:16]


def _delete(file: Path) -> None:
    for one in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        one.unlink(missing_ok=True)
