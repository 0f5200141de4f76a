"""Erase for good.

Say what would be touched, then do it, again and again until it is done; and delete a thread.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
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
from memory.agents_md.memory import (
    find_affected_memory_files,
    find_personal_mentions,
    unreadable_files,
)
from memory.experience.tables import utterances
from memory.facts.memory import find_repeating_facts
from memory.facts.tables import facts
from memory.protocol import Erase, MemoryItem
from memory.registry import MEMORIES, find_items
from privacy import erasure_stores, saved_states
from privacy.affected_threads import AffectedThreads, find_affected_threads
from privacy.erasure_target import ErasurePatterns, ErasureTarget, build_erasure_target
from privacy.retention import ExpiredThread, delete_run_records, remove_thread_files
from privacy.saved_states import ReportState, SavedCheckpoints
from runs.lock import acquire, thread_lock
from runs.tables import runs
from runs.trace import flush_traces
from storage import maintenance, outbox
from storage.engine import commit_statements, read_rows, run_read, run_write, write_in_group
from storage.tables import outbox as jobs

FORGET_JOB = "forget"
"""The job of the outbox that is there from the first word that is forgotten to the last."""

ERASURE_REASON = "at the person's wish"

CHROMA_CAVEAT = "the files of the Chroma server are its own"
"""What a person is told where vectors are kept by a server."""

ReportRewriter = Callable[[Sequence[ReportState]], Awaitable[int]]
"""Writes the files of reports again of which something is forgotten; returns how many reports."""


class ErasurePlan(NamedTuple):
    """What forgetting touches."""

    target: ErasureTarget
    patterns: ErasurePatterns
    affected: AffectedThreads
    pages: int
    """How many pages: those that were named, and those that say it again in part."""
    facts: int
    reports: tuple[ReportState, ...]
    """The reports of which something goes, and those whose files are to be looked at again."""
    files: tuple[str, ...]
    """Memory files whose own lines say it too; they are the person's, and stay."""
    unreadable: tuple[Problem, ...]
    """Why memory files cannot be read, each with its path; nothing is forgotten in them."""
    rewritten: tuple[str, ...] = ()
    """The memory files and traces that are rewritten."""
    deleted: tuple[str, ...] = ()
    """The files of chats that are deleted, for a page of theirs is forgotten."""

    @property
    def threads(self) -> list[str]:
        """The conversations of which something goes."""
        return sorted({*self.affected.threads} & {*self.affected.owner_threads.owned})


async def resolve_erasure_target(owner: str, ids: Sequence[str]) -> ErasureTarget:
    """Return what some ids mean, of whatever memory.

    A run, or a message that something was learnt from, stands for what was asked in that run, what
    was learnt of that and what was reported.

    Args:
        owner: Whose.
        ids: What; an id that an earlier try has half forgotten already is no mistake.

    Raises:
        Problem: `memory_not_found` or `memory_ambiguous`.
    """
    half = await list_unfinished_erasures(owner)
    asked: list[str] = []
    items: list[MemoryItem] = []
    for id in dict.fromkeys(ids):
        run, its = await run_read(partial(_items_of_run, owner=owner, id=id))
        asked += [run] if run else []
        for one in its if run else [id]:
            try:
                items += [item for item in await find_items(owner, one) if not _gone(item)]
            except Problem:
                # What is half forgotten has no row any more.
                if one not in half:
                    raise
    return build_erasure_target(owner, {item.id: item for item in items}.values(), asked)


async def list_unfinished_erasures(owner: str) -> set[str]:
    """Return the ids of what was to be forgotten, and is not yet for certain."""
    jobs_ = await run_read(partial(_unfinished, owner=owner))
    return {one for data in jobs_ for one in data.get("ids", [])}


