"""Forget for good: say what would be touched, then do it, again and again until it is done."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from config.errors import Problem
from config.settings import settings
from memory.files.reading import unreadable
from memory.forgetting import checkpoints, files, rows
from memory.forgetting.aim import Aim, Known, aim
from memory.forgetting.checkpoints import Saved, Told
from memory.forgetting.reach import Reach, reach
from memory.kept import looking
from memory.kept.shelf import Item
from memory.pages.records import recorded
from retrieval import chroma
from runs.lock import held
from storage import outbox, scrubbing
from storage.engine import read, write
from storage.tables import facts, namespaces, pages, runs, vector_sets
from storage.tables import outbox as jobs

JOB = "forget"
"""The job of the outbox that is there from the first word that is forgotten to the last."""

WHY = "at the person's wish"

CHROMA = "the files of the Chroma server are its own"
"""What a person is told where vectors are kept by a server."""

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
    """The reports of which something goes, and those whose files are to be looked at again."""
    files: tuple[str, ...]
    """Memory files whose own lines say it too; they are the person's, and stay."""
    unread: tuple[Problem, ...]
    """Why memory files cannot be read, each with its path; nothing is forgotten in them."""
    written: tuple[str, ...] = ()
    """The memory files and traces that are rewritten."""
    deleted: tuple[str, ...] = ()
    """The files of chats that are deleted, for a page of theirs is forgotten."""

    @property
    def threads(self) -> list[str]:
        """The conversations of which something goes."""
        return sorted({*self.reach.threads} & {*self.reach.belong.mine})


async def aimed(owner: str, ids: Sequence[str]) -> Aim:
    """Return what some ids mean, of whatever memory.

    A run, or a message that something was learnt from, stands for what was asked in that run, what
    was learnt of that and what was reported.

    Args:
        owner: Whose.
        ids: What; an id that an earlier try has half forgotten already is no mistake.

    Raises:
        Problem: `memory_not_found` or `memory_ambiguous`.
    """
    half = await unfinished(owner)
    asked: list[str] = []
    items: list[Item] = []
    for id in dict.fromkeys(ids):
        run, its = await read(partial(_of_run, owner=owner, id=id))
        asked += [run] if run else []
        for one in its if run else [id]:
            try:
                items += [item for item in await looking.found(owner, one) if not _gone(item)]
            except Problem:
                # What is half forgotten has no row any more.
                if one not in half:
                    raise
    return aim(owner, {item.id: item for item in items}.values(), asked)


async def unfinished(owner: str) -> set[str]:
    """Return the ids of what was to be forgotten, and is not yet for certain."""
    jobs_ = await read(partial(_unfinished, owner=owner))
    return {one for data in jobs_ for one in data.get("ids", [])}


async def planned(what: Aim) -> Plan:
    """Return what forgetting some things would touch; nothing is changed."""
    what = what._replace(pages=(*what.pages, *await recorded(what.owner, what.pages)))
    with checkpoints.opened() as saved:
        found, reached = await read(partial(reach, what=what, saved=saved))
        told = [one for thread in reached.threads for one in _reported(saved, thread, reached)]
        told += filter(
            None, (gone.told(reached.of(run)) for run, gone in reached.belong.pruned.items())
        )
    count = await read(partial(_counted, what=what, found=found, reached=reached))
    own = await files.told_elsewhere(what, reached)
    unread = await unreadable(what.owner)
    written = [*await files.rewritten(what, reached)]
    written += await asyncio.to_thread(files.traces, reached.belong.of_runs, reached)
    deleted = await read(partial(rows.hit_uploads, what=what, known=found, reach=reached))
    plan = Plan(what, found, reached, *count, tuple(told), tuple(own), tuple(unread))
    return plan._replace(written=tuple(written), deleted=tuple(deleted))


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
        await write(lambda connection: outbox.put(connection, owner, JOB, {"ids": plan.what.ids}))
        await redraw(plan.reports)
        await files.forget_learned(plan.what, plan.reach)
        with checkpoints.opened() as saved:
            for thread, erasure in plan.reach.threads.items():
                saved.forget(thread, erasure)
        runs = plan.reach.belong.of_runs
        await asyncio.to_thread(files.forget_traces, runs, plan.reach)
        await asyncio.to_thread(files.delete, plan.deleted)
        await write(partial(_forgotten, plan=plan))
    return await finished(owner)


async def finished(owner: str) -> str:
    """Scrub the databases of what is deleted, and say that it is done."""
    for data in await read(partial(_unfinished, owner=owner)):
        for name in data.get("collections", []):
            await asyncio.to_thread(chroma.drop, name)
    with checkpoints.opened() as saved:
        saved.scrub()
    beyond = [await scrubbing.scrub(), CHROMA if settings().chroma_url else ""]
    done = jobs.delete().where(jobs.c.owner == owner, jobs.c.job == JOB)
    await write(lambda connection: connection.execute(done))
    return "; ".join(filter(None, beyond))


def _of_run(connection: Connection, owner: str, id: str) -> tuple[str, list[str]]:
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


def _gone(item: Item) -> bool:
    return item.state == "forgotten"


def _reported(saved: Saved, thread: str, reached: Reach) -> list[Told]:
    mine = reached.belong.of_runs
    told = saved.reported(thread, reached.threads[thread])
    return [one for one in told if one.run in mine]


def _counted(connection: Connection, what: Aim, found: Known, reached: Reach) -> tuple[int, int]:
    said = rows.hit_pages(connection, what, found, reached)
    return len(what.pages) + len(said), len(what.facts) + len(
        rows.hit_facts(connection, what, reached)
    )


def _unfinished(connection: Connection, owner: str) -> list[dict[str, Any]]:
    mine = select(jobs.c.data).where(jobs.c.owner == owner, jobs.c.job == JOB)
    return [json.loads(data) for data in connection.execute(mine).scalars()]


def _forgotten(connection: Connection, plan: Plan) -> None:
    """Forget in the database, and note the collections that hold vectors of what is gone."""
    names = _collections(connection, plan.what.owner) if plan.pages else []
    rows.forget_rows(connection, plan.what, plan.known, plan.reach, WHY)
    outbox.put(connection, plan.what.owner, JOB, {"collections": names})


def _collections(connection: Connection, owner: str) -> list[str]:
    """Let no search use a collection any more: it would hold the vectors; it is built again."""
    of = select(namespaces.c.number).where(namespaces.c.owner == owner)
    mine = vector_sets.c.namespace.in_(of)
    held = select(vector_sets.c.collection, vector_sets.c.building).where(mine)
    names = [name for row in connection.execute(held) for name in row if name]
    empty = {"collection": "", "building": "", "covered": 0, "held": 0, "apart": 0}
    connection.execute(vector_sets.update().where(mine).values(empty))
    return names
