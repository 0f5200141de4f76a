"""What a server deletes by itself: old conversations as the operator says, and what has expired."""

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

PAUSE = 3_600.0
"""The seconds between two times."""

UPKEEP_LOCK = "server.upkeep"
"""What a process holds meanwhile; no thread has a full stop in its name."""

_log = logging.getLogger(__name__)


class UpkeepCounts(NamedTuple):
    """How much was deleted."""

    threads: int
    shares: int
    uploads: int
    leases: int


async def keep_up() -> None:
    """Delete what has expired again and again, until it is cancelled; failures are logged."""
    while True:
        await asyncio.sleep(PAUSE)
        try:
            # Locks of files are no work for the event loop of a server.
            deleted = await asyncio.to_thread(asyncio.run, delete_expired())
        except Problem as problem:
            _log.warning("what has expired could not be deleted: %s", problem)
        else:
            if deleted and any(deleted):
                _log.info("deleted because it has expired: %s", deleted._asdict())


async def delete_expired() -> UpkeepCounts | None:
    """Delete what has expired of everybody; `None` when another process does so just now.

    Conversations are pruned after `DOSSIER_RETENTION_DAYS`: what was learnt and reported stays.

    Raises:
        Problem: What the storage tells of.
    """
    try:
        with thread_lock(UPKEEP_LOCK, seconds=0):
            counts = UpkeepCounts(
                await _prune(), await delete_expired_shares(), await sweep_uploads(None), _leases()
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
    # Others would wait while the database is rewritten.
    kept = await prune_threads(old, save_what_stays, purge=False) if old else []
    return len(old) - len(kept)


def _leases() -> int:
    if not is_database_shared():
        return 0
    # On SQLite there are none.
    from storage.leases import delete_dead_leases  # noqa: PLC0415

    return delete_dead_leases(DAY)
