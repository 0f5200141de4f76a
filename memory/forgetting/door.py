"""Forget for good: say what would be touched, then do it, again and again until it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from config.errors import Problem
from memory.forgetting import checkpoints, files, rows
from memory.forgetting.aim import Aim, Known, aim, known
from memory.forgetting.checkpoints import Saved, Told
from memory.forgetting.reach import Reach, reach
from memory.kept import looking
from retrieval import chroma
from runs.lock import held
from storage import outbox, scrubbing
from storage.engine import read, write
from storage.outbox import Job
from storage.tables import outbox as jobs
from storage.tables import vector_sets

JOB = "forget"
"""The job of the outbox that is there from the first word that is forgotten to the last."""

WHY = "at the person's wish"

Redraw = Callable[[Sequence[Told]], Awaitable[int]]
"""Writes the files of reports again of which something is forgotten; returns how many reports."""


class Plan(NamedTuple):
    """What forgetting touches."""

    what: Aim
    known: Known
    reach: Reach
    pages: int
    """How many pages: those that were named, and those that say it again in part."""
    facts: int
    reports: tuple[Told, ...]
    """The reports of which something goes."""
    files: tuple[str, ...]
    """Memory files whose own lines say it too; they are the person's, and stay."""

    @property
    def threads(self) -> list[str]:
        """The conversations of which something goes."""
        return sorted(self.reach.threads)


async def planned(owner: str, ids: Sequence[str]) -> Plan:
    """Return what forgetting some things would touch; nothing is changed.

    Args:
        owner: Whose.
        ids: The things, by their ids; a run stands for what it has reported.

    Raises:
        Problem: `memory_not_found` or `memory_ambiguous`.
    """
    unfinished = await read(partial(_unfinished, owner=owner))
    items = []
    for id in dict.fromkeys(ids):
        try:
            items += [one for one in await looking.found(owner, id) if one.state != "forgotten"]
        except Problem:
            # What is half forgotten has no row any more.
            if not any(id in str(job.data) for job in unfinished):
                raise
    what = aim(owner, items)
    with checkpoints.opened() as saved:
        found, reached = await read(lambda connection: _look(connection, what, saved))
        told = [one for thread in reached.threads for one in _reported(saved, thread, reached)]
    count = await read(partial(_counted, what=what, found=found, reached=reached))
    own = await files.told_elsewhere(what, reached)
    return Plan(what, found, reached, *count, tuple(told), tuple(own))


async def forget(plan: Plan, redraw: Redraw) -> str:
    """Forget what was planned, and whatever was left of an earlier time.

    It is killed at no bad moment: what is not done yet is done when it is said again, and what
    recognises it is removed last.

    Args:
        plan: What.
        redraw: Writes the files of reports again.

    Returns:
        What cannot be promised, in words for a person; empty where nothing is left.

    Raises:
        Problem: `run_in_progress` while one of the conversations is at work, `storage_busy` while
            another process reads, or what keeps a file from being written.
    """
    owner = plan.what.owner
    with ExitStack() as stack:
        for thread in plan.threads:
            stack.enter_context(held(thread))
        await write(lambda connection: outbox.put(connection, owner, JOB, plan.what.plain()))
        await redraw(plan.reports)
        await files.forget_learned(plan.what, plan.reach)
        with checkpoints.opened() as saved:
            for thread, erasure in plan.reach.threads.items():
                saved.forget(thread, erasure)
        runs = plan.reach.belong.of_runs
        await asyncio.to_thread(files.forget_traces, runs, plan.reach)
        removed = await write(partial(_forgotten, plan=plan))
    for name in removed:
        await asyncio.to_thread(chroma.drop, name)
    return await finished(owner)


async def finished(owner: str) -> str:
    """Scrub the databases of what is deleted, and say that it is done."""
    with checkpoints.opened() as saved:
        saved.scrub()
    beyond = await scrubbing.scrub()
    done = jobs.delete().where(jobs.c.owner == owner, jobs.c.job == JOB)
    await write(lambda connection: connection.execute(done))
    return beyond


def _look(connection: Connection, what: Aim, saved: Saved) -> tuple[Known, Reach]:
    found = known(connection, what)
    return found, reach(connection, what, found, saved)


def _reported(saved: Saved, thread: str, reached: Reach) -> list[Told]:
    mine = reached.belong.of_runs
    told = saved.reported(thread, reached.threads[thread])
    return [one for one in told if one.run in mine]


def _counted(connection: Connection, what: Aim, found: Known, reached: Reach) -> tuple[int, int]:
    said = rows.hit_pages(connection, what, found, reached)
    return len(what.pages) + len(said), len(what.facts) + len(
        rows.hit_facts(connection, what, reached)
    )


def _unfinished(connection: Connection, owner: str) -> list[Job]:
    mine = select(jobs.c.id, jobs.c.data).where(jobs.c.owner == owner, jobs.c.job == JOB)
    return [Job(row.id, owner, row.data, 0) for row in connection.execute(mine)]


def _forgotten(connection: Connection, plan: Plan) -> list[str]:
    """Forget in the database; return the collections that hold vectors of what is gone."""
    gone = _collections(connection)
    rows.forget_rows(connection, plan.what, plan.known, plan.reach, WHY)
    return gone


def _collections(connection: Connection) -> list[str]:
    """Let no search use a collection any more: it would hold the vectors; it is built again."""
    names: list[Any] = []
    for row in connection.execute(select(vector_sets.c.collection, vector_sets.c.building)).all():
        names += row
    empty = {"collection": "", "building": "", "covered": 0, "held": 0, "apart": 0}
    connection.execute(vector_sets.update().values(empty))
    return [name for name in names if name]
