"""Bring the checkpoints of a home into its shared database: older programs kept them in a file."""

from __future__ import annotations

import asyncio
import hashlib
import platform
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.settings import settings
from runs.lock import acquire
from runs.postgres_checkpointer import PostgresCheckpointSaver

if TYPE_CHECKING:
    from runs.checkpointer import CheckpointSaver

PATIENCE = 600.0
"""The seconds to wait for another process that does it."""

OpenFile = Callable[[], AbstractAsyncContextManager["CheckpointSaver"]]
"""Opens the checkpoints of the file."""


async def move_checkpoints(saver: PostgresCheckpointSaver, open_file: OpenFile) -> None:
    """Copy all threads of the file into the database, and delete it; without a file do nothing.

    It may be interrupted and repeated: what is in the database already stays as it is there.

    Raises:
        Problem: `storage_corrupt` if a thread cannot be read.
    """
    file = settings().checkpoints
    if not await asyncio.to_thread(file.exists):
        return
    # The processes of a home do it one after the other.
    lock = await asyncio.to_thread(acquire, f"move-{_name(file)}", PATIENCE)
    try:
        if await asyncio.to_thread(file.exists):
            async with open_file() as old:
                for thread in await old.list_threads():
                    of_thread: Any = {"configurable": {"thread_id": thread}}
                    async for found in old.alist(of_thread):
                        await saver.import_checkpoint(found)
            await asyncio.to_thread(_delete, file)
    finally:
        await asyncio.to_thread(lock.release)


def _name(file: Path) -> str:
    """Return a name for a file of this machine, which no other machine's has."""
    return hashlib.sha256(f"{platform.node()} {file.absolute()}".encode()).hexdigest()[:16]


def _delete(file: Path) -> None:
    for one in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        one.unlink(missing_ok=True)