async def plan_erasure(what: ErasureTarget) -> ErasurePlan:
    """Return what forgetting some things would touch; nothing is changed."""
    what = what._replace(pages=(*what.pages, *await find_computed_pages(what.owner, what.pages)))
    with saved_states.open_checkpoints() as saved:
        found, reached = await run_read(partial(find_affected_threads, what=what, saved=saved))
        told = [
            one for thread in reached.threads for one in _affected_reports(saved, thread, reached)
        ]
        told += filter(
            None,
            (
                gone.to_report_state(reached.get_erasure(run))
                for run, gone in reached.owner_threads.pruned.items()
            ),
        )
    count = await run_read(partial(_counted, what=what, found=found, reached=reached))
    request = what.request_for("instructions", reached.everywhere)
    own = await find_personal_mentions(request)
    unread = await unreadable_files(what.owner)
    written = await find_affected_memory_files(request)
    written += await asyncio.to_thread(
        erasure_stores.find_affected_traces, reached.owner_threads.by_run, reached
    )
    deleted = await run_read(
        partial(erasure_stores.find_affected_uploads, what=what, known=found, reach=reached)
    )
    plan = ErasurePlan(what, found, reached, *count, tuple(told), tuple(own), tuple(unread))
    return plan._replace(rewritten=tuple(written), deleted=tuple(deleted))


async def execute_erasure(plan: ErasurePlan, rewrite_reports: ReportRewriter) -> str:
    """Forget what was planned, and whatever was left of an earlier time.

    It is killed at no bad moment: what is not done yet is done when it is said again, and what
    recognises it is removed last.

    Args:
        plan: What.
        rewrite_reports: Writes the files of reports again.

    Returns:
        What cannot be promised, in words for a person; empty where nothing is left.

    Raises:
        Problem: `run_in_progress` while one of the conversations is at work, `storage_busy` while
            another process reads, or what keeps a file from being written.
    """
    owner = plan.target.owner
    with ExitStack() as stack:
        for thread in plan.threads:
            stack.enter_context(thread_lock(thread))
        await run_write(
            lambda connection: outbox.enqueue_job(
                connection, owner, FORGET_JOB, {"ids": plan.target.ids}
            )
        )
        await rewrite_reports(plan.reports)
        erasures = [
            await memory.erase(
                plan.target.request_for(memory.name, plan.affected.everywhere, ERASURE_REASON)
            )
            for memory in MEMORIES
        ]
        with saved_states.open_checkpoints() as saved:
            for thread, erasure in plan.affected.threads.items():
                saved.erase_in_thread(thread, erasure)
        runs = plan.affected.owner_threads.by_run
        await flush_traces()
        await asyncio.to_thread(erasure_stores.erase_in_traces, runs, plan.affected)
        await asyncio.to_thread(erasure_stores.delete_files, plan.deleted)
        await run_write(partial(_erase_in_database, plan=plan, erasures=erasures))
    return await finish_erasure(owner)


async def finish_erasure(owner: str) -> str:
    """Scrub the databases of what is deleted, and say that it is done."""
    for data in await run_read(partial(_unfinished, owner=owner)):
        for name in data.get("collections", []):
            await asyncio.to_thread(chroma.drop_collection, name)
    with saved_states.open_checkpoints() as saved:
        saved.scrub()
    beyond = [
        await maintenance.purge_deleted_data(),
        CHROMA_CAVEAT if settings().chroma_url else "",
    ]
    done = jobs.delete().where(jobs.c.owner == owner, jobs.c.job == FORGET_JOB)
    await run_write(lambda connection: connection.execute(done))
    return "; ".join(filter(None, beyond))


def _items_of_run(connection: Connection, owner: str, id: str) -> tuple[str, list[str]]:
    """Return the run that an id names, or that of a message, and what came of it, by its ids."""
    wanted = select(facts.c.run).where(facts.c.owner == owner, facts.c.message == id)
    named = connection.execute(wanted.limit(1)).scalar() or id
    mine = select(runs.c.id).where(runs.c.owner == owner, runs.c.id == named)
    run = connection.execute(mine).scalar() if named else None
    if run is None:
        return "", []
    learnt = select(facts.c.id).where(facts.c.owner == owner, facts.c.run == run)
    reports = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.kind == "report", pages.c.origin == run
    )
    return run, [one for each in (learnt, reports) for one in connection.execute(each).scalars()]


