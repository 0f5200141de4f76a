"""Make the vectors of pages as the outbox says: by any number of workers, killed at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, select

from config.errors import Problem
from memory.pages.indexing import VECTORS
from models.embeddings import Embedder, Unmade, embedder
from retrieval.trust import embedded
from runs.faults import client_errors, told
from storage import outbox
from storage.engine import write
from storage.outbox import Job
from storage.tables import pages
from storage.vectors import Floats, Unfit, having, put, remove, serving, set_of, sets_of_owner

BATCH = 64
"""How many pages are embedded at a time: a worker is far from done with more when a lease ends."""

REFUSED = {"model_rejected", "model_context"}
"""Failures for which the text may be to blame."""

Slot = tuple[int, str]
"""A namespace and an embedder: where a vector belongs."""

Made = dict[int, Floats]
"""Vectors by the numbers of their pages."""


class Done(NamedTuple):
    """How many pages a worker has dealt with, and what kept it from others."""

    pages: int
    problem: Problem | None = None


class Work(NamedTuple):
    """Some pages of jobs: the texts of those that can be found, and which lack a vector where."""

    jobs: Sequence[Job]
    pages: frozenset[int]
    texts: Mapping[int, str]
    lacking: Mapping[Slot, Sequence[int]]


async def embed_due(limit: int = BATCH) -> Done:
    """Make or remove the vectors of up to `limit` pages that are due.

    Call it until it returns 0 pages. What fails is due again later.

    Args:
        limit: How many pages at most.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(embedder)
    if current is None:
        return Done(0)
    work = await write(partial(_taken, current=current.name, limit=limit))
    if not work.jobs:
        return Done(0)
    made: dict[Slot, Made] = {}
    problem: Problem | None = None
    for (namespace, name), lacking in work.lacking.items():
        texts = {page: work.texts[page] for page in lacking}
        if name == current.name:
            made[namespace, name], failure = await vectors_of(current, texts)
            problem = problem or failure
        else:
            made[namespace, name] = await _older(name, texts)
    try:
        return Done(
            await write(partial(_kept, work=work, made=made, current=current.name)), problem
        )
    except Unfit as error:
        problem = changed(current.name, error)
        return Done(await write(partial(_kept, work=work, made={}, current=current.name)), problem)


async def vectors_of(maker: Embedder, texts: Mapping[int, str]) -> tuple[Made, Problem | None]:
    """Return the vectors of pages, and why some have none.

    A provider that refuses many texts is asked for each alone, since one may be to blame.
    """
    if not texts:
        return {}, None
    try:
        made = await asyncio.to_thread(maker.pages, list(texts.values()))
    except Unmade as cut:
        return dict(zip(texts, cut.made, strict=False)), cut
    except Problem as refused:
        return {}, refused
    except client_errors() as error:
        problem = told(error)
        if len(texts) == 1 or problem.code not in REFUSED:
            return {}, problem
        return await _one_by_one(maker, texts, problem)
    return dict(zip(texts, made, strict=True)), None


def changed(name: str, error: Unfit) -> Problem:
    """Return the problem of an embedder whose vectors are not as long as before."""
    hint = "set DOSSIER_EMBEDDINGS to another one; what it made before is then made again"
    return Problem("embedder_changed", str(error), where=name, hint=hint)


async def _one_by_one(
    maker: Embedder, texts: Mapping[int, str], problem: Problem
) -> tuple[Made, Problem | None]:
    made: Made = {}
    for page, text in texts.items():
        one, failure = await vectors_of(maker, {page: text})
        made |= one
        if failure is not None and failure.code != problem.code:
            return made, failure
    return made, problem


async def _older(name: str, texts: Mapping[int, str]) -> Made:
    """Return vectors of the embedder that still serves searches, as far as it can be had."""
    try:
        maker = await asyncio.to_thread(embedder, name)
    except Problem:
        return {}
    return (await vectors_of(maker, texts))[0] if maker else {}


def _taken(connection: Connection, current: str, limit: int) -> Work:
    def enough(jobs: Sequence[Job]) -> bool:
        return sum(len(job.data["pages"]) for job in jobs) >= limit

    jobs = outbox.take(connection, VECTORS, enough)
    queued = [
        (job.owner, job.data["namespace"], page) for job in jobs for page in job.data["pages"]
    ]
    queued = queued[:limit]
    numbers = frozenset(page for _, _, page in queued)
    texts = page_texts(connection, numbers)
    wanted: dict[Slot, list[int]] = {}
    for owner in sorted({owner for owner, _, _ in queued}):
        names = {current, serving(sets_of_owner(connection, owner), current)}
        for its, namespace, page in queued:
            if its == owner and page in texts:
                for name in sorted(names):
                    wanted.setdefault((namespace, name), []).append(page)
    return Work(jobs, numbers, texts, _lacking(connection, wanted))


def _lacking(connection: Connection, wanted: Mapping[Slot, list[int]]) -> dict[Slot, list[int]]:
    """Return the pages without a vector where they should have one; the sets are made."""
    numbers = {slot: set_of(connection, *slot).number for slot in sorted(wanted)}
    lacking: dict[Slot, list[int]] = {}
    for slot, some in wanted.items():
        there = having(connection, numbers[slot], some)
        lacking[slot] = [page for page in dict.fromkeys(some) if page not in there]
    return lacking


def page_texts(connection: Connection, numbers: Sequence[int] | frozenset[int]) -> dict[int, str]:
    """Return what is embedded of pages; one that is not to be found any more is left out."""
    columns = (pages.c.number, pages.c.title, pages.c.speaker, pages.c.text)
    wanted = select(*columns).where(pages.c.number.in_(numbers), pages.c.indexed > 0)
    return {
        row.number: embedded(row.title, row.speaker, row.text)
        for row in connection.execute(wanted.order_by(pages.c.number))
    }


def _kept(connection: Connection, work: Work, made: Mapping[Slot, Made], current: str) -> int:
    """Write vectors, remove those of pages that are gone, and end the jobs as far as that goes."""
    findable = page_texts(connection, work.pages).keys()
    for slot in sorted(made):
        put(connection, set_of(connection, *slot), made[slot])
    remove(connection, sorted(work.pages - findable))
    lacking = {page for (_, name), some in work.lacking.items() if name == current for page in some}
    failed = lacking - {page for slot in made for page in made[slot] if slot[1] == current}
    for job in work.jobs:
        _ended(connection, job, work.pages - (failed & findable), failed)
    return len(work.pages - failed)


def _ended(connection: Connection, job: Job, handled: frozenset[int], failed: set[int]) -> None:
    data = outbox.left(connection, job)
    if data is None:
        return
    rest = [page for page in data["pages"] if page not in handled]
    if not rest:
        outbox.done(connection, job)
    elif failed & {*rest}:
        outbox.put_off(connection, job, {**data, "pages": rest})
    else:
        outbox.go_on(connection, job, {**data, "pages": rest})
