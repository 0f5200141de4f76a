"""Make the vectors of all pages again when the embedder has changed, while searches go on.

The vectors of the former embedder serve until those of the new one are whole in everything an
owner has; then they are removed. The tables say what is left to do, so a worker can be killed at
any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from config.errors import Problem
from memory.pages.embedding import BATCH, REFUSED, Done, Made, changed, page_texts, vectors_of
from memory.pages.indexing import VECTORS
from models.embeddings import Embedder, embedder
from retrieval import chroma
from storage import outbox
from storage.engine import read, write
from storage.outbox import Job
from storage.tables import namespaces, vector_sets, vectors
from storage.vectors import Unfit, VectorSet, put, set_of, sets_of_owner

AGAIN = "vectors again"
"""The job of the outbox that makes the vectors of everything an owner has again.

Its data: the `embedder`, and up to which page of which `namespace` it has come, as `after`.
"""

REMOVED = 2_000
"""How many vectors are removed in one transaction."""


class Step(NamedTuple):
    """What a job does next: the pages it embeds, if any, or the collections that are of no use."""

    job: Job
    namespace: int = 0
    pages: Sequence[int] = ()
    texts: Mapping[int, str] = {}
    dropped: Sequence[str] = ()


async def reembed(limit: int = BATCH) -> Done:
    """Make up to `limit` vectors with the embedder that is set now where another made them before.

    Call it until it returns 0 pages, after `memory.pages.embedding.embed_due`.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(embedder)
    if current is None:
        return Done(0)
    if await read(partial(_changed, current=current.name)):
        await write(partial(_queue, current=current.name))
    while step := await write(partial(_step, current=current.name, limit=limit)):
        for name in step.dropped:
            await asyncio.to_thread(chroma.drop, name)
        if step.pages:
            return await _made(current, step)
    return Done(0)


async def _made(current: Embedder, step: Step) -> Done:
    made, problem = await vectors_of(current, step.texts)
    try:
        handled = await write(partial(_kept, step=step, made=made, problem=problem))
    except Unfit as error:
        problem = changed(current.name, error)
        handled = await write(partial(_kept, step=step, made={}, problem=problem))
    return Done(handled, problem)


def _changed(connection: Connection, current: str) -> list[str]:
    """Return the owners that have vectors of another embedder, and no job that makes them again."""
    mine = select(namespaces.c.owner).join_from(
        vector_sets, namespaces, namespaces.c.number == vector_sets.c.namespace
    )
    others = connection.execute(mine.where(vector_sets.c.embedder != current).distinct())
    return sorted({*others.scalars()} - outbox.owners(connection, AGAIN))


def _queue(connection: Connection, current: str) -> None:
    for owner in _changed(connection, current):
        outbox.put(connection, owner, AGAIN, {"embedder": current, "namespace": 0, "after": 0})


def _step(connection: Connection, current: str, limit: int) -> Step | None:
    """Take a job and find out what it does next; `None` if there is no job."""
    jobs = outbox.take(connection, AGAIN, bool)
    if not jobs:
        return None
    (job,) = jobs
    if job.data["embedder"] != current:
        outbox.go_on(connection, job, {"embedder": current, "namespace": 0, "after": 0})
        return Step(job)
    sets = sets_of_owner(connection, job.owner)
    whole = {one.namespace for one in sets if one.embedder == current and one.whole}
    open_ = sorted({one.namespace for one in sets} - whole)
    if not open_:
        return _cleared(connection, job, [one for one in sets if one.embedder != current])
    namespace = open_[0]
    after = job.data["after"] if job.data["namespace"] == namespace else 0
    pages = _next(connection, set_of(connection, namespace, current), after, limit)
    if not pages:
        its = (vector_sets.c.namespace == namespace, vector_sets.c.embedder == current)
        connection.execute(update(vector_sets).where(*its).values(whole=1))
        outbox.go_on(connection, job, job.data)
    return Step(job, namespace, pages, page_texts(connection, pages))


def _next(connection: Connection, into: VectorSet, after: int, limit: int) -> list[int]:
    """Return the next pages that have a vector of another embedder, and none of this one."""
    others = select(vector_sets.c.number).where(
        vector_sets.c.namespace == into.namespace, vector_sets.c.number != into.number
    )
    mine = vectors.alias("mine")
    has = select(mine.c.number).where(mine.c.set == into.number, mine.c.page == vectors.c.page)
    wanted = select(vectors.c.page).distinct().where(vectors.c.set.in_(others), ~has.exists())
    wanted = wanted.where(vectors.c.page > after).order_by(vectors.c.page).limit(limit)
    return list(connection.execute(wanted).scalars())


def _cleared(connection: Connection, job: Job, others: Sequence[VectorSet]) -> Step:
    """Remove some vectors of other embedders; with the last of them the sets, and end the job."""
    numbers = [one.number for one in others]
    some = select(vectors.c.number).where(vectors.c.set.in_(numbers)).limit(REMOVED)
    gone = connection.execute(delete(vectors).where(vectors.c.number.in_(some)))
    if gone.rowcount:
        outbox.go_on(connection, job, job.data)
        return Step(job)
    connection.execute(delete(vector_sets).where(vector_sets.c.number.in_(numbers)))
    outbox.done(connection, job)
    names = [name for one in others for name in (one.collection, one.building) if name]
    return Step(job, dropped=names)


def _kept(connection: Connection, step: Step, made: Made, problem: Problem | None) -> int:
    """Write vectors and how far the job has come; pages that are refused wait on their own.

    Returns:
        How many pages the job has come on.
    """
    into = set_of(connection, step.namespace, step.job.data["embedder"])
    findable = page_texts(connection, step.pages).keys()
    put(connection, into, {page: made[page] for page in made if page in findable})
    if problem is not None and problem.code not in REFUSED:
        outbox.put_off(connection, step.job, step.job.data)
        return 0
    refused = [page for page in step.texts if page not in made]
    if refused:
        data = {"namespace": step.namespace, "pages": refused}
        outbox.put(connection, step.job.owner, VECTORS, data)
    come = {**step.job.data, "namespace": step.namespace, "after": step.pages[-1]}
    outbox.go_on(connection, step.job, come)
    return len(step.pages)
