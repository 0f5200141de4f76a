"""Make the vectors of pages that are due, and all of them after a change of the embedder."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from config.errors import ErrorCode, Problem
from library import chroma, vector_rows
from library.indexing import VECTOR_JOB
from library.tables import namespaces, pages, vector_sets, vectors
from library.vector_rows import FloatArray
from models.embeddings import Embedder, PartialEmbeddingError, load_embedder
from models.faults import client_errors, to_model_problem
from storage import outbox
from storage.engine import run_read, run_write
from storage.outbox import OutboxJob

BATCH = 64
"""How many pages are embedded at a time: a worker is far from done with more when a lease ends."""

REFUSED = {ErrorCode.MODEL_REJECTED, ErrorCode.MODEL_CONTEXT}
"""Failures for which the text may be to blame."""

_Slot = tuple[int, str]
"""A namespace and an embedder: where a vector belongs."""

_Made = dict[int, FloatArray]
"""Vectors by the numbers of their pages."""


class EmbeddingProgress(NamedTuple):
    """How many pages a worker has dealt with, and what kept it from others."""

    pages: int
    problem: Problem | None = None


class _EmbeddingWork(NamedTuple):
    """Some pages of jobs: the texts of those that can be found, and which lack a vector where."""

    jobs: Sequence[OutboxJob]
    pages: frozenset[int]
    texts: Mapping[int, str]
    lacking: Mapping[_Slot, Sequence[int]]


async def embed_due(limit: int = BATCH) -> EmbeddingProgress:
    """Make or remove the vectors of up to `limit` pages that are due.

    Call it until it returns 0 pages. What fails is due again later.

    Args:
        limit: How many pages at most.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(load_embedder)
    if current is None:
        return EmbeddingProgress(0)
    work = await run_write(partial(_claim_work, current=current.name, limit=limit))
    if not work.jobs:
        return EmbeddingProgress(0)
    made: dict[_Slot, _Made] = {}
    problem: Problem | None = None
    for (namespace, name), lacking in work.lacking.items():
        texts = {page: work.texts[page] for page in lacking}
        if name == current.name:
            made[namespace, name], failure = await _embed_texts(current, texts)
            problem = problem or failure
        else:
            made[namespace, name] = await _older(name, texts)
    write = partial(_write_vectors, work=work, current=current.name)
    try:
        handled = await run_write(partial(write, made=made))
    except vector_rows.VectorLengthError as error:
        problem = _length_problem(current.name, error)
        handled = await run_write(partial(write, made={}))
    return EmbeddingProgress(handled, problem)


async def _embed_texts(maker: Embedder, texts: Mapping[int, str]) -> tuple[_Made, Problem | None]:
    """Return the vectors of pages, and why some have none.

    A provider that refuses many texts is asked for each alone, since one may be to blame.
    """
    if not texts:
        return {}, None
    try:
        made = await asyncio.to_thread(maker.embed_pages, list(texts.values()))
    except PartialEmbeddingError as cut:
        return dict(zip(texts, cut.vectors, strict=False)), cut
    except Problem as refused:
        return {}, refused
    except client_errors() as error:
        problem = to_model_problem(error)
        if len(texts) == 1 or problem.code not in REFUSED:
            return {}, problem
        alone: _Made = {}
        for page, text in texts.items():
            one, failure = await _embed_texts(maker, {page: text})
            alone |= one
            if failure is not None and failure.code != problem.code:
                return alone, failure
        return alone, problem
    return dict(zip(texts, made, strict=True)), None


def _length_problem(name: str, error: vector_rows.VectorLengthError) -> Problem:
    """Return the problem of an embedder whose vectors are not as long as before."""
    hint = "set DOSSIER_EMBEDDINGS to another one; what it made before is then made again"
    return Problem(ErrorCode.EMBEDDER_CHANGED, str(error), where=name, hint=hint)


async def _older(name: str, texts: Mapping[int, str]) -> _Made:
    """Return vectors of the embedder that still serves searches, as far as it can be had."""
    try:
        maker = await asyncio.to_thread(load_embedder, name)
    except Problem:
        return {}
    return (await _embed_texts(maker, texts))[0] if maker else {}


def _claim_work(connection: Connection, current: str, limit: int) -> _EmbeddingWork:
    def enough(jobs: Sequence[OutboxJob]) -> bool:
        """Tell whether jobs name as many pages as are embedded at once."""
        return sum(len(job.data["pages"]) for job in jobs) >= limit

    jobs = outbox.claim_jobs(connection, VECTOR_JOB, enough)
    every = ((job.owner, job.data["namespace"], page) for job in jobs for page in job.data["pages"])
    queued = list(islice(every, limit))
    numbers = frozenset(page for _, _, page in queued)
    texts = read_embedding_texts(connection, numbers)
    owners = sorted({owner for owner, _, _ in queued})
    sets = {owner: vector_rows.list_vector_sets(connection, owner) for owner in owners}
    wanted: dict[_Slot, list[int]] = defaultdict(list)
    for owner, namespace, page in queued:
        if page in texts:
            for name in sorted({current, vector_rows.serving_embedder(sets[owner], current)}):
                wanted[namespace, name].append(page)
    return _EmbeddingWork(jobs, numbers, texts, _lacking(connection, wanted))


