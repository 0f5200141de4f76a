"""Do all the work on vectors that is due.

Make them, measure what they are worth, build the collections of large sets.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, func, select, update

from config.errors import ErrorCode, Problem
from library import chroma, query_vectors, vector_rows
from library import page_scoring as scoring
from library.page_embedding import EmbeddingProgress, embed_due, embedding_text, reembed
from library.page_index import PageIndex
from library.page_scoring import PageCollection, PageRow, Vector, VectorCollection
from library.query_vectors import NearestPages, list_vector_namespaces
from library.tables import vector_sets, vectors
from library.vector_rows import VectorBatch
from models.embeddings import load_embedder
from models.faults import client_errors
from runs.lock import acquire
from storage.batches import split_batches
from storage.engine import get_engine, run_read, run_write
from text.script import detect_language
from text.sentences import split_sentences
from text.words import query_terms, search_words

SAMPLE = 240
"""From so many pages sentences are taken."""
PROBES = 48
"""So many sentences of a language are asked."""
FEWEST = 8
"""From fewer nothing can be told."""
DEPTH = 100
"""A page that is not among so many is not found."""
LONGEST = 300
"""So many characters of a sentence are asked."""
LITTLE = 0.1
"""Words that find less than this are counted as if they found so much."""
NONE, FULL = 0.5, 0.9
"""Vectors that find so much of what words find are not trusted at all, or wholly.

Measured: MiniLM finds 0.7 to 1.3 times as much as words in English, and 0.2 times in Chinese, which
it does not know.
"""

_Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Makes texts a matrix with a row of length 1 for each."""


class _Probe(NamedTuple):
    """Something to ask the store, and what it should find."""

    question: str
    row: PageRow
    """The page it is from, without it; or the turn that it is."""
    beside: frozenset[int] = frozenset()
    """The turns beside it, one of which is sought; when there are none, the page is."""


def measure_trust(
    store: PageCollection, vectors: VectorCollection, embed: _Embed
) -> dict[str, float]:
    """Return what the vectors of a store's pages are worth beside its words, in 0..1, by language.

    A sentence is taken out of a page and asked as a question (the inverse cloze task of Lee, Chang
    and Toutanova, ACL 2019): does its page, without the sentence, come before the other pages? A
    turn of a dialogue is asked as it stands, and a turn beside it sought. Words and vectors are
    asked the same, and their mean reciprocal ranks are compared. It costs two embeddings for a
    probe, so do it when the store has grown by a half, and keep the result. A language of too few
    pages to tell is left out.
    """
    probes: dict[str, list[_Probe]] = {}
    for row in store.sample(SAMPLE):
        if probe := _turn(store, row) if row.speaker else _sentence(row):
            probes.setdefault(detect_language(probe.question), []).append(probe)
    return {
        name: _worth(store, vectors, embed, some[:PROBES])
        for name, some in probes.items()
        if len(some) >= FEWEST
    }


def _worth(
    store: PageCollection, vectors: VectorCollection, embed: _Embed, probes: Sequence[_Probe]
) -> float:
    asked = embed([probe.question for probe in probes])
    rests = embed([embedding_text(row.title, row.speaker, row.text) for _, row, _ in probes])
    by_words = sum(_by_words(store, probe) for probe in probes)
    by_vectors = sum(
        _by_vectors(vectors, probe, question, rest)
        for probe, question, rest in zip(probes, asked, rests, strict=True)
    )
    # In a list in any order, every rank is as likely as another.
    pages = store.stats().pages
    by_chance = len(probes) * sum(map(_reciprocal, range(pages))) / max(pages, 1)
    found = (by_vectors - by_chance) / max(by_words, LITTLE * len(probes))
    return min(1.0, max(0.0, (found - NONE) / (FULL - NONE)))


def _turn(store: PageCollection, row: PageRow) -> _Probe | None:
    beside = frozenset(other.number for other in store.beside([row.number]))
    return _Probe(row.text[:LONGEST], row, beside) if beside and _says(row.text) else None


