"""What a server deletes by itself: conversations past their retention, and what has expired."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from app.cli.prune import save_what_stays
from config.errors import ErrorCode, Problem
from config.settings import DAY, settings
from privacy.retention import list_expired_threads, prune_threads
from runs.lock import thread_lock
from runs.report_shares import delete_expired_shares
from storage.connect import is_database_shared
from storage.engine import flush_writes
from tools.upload_reading import sweep_uploads

INTERVAL_SECONDS = 3_600.0
"""The seconds between two rounds."""

UPKEEP_LOCK = "server.upkeep"
"""The lock of the process that does it; no thread has a full stop in its name."""

_log = logging.getLogger(__name__)


class UpkeepCounts(NamedTuple):
    """How many of each were deleted."""

    threads: int
    shares: int
    uploads: int
    leases: int


async def keep_up() -> None:
    """Delete what has expired once an hour until cancelled; failures are logged."""
    while True:
        await asyncio.sleep(INTERVAL_SECONDS)
        try:
            # File locks would block the event loop of a server.
            deleted = await asyncio.to_thread(asyncio.run, delete_expired())
        except Problem as problem:
            _log.warning("what has expired could not be deleted: %s", problem)
        else:
            if deleted and any(deleted):
                _log.info("deleted because it has expired: %s", deleted._asdict())


async def delete_expired() -> UpkeepCounts | None:
    """Delete what has expired, for all users; return `None` if another process is doing so.

    Conversations are pruned after `DOSSIER_RETENTION_DAYS`: what was learnt and reported stays.

    Raises:
        Problem: What the storage raises.
    """
    try:
        with thread_lock(UPKEEP_LOCK, seconds=0):
            counts = UpkeepCounts(
                await _prune(),
                await delete_expired_shares(),
                await sweep_uploads(None),
                _delete_dead_leases(),
            )
            await flush_writes()
            return counts
    except Problem as problem:
        if problem.error is not ErrorCode.RUN_IN_PROGRESS:
            raise
        return None


async def _prune() -> int:
    named = settings()
    if named.retention_days is None:
        return 0
    seconds = named.retention_days * DAY
    old = await list_expired_threads(None, seconds, named.retention_keep_last)
    # No purge: it rewrites the database, and everybody would wait for it.
    kept = await prune_threads(old, save_what_stays, purge=False) if old else []
    return len(old) - len(kept)


def _delete_dead_leases() -> int:
    if not is_database_shared():
        return 0
    # On SQLite there are none.
    from storage.leases import delete_dead_leases  # noqa: PLC0415

    return delete_dead_leases(DAY)