def _lacking(connection: Connection, wanted: Mapping[_Slot, list[int]]) -> dict[_Slot, list[int]]:
    """Return the pages without a vector where they should have one; the sets are made."""
    sets = {slot: vector_rows.ensure_vector_set(connection, *slot) for slot in sorted(wanted)}
    lacking: dict[_Slot, list[int]] = {}
    for slot, some in wanted.items():
        there = vector_rows.find_pages_with_vectors(connection, sets[slot].number, some)
        lacking[slot] = [page for page in dict.fromkeys(some) if page not in there]
    return lacking


def read_embedding_texts(
    connection: Connection, numbers: Sequence[int] | frozenset[int]
) -> dict[int, str]:
    """Return what is embedded of pages; one that is not to be found any more is left out."""
    columns = (pages.c.number, pages.c.title, pages.c.speaker, pages.c.text)
    wanted = select(*columns).where(pages.c.number.in_(numbers), pages.c.indexed > 0)
    return {
        row.number: embedding_text(row.title, row.speaker, row.text)
        for row in connection.execute(wanted.order_by(pages.c.number))
    }


def _write_vectors(
    connection: Connection, work: _EmbeddingWork, made: Mapping[_Slot, _Made], current: str
) -> int:
    """Write vectors, remove those of pages that are gone, and end the jobs as far as that goes."""
    findable = read_embedding_texts(connection, work.pages).keys()
    for slot in sorted(made):
        into = vector_rows.ensure_vector_set(connection, *slot)
        vector_rows.insert_vectors(connection, into, made[slot])
    vector_rows.delete_vectors(connection, sorted(work.pages - findable))
    lacking = {page for (_, name), some in work.lacking.items() if name == current for page in some}
    failed = lacking - {page for slot in made for page in made[slot] if slot[1] == current}
    for job in work.jobs:
        _end_job(connection, job, work.pages - (failed & findable), failed)
    return len(work.pages - failed)


def _end_job(
    connection: Connection, job: OutboxJob, handled: frozenset[int], failed: set[int]
) -> None:
    data = outbox.lock_job(connection, job)
    if data is None:
        return
    rest = [page for page in data["pages"] if page not in handled]
    if not rest:
        outbox.finish_job(connection, job)
        return
    go_on = outbox.postpone_job if failed & {*rest} else outbox.continue_job
    go_on(connection, job, {**data, "pages": rest})


REEMBEDDING_JOB = "vectors again"
"""The job of the outbox that makes the vectors of everything an owner has again.

Its data: the `load_embedder`, and up to which page of which `namespace` it has come, as `after`.
"""

REMOVED = 2_000
"""How many vectors are removed in one transaction."""


class _ReembeddingStep(NamedTuple):
    """What a job does next: the pages it embeds, if any, or the collections that are of no use."""

    job: OutboxJob
    namespace: int = 0
    pages: Sequence[int] = ()
    texts: Mapping[int, str] = {}
    dropped: Sequence[str] = ()