def _gone(item: MemoryItem) -> bool:
    return item.state == "forgotten"


def _affected_reports(
    saved: SavedCheckpoints, thread: str, reached: AffectedThreads
) -> list[ReportState]:
    mine = reached.owner_threads.by_run
    told = saved.list_affected_reports(thread, reached.threads[thread])
    return [one for one in told if one.run in mine]


def _counted(
    connection: Connection, what: ErasureTarget, found: ErasurePatterns, reached: AffectedThreads
) -> tuple[int, int]:
    said = erasure_stores.find_affected_pages(connection, what, found, reached)
    repeating = find_repeating_facts(connection, what.request_for("facts", reached.everywhere))
    return len(what.pages) + len(said), len(what.facts) + len(repeating)


def _unfinished(connection: Connection, owner: str) -> list[dict[str, Any]]:
    mine = select(jobs.c.data).where(jobs.c.owner == owner, jobs.c.job == FORGET_JOB)
    return [json.loads(data) for data in connection.execute(mine).scalars()]


def _erase_in_database(
    connection: Connection, plan: ErasurePlan, erasures: Sequence[Erase]
) -> None:
    """Forget in the database, and note the collections that hold vectors of what is gone."""
    names = _collections(connection, plan.target.owner) if plan.pages else []
    erasure_stores.erase_rows(
        connection, plan.target, plan.patterns, plan.affected, erasures, ERASURE_REASON
    )
    outbox.enqueue_job(connection, plan.target.owner, FORGET_JOB, {"collections": names})


def _collections(connection: Connection, owner: str) -> list[str]:
    """Let no search use a collection any more: it would hold the vectors; it is built again."""
    of = select(namespaces.c.number).where(namespaces.c.owner == owner)
    mine = vector_sets.c.namespace.in_(of)
    held = select(vector_sets.c.collection, vector_sets.c.building).where(mine)
    names = [name for row in connection.execute(held) for name in row if name]
    empty = {"collection": "", "building": "", "covered": 0, "held": 0, "apart": 0}
    connection.execute(vector_sets.update().where(mine).values(empty))
    return names


async def delete_thread(thread: str) -> None:
    """Take away what a thread has left beside its checkpoints.

    Raises:
        Problem: `run_in_progress` while a process works on it.
    """
    lock = await asyncio.to_thread(acquire, thread, 0)
    try:
        old = await _forget_runs(thread)
    finally:
        await asyncio.to_thread(lock.release)
    await flush_traces()
    await asyncio.to_thread(remove_thread_files, old)
    for run in old.runs:
        await asyncio.to_thread(shutil.rmtree, settings().reports / run, ignore_errors=True)


async def _forget_runs(thread: str) -> ExpiredThread:
    its = select(runs.c.id, runs.c.owner).where(runs.c.thread == thread)
    rows = (await read_rows(its)).all()
    old = ExpiredThread(thread, tuple(row.id for row in rows), 0.0)
    for owner in {row.owner for row in rows}:
        await _forget_reports(owner, old.runs)
        await discard_uploads(owner, thread)
    await commit_statements((delete(utterances).where(utterances.c.run.in_(old.runs)), None))
    # The runs go last, so that a kill leaves something to begin again with.
    await write_in_group(partial(delete_run_records, old=old))
    return old


async def _forget_reports(owner: str, names: Sequence[str]) -> None:
    its = (pages.c.owner == owner, pages.c.kind == "report", pages.c.origin.in_(names))
    await forget_pages(owner, list((await read_rows(select(pages.c.id).where(*its))).scalars()))
