"""Plan an erasure, carry it out, resume one that was interrupted, and delete threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select

from config.errors import Problem
from config.settings import settings
from library import chroma
from library.page_erasure import forget_pages
from library.store import find_computed_pages
from library.tables import namespaces, pages, vector_sets
from library.uploaded_files import discard_uploads
from memory.agents_md import memory as memory_files
from memory.facts.memory import find_repeating_facts
from memory.protocol import Erase, MemoryItem
from memory.registry import MEMORIES, find_items
from memory.tables import facts, utterances
from privacy import erasure_stores, saved_states
from privacy.affected_threads import AffectedThreads, find_affected_threads
from privacy.erasure_target import ErasurePatterns, ErasureTarget, build_erasure_target
from privacy.retention import ExpiredThread, delete_run_records, remove_thread_files
from privacy.saved_states import ReportState
from report.report_places import remove_stored_report
from runs.checkpointer import open_checkpointer
from runs.lock import acquire
from runs.tables import runs
from runs.trace import flush_traces
from storage import maintenance, outbox
from storage.connect import is_database_shared
from storage.engine import (
    commit_statements,
    flush_writes,
    read_rows,
    run_read,
    run_write,
    write_in_group,
)
from storage.tables import outbox as jobs

FORGET_JOB = "forget"
"""The outbox job that marks an erasure as unfinished."""

ERASURE_REASON = "at the person's wish"

CHROMA_CAVEAT = "the files of the Chroma server are its own"
"""Reported when a Chroma server stores the vectors."""

ReportRewriter = Callable[[Sequence[ReportState]], Awaitable[int]]
"""Rewrites the files of affected reports; returns the number of reports."""


class ErasurePlan(NamedTuple):
    """What an erasure would change."""

    target: ErasureTarget
    patterns: ErasurePatterns
    affected: AffectedThreads
    pages: int
    """The number of pages: the selected ones and those that repeat part of them."""
    facts: int
    reports: tuple[ReportState, ...]
    """The reports that change, and those whose files must be checked again."""
    files: tuple[str, ...]
    """Memory files in which the person wrote the same; these lines stay."""
    unreadable: tuple[Problem, ...]
    """The memory files that cannot be read and stay unchanged, each with the reason."""
    rewritten: tuple[str, ...] = ()
    """The memory files and traces to rewrite."""
    deleted: tuple[str, ...] = ()
    """The uploaded files to delete because one of their pages is erased."""

    @property
    def threads(self) -> list[str]:
        """The owner's conversations that change."""
        return sorted({*self.affected.threads} & {*self.affected.owner_threads.owned})


async def resolve_erasure_target(owner: str, ids: Sequence[str]) -> ErasureTarget:
    """Resolve ids of any memory to an erasure target.

    A run, or a message that facts were learned from, selects the run's question, facts and reports.

    Args:
        owner: The owner of the items.
        ids: The ids; those of an unfinished erasure may be missing already.

    Raises:
        Problem: `memory_not_found` or `memory_ambiguous`.
    """
    unfinished = await list_unfinished_erasures(owner)
    run_ids: list[str] = []
    items: list[MemoryItem] = []
    for id in dict.fromkeys(ids):
        run, item_ids = await run_read(partial(_items_of_run, owner=owner, id=id))
        run_ids += [run] if run else []
        for item_id in item_ids if run else [id]:
            try:
                found = await find_items(owner, item_id)
            except Problem:
                # An unfinished erasure may have deleted the row.
                if item_id not in unfinished:
                    raise
            else:
                items += [item for item in found if item.state != "forgotten"]
    return build_erasure_target(owner, {item.id: item for item in items}.values(), run_ids)


async def list_unfinished_erasures(owner: str) -> set[str]:
    """Return the ids whose erasure is not finished."""
    unfinished = await run_read(partial(_unfinished, owner=owner))
    return {id for data in unfinished for id in data.get("ids", [])}


