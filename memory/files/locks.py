"""Let one process of this home at a time change a memory file."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from config.errors import Problem
from config.settings import settings
from storage.private import FILE, FOLDER

PATIENCE = 30
"""The seconds that others may take; each needs some milliseconds."""

LOOK = 0.005
"""After how many seconds it is looked again whether the file is free."""


@asynccontextmanager
async def alone(name: str) -> AsyncIterator[None]:
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
        raise Problem("memory_file_busy", what, where=name, hint="try again") from error
    except OSError as error:
        what, hint = f"it cannot be written: {error.strerror}", "set DOSSIER_HOME to such a folder"
        raise Problem("storage_unavailable", what, where=str(folder), hint=hint) from error
    try:
        yield
    finally:
        await lock.release()
