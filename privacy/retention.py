"""Prune old threads: delete what makes runs resumable, keep facts and reports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, Engine, delete, func, select, text

from config.errors import ErrorCode, Problem
from library.tables import sources
from memory.tables import heard
from runs.checkpointer import open_checkpointer
from runs.lifecycle import UNFINISHED_STATUSES
from runs.lock import thread_lock, thread_lock_file
from runs.month_costs import keep_deleted_costs
from runs.tables import attempts, calls, report_shares, runs, trace_lines, watch_checks
from runs.trace import flush_traces, trace_file
from storage.batches import split_batches
from storage.engine import flush_writes, get_engine, read_rows, run_write
from storage.leases import delete_lease
from storage.maintenance import purge_deleted_data
from storage.snapshot import measure_checkpoints, open_snapshot


class ExpiredThread(NamedTuple):
    """A thread without recent runs, and its runs."""

    thread: str
    runs: tuple[str, ...]
    updated: float
    """When the last of them ended, in seconds since 1970."""
    owner: str = ""
    """Whose they are."""


Before = Callable[[ExpiredThread], Awaitable[None]]
"""Called with a thread before it is deleted."""


async def list_expired_threads(
    owner: str | None, seconds: float, keep_last: int = 0
) -> list[ExpiredThread]:
    """Return the threads whose runs all ended at least `seconds` ago, oldest first.

    Args:
        owner: Whose; `None` for those of everybody.
        seconds: How long ago.
        keep_last: How many threads of each owner are kept however old they are, the newest ones.
    """
    mine = select(runs.c.id, runs.c.thread, runs.c.updated, runs.c.owner)
    if owner is not None:
        mine = mine.where(runs.c.owner == owner)
    newest = func.max(runs.c.updated)
    unfinished = select(runs.c.thread).where(runs.c.status.in_(UNFINISHED_STATUSES))
    over = select(runs.c.thread).group_by(runs.c.thread).having(newest <= time.time() - seconds)
    wanted = mine.where(runs.c.thread.in_(over), runs.c.thread.not_in(unfinished))
    kept = await _list_newest(keep_last) if keep_last else set()
    threads: dict[str, ExpiredThread] = {}
    for row in await read_rows(wanted.order_by(runs.c.updated, runs.c.id)):
        if row.thread not in kept:
            earlier = threads[row.thread].runs if row.thread in threads else ()
            found = ExpiredThread(row.thread, (*earlier, row.id), row.updated, row.owner)
            threads[row.thread] = found
    return sorted(threads.values(), key=lambda thread: thread.updated)


async def _list_newest(most: int) -> set[str]:
    """Return the newest threads of each owner, so many of each at most."""
    last = func.max(runs.c.updated).label("last")
    newest = select(runs.c.owner, runs.c.thread, last).group_by(runs.c.owner, runs.c.thread)
    place = func.row_number().over(partition_by=text("owner"), order_by=text("last DESC"))
    placed = newest.subquery()
    ranked = select(placed.c.thread, place.label("place")).select_from(placed).subquery()
    wanted = select(ranked.c.thread).where(ranked.c.place <= most)
    return {*(await read_rows(wanted)).scalars()}


async def measure_threads(threads: Sequence[ExpiredThread]) -> int:
    """Return about how many bytes threads take: checkpoints, recorded answers, traces."""
    return await asyncio.to_thread(_measure, await get_engine(), threads)


def _measure(engine: Engine, threads: Sequence[ExpiredThread]) -> int:
    ids = {run for one in threads for run in one.runs}
    files = [trace_file(run) for run in ids]
    size = sum(one.stat().st_size for one in files if one.exists())
    with open_snapshot(engine) as snapshot:
        for part in split_batches([*ids]):
            answers = select(func.sum(func.length(calls.c.result))).where(calls.c.run.in_(part))
            size += snapshot.tables.execute(answers).scalar() or 0
        if (saved := snapshot.checkpoints) is not None:
            for part in split_batches([one.thread for one in threads]):
                size += measure_checkpoints(saved, part)
    return int(size)


async def prune_threads(
    threads: Sequence[ExpiredThread], before: Before | None = None, *, purge: bool = True
) -> list[ExpiredThread]:
    """Delete checkpoints, traces, ledger and records of threads; return the threads that stay.

    A thread stays while a process works on it, or if it was resumed since it was listed. Pages,
    facts, insights, the event log and the files of reports stay. The records are deleted last, so
    that an interrupted pruning can be repeated.

    Args:
        threads: The threads to prune.
        before: Called with each thread before it is deleted.
        purge: Whether the database is rewritten without what is deleted, which others wait for.
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
    if purge:
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
    keep_deleted_costs(connection, old.runs)
    connection.execute(delete(calls).where(calls.c.run.in_(old.runs)))
    connection.execute(delete(attempts).where(attempts.c.run.in_(old.runs)))
    connection.execute(delete(trace_lines).where(trace_lines.c.run.in_(old.runs)))
    connection.execute(delete(heard).filter_by(thread=old.thread))
    connection.execute(delete(sources).filter_by(thread=old.thread))
    connection.execute(delete(report_shares).where(report_shares.c.run.in_(old.runs)))
    connection.execute(delete(watch_checks).where(watch_checks.c.run.in_(old.runs)))
    delete_lease(connection, old.thread)
    connection.execute(delete(runs).where(runs.c.id.in_(old.runs)))