async def plan_erasure(what: ErasureTarget) -> ErasurePlan:
    """Return what erasing a target would change, without changing anything."""
    what = what._replace(pages=(*what.pages, *await find_computed_pages(what.owner, what.pages)))
    if is_database_shared():
        # What an older program has saved in a file is in the database from here on.
        async with open_checkpointer():
            pass
    async with saved_states.use_checkpoints() as saved:
        patterns, affected = await run_read(partial(find_affected_threads, what=what, saved=saved))
        reports = [
            report
            for thread, erasure in affected.threads.items()
            for report in await asyncio.to_thread(saved.list_affected_reports, thread, erasure)
            if report.run in affected.owner_threads.by_run
        ]
    for run, pruned in affected.owner_threads.pruned.items():
        if report := pruned.to_report_state(affected.get_erasure(run)):
            reports.append(report)
    counts = await run_read(partial(_counts, what=what, patterns=patterns, affected=affected))
    request = what.request_for("instructions", affected.everywhere)
    rewritten = await memory_files.find_affected_memory_files(request)
    rewritten += await asyncio.to_thread(
        erasure_stores.find_affected_traces, affected.owner_threads.by_run, affected
    )
    deleted = await run_read(
        partial(erasure_stores.find_affected_uploads, what=what, known=patterns, reach=affected)
    )
    return ErasurePlan(
        what,
        patterns,
        affected,
        *counts,
        tuple(reports),
        files=tuple(await memory_files.find_personal_mentions(request)),
        unreadable=tuple(await memory_files.unreadable_files(what.owner)),
        rewritten=tuple(rewritten),
        deleted=tuple(deleted),
    )


async def execute_erasure(plan: ErasurePlan, rewrite_reports: ReportRewriter) -> str:
    """Carry out a plan, and finish earlier unfinished erasures of the owner.

    It may be interrupted at any point and repeated: the rows that identify the erased text are
    deleted last.

    Args:
        plan: What to erase.
        rewrite_reports: Rewrites the files of reports.

    Returns:
        The limits of the erasure, in words for a person; empty if there are none.

    Raises:
        Problem: `run_in_progress` while a run works in one of the conversations, `storage_busy`
            while another process reads, or the reason why a file cannot be written.
    """
    owner = plan.target.owner
    await flush_writes()
    async with AsyncExitStack() as stack:
        for thread in plan.threads:
            await stack.enter_async_context(_hold_thread(thread))
        data = {"ids": plan.target.ids}
        await run_write(lambda c: outbox.enqueue_job(c, owner, FORGET_JOB, data))
        await rewrite_reports(plan.reports)
        request = partial(
            plan.target.request_for, everywhere=plan.affected.everywhere, why=ERASURE_REASON
        )
        erasures = [await memory.erase(request(memory.name)) for memory in MEMORIES]
        async with saved_states.use_checkpoints() as saved:
            for thread, erasure in plan.affected.threads.items():
                await asyncio.to_thread(saved.erase_in_thread, thread, erasure)
        runs = plan.affected.owner_threads.by_run
        await flush_traces()
        await asyncio.to_thread(erasure_stores.erase_in_traces, runs, plan.affected)
        await asyncio.to_thread(erasure_stores.delete_files, plan.deleted)
        await run_write(partial(_erase_in_database, plan=plan, erasures=erasures))
    return await finish_erasure(owner)


async def finish_erasure(owner: str) -> str:
    """Purge deleted data from the databases and close the erasure; return its limits."""
    for data in await run_read(partial(_unfinished, owner=owner)):
        for name in data.get("collections", []):
            await asyncio.to_thread(chroma.drop_collection, name)
    async with saved_states.use_checkpoints() as saved:
        await asyncio.to_thread(saved.scrub)
    caveats = [await maintenance.purge_deleted_data()]
    caveats += [CHROMA_CAVEAT] if settings().chroma_url else []
    done = jobs.delete().filter_by(owner=owner, job=FORGET_JOB)
    await run_write(lambda connection: connection.execute(done))
    return "; ".join(filter(None, caveats))


