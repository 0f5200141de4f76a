"""Prune old threads: delete what makes runs resumable, keep facts and reports."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, select

from config.errors import ErrorCode, Problem
from library.tables import sources
from memory.tables import heard
from runs.checkpointer import open_checkpointer
from runs.lifecycle import UNFINISHED_STATUSES
from runs.lock import thread_lock, thread_lock_file
from runs.tables import attempts, calls, report_shares, runs, trace_lines, watch_checks
from runs.trace import flush_traces, trace_file
from storage.engine import flush_writes, read_rows, run_write
from storage.leases import delete_lease
from storage.maintenance import purge_deleted_data


class ExpiredThread(NamedTuple):
    """A thread without recent runs, and its runs."""

    thread: str
    runs: tuple[str, ...]
    updated: float
    """When the last of them ended, in seconds since 1970."""


Before = Callable[[ExpiredThread], Awaitable[None]]
"""Called with a thread before it is deleted."""


async def list_expired_threads(owner: str, seconds: float) -> list[ExpiredThread]:
    """Return the threads of an owner whose runs all ended at least `seconds` ago, oldest first."""
    mine = select(runs.c.id, runs.c.thread, runs.c.updated).filter_by(owner=owner)
    newest = func.max(runs.c.updated)
    unfinished = select(runs.c.thread).where(runs.c.status.in_(UNFINISHED_STATUSES))
    over = select(runs.c.thread).group_by(runs.c.thread).having(newest <= time.time() - seconds)
    wanted = mine.where(runs.c.thread.in_(over), runs.c.thread.not_in(unfinished))
    threads: dict[str, ExpiredThread] = {}
    for row in await read_rows(wanted.order_by(runs.c.updated, runs.c.id)):
        old = threads.get(row.thread, ExpiredThread(row.thread, (), 0.0))
        threads[row.thread] = ExpiredThread(row.thread, (*old.runs, row.id), row.updated)
    return sorted(threads.values(), key=lambda thread: thread.updated)


async def prune_threads(
    threads: Sequence[ExpiredThread], before: Before | None = None
) -> list[ExpiredThread]:
    """Delete checkpoints, traces, ledger and records of threads; return the threads that stay.

    A thread stays while a process works on it, or if it was resumed since it was listed. Pages,
    facts, insights, the event log and the files of reports stay. The records are deleted last, so
    that an interrupted pruning can be repeated.

    Args:
        threads: The threads to prune.
        before: Called with each thread before it is deleted.
    """
    kept: list[ExpiredThread] = []
    await flush_traces()
    await flush_writes()
    async with open_checkpointer() as saver:
        for old in threads:
            try:
                with thread_lock(old.thread):
                    if not await _unchanged(old):
                        kept.append(old)
                        continue
                    if before is not None:
                        await before(old)
                    await saver.aprune([old.thread], strategy="delete")
                    remove_thread_files(old)
                    await run_write(partial(delete_run_records, old=old))
            except Problem as problem:
                if problem.code != ErrorCode.RUN_IN_PROGRESS:
                    raise
                kept.append(old)
        await saver.compact()
    await purge_deleted_data()
    return kept


async def _unchanged(old: ExpiredThread) -> bool:
    """Return whether a thread still has the same runs, all of them ended."""
    wanted = select(runs.c.id, runs.c.status).filter_by(thread=old.thread)
    status = {row.id: row.status for row in await read_rows(wanted)}
    return status.keys() == set(old.runs) and not set(status.values()) & set(UNFINISHED_STATUSES)


def remove_thread_files(old: ExpiredThread) -> None:
    """Remove the trace files and the lock of an idle thread."""
    for run in old.runs:
        trace_file(run).unlink(missing_ok=True)
    thread_lock_file(old.thread).unlink(missing_ok=True)


def delete_run_records(connection: Connection, *, old: ExpiredThread) -> None:
    """Delete the rows that make the runs of a thread resumable."""
    connection.execute(delete(calls).where(calls.c.run.in_(old.runs)))
    connection.execute(delete(attempts).where(attempts.c.run.in_(old.runs)))
    connection.execute(delete(trace_lines).where(trace_lines.c.run.in_(old.runs)))
    connection.execute(delete(heard).filter_by(thread=old.thread))
    connection.execute(delete(sources).filter_by(thread=old.thread))
    connection.execute(delete(report_shares).where(report_shares.c.run.in_(old.runs)))
    connection.execute(delete(watch_checks).where(watch_checks.c.run.in_(old.runs)))
    delete_lease(connection, old.thread)
    connection.execute(delete(runs).where(runs.c.id.in_(old.runs)))