async def reembed(limit: int = BATCH) -> EmbeddingProgress:
    """Make up to `limit` vectors with the embedder that is set now where another made them before.

    Call it until it returns 0 pages, after `library.page_embedding.embed_due`.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(load_embedder)
    if current is None:
        return EmbeddingProgress(0)
    if await run_read(partial(_outdated_owners, current=current.name)):
        await run_write(partial(_queue, current=current.name))
    while step := await run_write(partial(_step, current=current.name, limit=limit)):
        for name in step.dropped:
            await asyncio.to_thread(chroma.drop_collection, name)
        if step.pages:
            return await _embed_step(current, step)
    return EmbeddingProgress(0)


async def _embed_step(current: Embedder, step: _ReembeddingStep) -> EmbeddingProgress:
    made, problem = await _embed_texts(current, step.texts)
    try:
        handled = await run_write(partial(_write_step, step=step, made=made, problem=problem))
    except vector_rows.VectorLengthError as error:
        problem = _length_problem(current.name, error)
        handled = await run_write(partial(_write_step, step=step, made={}, problem=problem))
    return EmbeddingProgress(handled, problem)


def _outdated_owners(connection: Connection, current: str) -> list[str]:
    """Return the owners that have vectors of another embedder, and no job that makes them again."""
    set_of_owner = vector_sets.c.namespace == namespaces.c.number
    mine = select(namespaces.c.owner).join(vector_sets, set_of_owner).distinct()
    others = connection.execute(mine.where(vector_sets.c.embedder != current))
    return sorted({*others.scalars()} - outbox.list_job_owners(connection, REEMBEDDING_JOB))


def _queue(connection: Connection, current: str) -> None:
    for owner in _outdated_owners(connection, current):
        outbox.enqueue_job(connection, owner, REEMBEDDING_JOB, _new_job(current))


def _new_job(current: str) -> dict[str, str | int]:
    return {"embedder": current, "namespace": 0, "after": 0}


def _step(connection: Connection, current: str, limit: int) -> _ReembeddingStep | None:
    """Take a job and find out what it does next; `None` if there is no job."""
    jobs = outbox.claim_jobs(connection, REEMBEDDING_JOB, bool)
    if not jobs:
        return None
    (job,) = jobs
    if job.data["embedder"] != current:
        outbox.continue_job(connection, job, _new_job(current))
        return _ReembeddingStep(job)
    sets = vector_rows.list_vector_sets(connection, job.owner)
    whole = {one.namespace for one in sets if one.embedder == current and one.whole}
    open_ = sorted({one.namespace for one in sets} - whole)
    if not open_:
        return _cleared(connection, job, [one for one in sets if one.embedder != current])
    namespace = open_[0]
    after = job.data["after"] if job.data["namespace"] == namespace else 0
    into = vector_rows.ensure_vector_set(connection, namespace, current)
    pages = _next(connection, into, after, limit)
    if not pages:
        made = update(vector_sets).where(vector_sets.c.number == into.number)
        connection.execute(made.values(whole=1))
        outbox.continue_job(connection, job, job.data)
    return _ReembeddingStep(job, namespace, pages, read_embedding_texts(connection, pages))


def _next(connection: Connection, into: vector_rows.VectorSet, after: int, limit: int) -> list[int]:
    """Return the next pages that have a vector of another embedder, and none of this one."""
    beside = (vector_sets.c.namespace == into.namespace, vector_sets.c.number != into.number)
    others = select(vector_sets.c.number).where(*beside)
    mine = vectors.alias("mine")
    has = select(mine.c.number).where(mine.c.set == into.number, mine.c.page == vectors.c.page)
    wanted = select(vectors.c.page).distinct().where(vectors.c.set.in_(others), ~has.exists())
    wanted = wanted.where(vectors.c.page > after).order_by(vectors.c.page).limit(limit)
    return list(connection.execute(wanted).scalars())


def _cleared(
    connection: Connection, job: OutboxJob, others: Sequence[vector_rows.VectorSet]
) -> _ReembeddingStep:
    """Remove some vectors of other embedders; with the last of them the sets, and end the job."""
    numbers = [one.number for one in others]
    some = select(vectors.c.number).where(vectors.c.set.in_(numbers)).limit(REMOVED)
    gone = connection.execute(delete(vectors).where(vectors.c.number.in_(some)))
    if gone.rowcount:
        outbox.continue_job(connection, job, job.data)
        return _ReembeddingStep(job)
    connection.execute(delete(vector_sets).where(vector_sets.c.number.in_(numbers)))
    outbox.finish_job(connection, job)
    names = [name for one in others for name in (one.collection, one.building) if name]
    return _ReembeddingStep(job, dropped=names)


def _write_step(
    connection: Connection, step: _ReembeddingStep, made: _Made, problem: Problem | None
) -> int:
    """Write vectors and how far the job has come; pages that are refused wait on their own.

    Returns:
        How many pages the job has come on.
    """
    into = vector_rows.ensure_vector_set(connection, step.namespace, step.job.data["embedder"])
    findable = read_embedding_texts(connection, step.pages).keys()
    new = {page: vector for page, vector in made.items() if page in findable}
    vector_rows.insert_vectors(connection, into, new)
    if problem is not None and problem.code not in REFUSED:
        outbox.postpone_job(connection, step.job, step.job.data)
        return 0
    refused = [page for page in step.texts if page not in made]
    if refused:
        data = {"namespace": step.namespace, "pages": refused}
        outbox.enqueue_job(connection, step.job.owner, VECTOR_JOB, data)
    come = {**step.job.data, "namespace": step.namespace, "after": step.pages[-1]}
    outbox.continue_job(connection, step.job, come)
    return len(step.pages)


def embedding_text(title: str, speaker: str, text: str) -> str:
    """Return what is embedded of a page: who says what, or the title and the text."""
    if speaker:
        return f"{speaker}: {text}"
    return f"{title}. {text}" if title else text