@asynccontextmanager
async def _hold_thread(thread: str) -> AsyncIterator[None]:
    """Hold the lock of a conversation; no event loop waits for the disk.

    Raises:
        Problem: `run_in_progress`.
    """
    lock = await asyncio.to_thread(acquire, thread)
    try:
        yield
    finally:
        await asyncio.to_thread(lock.release)


def _items_of_run(connection: Connection, owner: str, id: str) -> tuple[str, list[str]]:
    """Return the run of a run id or message id, and the ids of its facts and reports."""
    wanted = select(facts.c.run).filter_by(owner=owner, message=id)
    run_id = connection.execute(wanted.limit(1)).scalar() or id
    run = connection.execute(select(runs.c.id).filter_by(owner=owner, id=run_id)).scalar()
    if not run:
        return "", []
    learned = select(facts.c.id).filter_by(owner=owner, run=run)
    reports = select(pages.c.id).filter_by(owner=owner, kind="report", origin=run)
    return run, [id for ids in (learned, reports) for id in connection.execute(ids).scalars()]


def _counts(
    connection: Connection,
    what: ErasureTarget,
    patterns: ErasurePatterns,
    affected: AffectedThreads,
) -> tuple[int, int]:
    """Return how many pages and how many facts change."""
    repeating_pages = erasure_stores.find_affected_pages(connection, what, patterns, affected)
    repeating = find_repeating_facts(connection, what.request_for("facts", affected.everywhere))
    return len(what.pages) + len(repeating_pages), len(what.facts) + len(repeating)


def _unfinished(connection: Connection, owner: str) -> list[dict[str, Any]]:
    mine = select(jobs.c.data).filter_by(owner=owner, job=FORGET_JOB)
    return [json.loads(data) for data in connection.execute(mine).scalars()]


def _erase_in_database(
    connection: Connection, plan: ErasurePlan, erasures: Sequence[Erase]
) -> None:
    """Erase rows, and queue the collections that hold vectors of erased pages."""
    names = _detach_collections(connection, plan.target.owner) if plan.pages else []
    erasure_stores.erase_rows(
        connection, plan.target, plan.patterns, plan.affected, erasures, ERASURE_REASON
    )
    outbox.enqueue_job(connection, plan.target.owner, FORGET_JOB, {"collections": names})


def _detach_collections(connection: Connection, owner: str) -> list[str]:
    """Detach the owner's collections from their vector sets, to be rebuilt; return their names."""
    numbers = select(namespaces.c.number).filter_by(owner=owner)
    mine = vector_sets.c.namespace.in_(numbers)
    in_use = select(vector_sets.c.collection, vector_sets.c.building).where(mine)
    names = [name for row in connection.execute(in_use) for name in row if name]
    empty = {"collection": "", "building": "", "covered": 0, "held": 0, "apart": 0}
    connection.execute(vector_sets.update().where(mine).values(empty))
    return names


async def delete_thread(thread: str) -> None:
    """Delete everything of a thread except its checkpoints.

    Raises:
        Problem: `run_in_progress` while a process works on it.
    """
    lock = await asyncio.to_thread(acquire, thread, 0)
    try:
        await flush_writes()
        old = await _forget_runs(thread)
    finally:
        await asyncio.to_thread(lock.release)
    await flush_traces()
    await asyncio.to_thread(remove_thread_files, old)
    for run in old.runs:
        await asyncio.to_thread(remove_stored_report, run)


async def _forget_runs(thread: str) -> ExpiredThread:
    rows = (await read_rows(select(runs.c.id, runs.c.owner).filter_by(thread=thread))).all()
    old = ExpiredThread(thread, tuple(row.id for row in rows), 0.0)
    for owner in {row.owner for row in rows}:
        mine = select(pages.c.id).filter_by(owner=owner, kind="report")
        reports = await read_rows(mine.where(pages.c.origin.in_(old.runs)))
        await forget_pages(owner, list(reports.scalars()))
        await discard_uploads(owner, thread)
    await commit_statements((delete(utterances).where(utterances.c.run.in_(old.runs)), None))
    # The runs go last, so that an interrupted deletion can be repeated.
    await write_in_group(partial(delete_run_records, old=old))
    return old