def _sentence(row: PageRow) -> _Probe | None:
    """Return the sentence in the middle of a page, and the page without it."""
    spans = split_sentences(row.text)
    if len(spans) < 2:
        return None
    start, end, sentence = spans[len(spans) // 2]
    text = f"{row.text[:start]}{row.text[end:]}".strip()
    if not text or not _says(sentence):
        return None
    return _Probe(sentence[:LONGEST], row._replace(text=text, words=" ".join(search_words(text))))


def _says(text: str) -> bool:
    return len(query_terms(text[:LONGEST])) >= 3


def _by_words(store: PageCollection, probe: _Probe) -> float:
    """Return the reciprocal rank by words of what is sought."""
    wanted = query_terms(probe.question)
    numbers = store.matching(wanted, DEPTH)
    if probe.beside:
        return _first(numbers, probe)
    asked = scoring.weigh_query(wanted, store.counts(wanted), store.stats())

    def score(row: PageRow) -> float:
        """Return the BM25 score of a page for the probe's question."""
        counted = scoring.count_query_words(asked, row)
        return scoring.score_bm25(asked, counted.times, counted.length)

    own = score(probe.row)
    if not own:
        return 0.0
    others = [row for row in store.rows(numbers) if row.number != probe.row.number]
    return _reciprocal(sum(score(row) >= own for row in others))


def _by_vectors(vectors: VectorCollection, probe: _Probe, question: Vector, rest: Vector) -> float:
    """Return the reciprocal rank by cosine of what is sought."""
    near = vectors.nearest(question, DEPTH)
    if probe.beside:
        return _first(sorted(near, key=lambda number: -near[number]), probe)
    own = float(np.asarray(question) @ np.asarray(rest))
    return _reciprocal(sum(near[number] >= own for number in near if number != probe.row.number))


def _first(numbers: Sequence[int], probe: _Probe) -> float:
    others = [number for number in numbers if number != probe.row.number]
    return next((_reciprocal(at) for at, one in enumerate(others) if one in probe.beside), 0.0)


def _reciprocal(before: int) -> float:
    return 1 / (before + 1) if before < DEPTH - 1 else 0.0


LOCK = "vectors.all"
"""Held while a collection is built; no thread has a full stop in its name, so none is this one."""


class OutgrownSet(NamedTuple):
    """A set, the highest number of its vectors, and how many there are."""

    set: int
    upto: int
    vectors: int


async def build_due_collection() -> int:
    """Build a collection for one set that has outgrown the last one; return how many it holds.

    Searches go on all the while. Call it until it returns 0. Machines that share a database need a
    server of Chroma; without one they build none, and compare all vectors exactly.

    Raises:
        Problem: `chroma_unavailable`.
    """
    if not chroma.has_collections():
        return 0
    try:
        # One process is enough for this.
        lock = await asyncio.to_thread(acquire, LOCK, 0.0)
    except Problem as problem:
        if problem.error != ErrorCode.RUN_IN_PROGRESS:
            raise
        return 0
    try:
        outgrown = await run_read(_outgrown)
        return await _build_collection(outgrown) if outgrown else 0
    finally:
        await asyncio.to_thread(lock.release)


async def _build_collection(outgrown: OutgrownSet) -> int:
    name = chroma.new_collection_name()
    unfinished = await run_write(partial(_begin, number=outgrown.set, name=name))
    await asyncio.to_thread(chroma.drop_collection, unfinished)
    parts = partial(_parts, await get_engine(), outgrown)
    built = await asyncio.to_thread(chroma.build_collection, name, outgrown.vectors, parts)
    if built.held != outgrown.vectors:
        return 0  # some were removed meanwhile
    gone = await run_write(partial(_publish, outgrown=outgrown, name=name, built=built))
    await asyncio.to_thread(chroma.drop_collection, gone)
    return built.held


def _outgrown(connection: Connection) -> OutgrownSet | None:
    """Return a set with more new vectors than are searched exactly, and than half its collection.

    Those that could not be found in the collection are not new.
    """
    new = func.count() - vector_sets.c.apart
    beside = vectors.c.number > vector_sets.c.covered
    wanted = select(vector_sets.c.number).join(vectors, vectors.c.set == vector_sets.c.number)
    wanted = wanted.where(beside).group_by(vector_sets.c.number)
    grown = wanted.having(new > query_vectors.EXACT, 2 * new > vector_sets.c.held)
    number = connection.execute(grown.order_by(vector_sets.c.number).limit(1)).scalar()
    if number is None:
        return None
    every = select(func.max(vectors.c.number), func.count()).where(vectors.c.set == number)
    return OutgrownSet(number, *connection.execute(every).one())


def _begin(connection: Connection, number: int, name: str) -> str:
    """Note the name of what is being built; return what was begun before and not finished."""
    mine = vector_sets.c.number == number
    before = connection.execute(select(vector_sets.c.building).where(mine)).scalar()
    connection.execute(update(vector_sets).where(mine).values(building=name))
    return before or ""


def _parts(engine: Engine, outgrown: OutgrownSet) -> Iterator[VectorBatch]:
    """Yield the vectors of a set; each part in a transaction of its own, since all take minutes."""
    last = 0
    for size in chroma.plan_collection_parts(outgrown.vectors):
        with engine.connect() as connection:
            number, upto = outgrown.set, outgrown.upto
            part = vector_rows.read_vectors_after(connection, number, last, upto, size)
        last = part.last
        if len(part.pages):
            yield part


def _publish(
    connection: Connection, outgrown: OutgrownSet, name: str, built: chroma.BuiltCollection
) -> str:
    """Let searches use a collection from now on; return the one that is of no use any more."""
    mine = (vector_sets.c.number == outgrown.set, vector_sets.c.building == name)
    row = connection.execute(select(vector_sets).where(*mine).with_for_update()).one_or_none()
    if row is None:
        return name
    for batch in split_batches(built.lost, vector_rows.RENUMBER_BATCH):
        vector_rows.renumber_vectors(connection, outgrown.set, batch)
    apart = len(built.lost)
    new = {"collection": name, "covered": outgrown.upto, "held": built.held - apart}
    connection.execute(update(vector_sets).where(*mine).values(**new, apart=apart, building=""))
    return str(row.collection)


async def judge_vectors() -> bool:
    """Measure what one set of vectors is worth that has grown; return whether there was one.

    Call it until there is none. Where the embedder fails, the set is judged another time.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(load_embedder)
    if current is None or not current.is_semantic:
        return False
    grown = await run_read(partial(vector_rows.find_outgrown_set, embedder=current.name))
    if grown is None:
        return False

    def measure(connection: Connection) -> dict[str, float]:
        """Return what the vectors of the namespace are worth, in 0..1, by language."""
        index = PageIndex(connection, [grown.namespace])
        near = NearestPages(index, [(shelf, grown) for shelf in list_vector_namespaces(index)])
        return measure_trust(index, near, current.embed_pages)

    try:
        worth = await run_read(measure)
    except client_errors():
        return False
    await run_write(partial(vector_rows.record_trust, number=grown.number, trust=worth))
    return True


async def update_vectors(progress: Callable[[int], None] = lambda _: None) -> EmbeddingProgress:
    """Make, remove, judge and index vectors until nothing is due, in any number of processes.

    Args:
        progress: Is told how many pages were dealt with, now and then.

    Returns:
        How many pages there were, and what kept it from others; they are due again later.

    Raises:
        Problem: If the embedder that is set cannot be had, or Chroma fails.
    """
    done = await make_due_vectors(progress)
    while await build_due_collection():
        pass
    return done


async def make_due_vectors(
    progress: Callable[[int], None] = lambda _: None, seconds: float = math.inf
) -> EmbeddingProgress:
    """Make, remove and judge vectors until nothing is due or the time is over, and index none.

    Args:
        progress: As for `update_vectors`.
        seconds: How long it may take, as far as a batch can tell before it begins.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    pages, problem, end = 0, None, time.monotonic() + seconds
    for work in (embed_due, reembed):
        go_on = True
        while go_on and time.monotonic() < end:
            done = await work()
            pages += done.pages
            problem = problem or done.problem
            progress(done.pages)
            go_on = done.pages > 0
    while time.monotonic() < end and await judge_vectors():
        pass
    return EmbeddingProgress(pages, problem)
