"""Search by meaning: the vector of a question, and the vectors it is compared with.

They are compared exactly in memory, or through Chroma.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from sqlalchemy import Connection, and_, func, select

from config.errors import Problem
from config.resources import RecentCache, Resource
from library import chroma, vector_rows
from library.indexing import VECTOR_JOB
from library.page_embedding import read_embedding_texts
from library.page_index import SEARCHED_NAMESPACES, PageIndex, searched_condition
from library.page_scoring import UNKNOWN_TRUST, Vector
from library.tables import PAGE_NUMBERS, members, namespaces, pages, vectors
from library.vector_rows import FloatArray, VectorBatch, VectorSet
from models.embeddings import Embedder, PartialEmbeddingError, load_embedder
from models.faults import client_errors, to_model_problem
from storage import outbox
from text.script import detect_language
from text.single_core import limit_threads_to_one_core

Answer = TypeVar("Answer")

AGAIN = 60.0
"""Seconds before an embedder that failed in a search is asked again."""

JOBS = 64
"""When so many jobs wait for vectors, their pages are left to a worker."""

PAGES = 16
"""How many pages that wait for a worker a search embeds, the newest."""

REMEMBERED = 4_096
"""How many vectors of such pages, and of questions, a process remembers."""


class QueryVectors(NamedTuple):
    """What a search by meaning needs.

    Without a vector a search can only go by words; the problem says why, where there is one.
    """

    vector: FloatArray | None
    vectors: NearestPages
    trust: float = 0.0
    """What the vectors are worth beside words for this question, in 0..1."""
    problem: Problem | None = None


Key = tuple[str, str, int | str]
"""A database, an embedder and a page; or no database, an embedder and a question."""

embedding_lock = threading.Lock()
"""Keeps searches side by side from having the vectors of the same texts made."""

_down = Resource(dict[str, tuple[float, Problem]])
"""Until when embedders that failed are not asked again, and why they failed."""

_remembered = Resource(lambda: RecentCache[Key, FloatArray](REMEMBERED))


def prepare_query_vectors(index: PageIndex, question: str, *, worded: bool = False) -> QueryVectors:
    """Return a question as a vector, and the vectors of the pages that an index searches.

    Pages that wait for a worker are embedded here if they are few, so that they are found at once.
    All is done in the thread that calls.

    Args:
        index: Which pages.
        question: What is searched.
        worded: Whether words may find pages, so that vectors which add nothing are left out.
    """
    places = {place.namespace: place for place in list_vector_namespaces(index)}
    nothing = QueryVectors(None, NearestPages(index, []))
    try:
        sets = _sets(index, places)
        maker = _maker(sets)
        if maker is None:
            return nothing
        language = detect_language(question)
        trust = _trust(_used(sets, places, maker), language) if maker.is_semantic else 0.0
        if worded and not trust:
            return nothing
        vector = embed_question(maker, question)
    except Problem as problem:
        return nothing._replace(problem=problem)
    waiting = _waiting(index, places)
    # Sets are read after the outbox: what is not in the one any more is in the others already.
    used = _used(_sets(index, places), places, maker)
    return QueryVectors(vector, NearestPages(index, used, _more(index, maker, waiting)), trust)


def _sets(index: PageIndex, places: Mapping[int, VectorNamespace]) -> list[VectorSet]:
    owners = dict.fromkeys(place.owner for place in places.values())
    sets = (vector_rows.list_vector_sets(index.connection, owner) for owner in owners)
    return list(chain.from_iterable(sets))


def _used(
    sets: Sequence[VectorSet], places: Mapping[int, VectorNamespace], maker: Embedder
) -> list[tuple[VectorNamespace, VectorSet]]:
    """Return the sets of an embedder that are searched, each with its shelf."""
    of_maker = (one for one in sets if one.embedder == maker.name)
    return [(places[one.namespace], one) for one in of_maker if one.namespace in places]


def _trust(used: Sequence[tuple[VectorNamespace, VectorSet]], name: str) -> float:
    """Return what sets are worth to questions in a language, each as much as is searched of it."""
    searched = sum(shelf.searched for shelf, _ in used)
    worth = sum(shelf.searched * one.trust.get(name, UNKNOWN_TRUST) for shelf, one in used)
    return worth / searched if searched else UNKNOWN_TRUST


def _maker(sets: Sequence[VectorSet]) -> Embedder | None:
    """Return the embedder whose vectors serve, or the current one where that cannot be had."""
    current = load_embedder()
    name = vector_rows.serving_embedder(sets, current.name) if current else ""
    if current is None or name == current.name:
        return current
    try:
        return load_embedder(name)
    except Problem:
        return current


def _waiting(index: PageIndex, places: Mapping[int, VectorNamespace]) -> list[int]:
    """Return the pages that wait for their vectors, the newest first; none if they are many."""
    owners = dict.fromkeys(place.owner for place in places.values())
    connection = index.connection
    queues = [outbox.list_waiting_jobs(connection, owner, VECTOR_JOB, JOBS) for owner in owners]
    jobs = [job for queue in queues if len(queue) < JOBS for job in queue]
    waiting = {page for job in jobs if job["namespace"] in places for page in job["pages"]}
    return sorted(waiting, reverse=True)


def _more(index: PageIndex, maker: Embedder, waiting: Sequence[int]) -> dict[int, FloatArray]:
    """Return the vectors of the newest of some pages, and of those that are remembered."""
    keys = {page: (str(index.connection.engine.url), maker.name, page) for page in waiting}
    with embedding_lock:
        remembered = _remembered.get()
        new = [page for page in waiting if keys[page] not in remembered][:PAGES]
        texts = read_embedding_texts(index.connection, new) if new else {}
        if texts:
            with suppress(Problem):
                made = embed_as_allowed(maker, list(texts.values()))
                for page, vector in zip(texts, made, strict=False):
                    remembered[keys[page]] = vector
    known = {page: remembered.get(key) for page, key in keys.items()}
    return {page: vector for page, vector in known.items() if vector is not None}


def embed_question(maker: Embedder, question: str) -> FloatArray:
    """Return the vector of a question; one run asks the same question more than once."""
    key = ("", maker.name, question)
    vector = _remembered.get().get(key)
    if vector is None:
        vector = _call_guarded(maker, lambda: maker.embed_query(question))
        _remembered.get()[key] = vector
    return vector


def embed_as_allowed(maker: Embedder, texts: Sequence[str]) -> FloatArray:
    """Return the vectors of texts; only of the first of them where a cap prevents the others.

    Raises:
        Problem: What prevents all of them.
    """
    try:
        return _call_guarded(maker, lambda: maker.embed_pages(texts))
    except PartialEmbeddingError as problem:
        return problem.vectors


def _call_guarded(maker: Embedder, work: Callable[[], Answer]) -> Answer:
    """Do what may fail at a provider; one that failed is left in peace for a while.

    Raises:
        Problem: What failed, now or a moment ago.
    """
    until, problem = _down.get().get(maker.name, (0.0, None))
    if problem is not None and time.monotonic() < until:
        raise problem
    try:
        return work()
    except client_errors() as error:
        problem = to_model_problem(error)
        _down.get()[maker.name] = time.monotonic() + AGAIN, problem
        raise problem from error


EXACT = 10_000
"""A set of more vectors than this is searched through Chroma; fewer take a millisecond."""

ROOM = 512 * 2**20
"""How many bytes of vectors a process holds in memory."""

HOME = namespaces.alias("home")
VECTOR_NAMESPACES = (
    select(HOME.c.number, HOME.c.owner, HOME.c.pages, func.sum(namespaces.c.pages))
    .join_from(
        namespaces,
        HOME,
        and_(
            HOME.c.owner == namespaces.c.owner, HOME.c.kind == namespaces.c.kind, HOME.c.group == ""
        ),
    )
    .where(namespaces.c.number.in_(SEARCHED_NAMESPACES))
    .group_by(HOME.c.number, HOME.c.owner, HOME.c.pages)
    .order_by(HOME.c.number)
)

FINDABLE = select(pages.c.number).where(pages.c.number.in_(PAGE_NUMBERS), searched_condition(pages))


class VectorNamespace(NamedTuple):
    """A namespace of a kind, in which every page has its vector, and how much of it is searched."""

    namespace: int
    owner: str
    pages: int
    searched: int


def list_vector_namespaces(index: PageIndex) -> list[VectorNamespace]:
    """Return where the vectors of the pages are that an index searches."""
    rows = index.connection.execute(VECTOR_NAMESPACES, index.bound_values)
    return [VectorNamespace._make(row) for row in rows]


@dataclass(frozen=True)
class NearestPages:
    """The vectors of the pages that an index searches (`library.page_scoring.VectorCollection`)."""

    index: PageIndex
    sets: Sequence[tuple[VectorNamespace, VectorSet]]
    """Where their vectors are, each with its shelf."""
    more: Mapping[int, FloatArray] = field(default_factory=dict)
    """Vectors of pages that are in no set yet, by number."""

    def nearest(self, vector: Vector, limit: int) -> dict[int, float]:
        """Return the cosines of the nearest pages that can be found here, by page number."""
        asked = np.asarray(vector, np.float32)
        found: dict[int, float] = {}
        for shelf, one in self.sets:
            found |= self._of_set(shelf, one, asked, limit)
        found |= self._of_more(asked, self._findable(list(self.more)))
        best = sorted(found, key=lambda page: -found[page])[:limit]
        return {page: found[page] for page in best}

    def likeness(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """Return the cosines of given pages by number; those without a vector are left out."""
        asked = np.asarray(vector, np.float32)
        sets = [one.number for _, one in self.sets]
        part = vector_rows.read_page_vectors(self.index.connection, sets, numbers)
        return _best(part, asked, len(numbers)) | self._of_more(asked, set(numbers))

    def _of_more(self, asked: FloatArray, pages: set[int]) -> dict[int, float]:
        return {page: float(self.more[page] @ asked) for page in pages & self.more.keys()}

    def _of_set(
        self, shelf: VectorNamespace, one: VectorSet, asked: FloatArray, limit: int
    ) -> dict[int, float]:
        """Return the nearest pages of one set that can be found, a few more or less."""
        if shelf.searched <= EXACT and 2 * shelf.searched < shelf.pages:
            return _best(self._members(one), asked, limit)
        found: dict[int, float] = {}
        for wanted in (limit + limit // 4, 16 * limit):
            near = _near(self.index.connection, one, asked, wanted)
            findable = self._findable(list(near))
            found = {page: near[page] for page in near if page in findable}
            if len(found) >= limit or len(near) < wanted:
                break
        return found

    def _members(self, one: VectorSet) -> VectorBatch:
        """Return the vectors of the pages that are searched; they are a small part of the set."""
        wanted = vector_rows.SELECT_VECTORS.join(members, members.c.page == vectors.c.page).where(
            vectors.c.set == one.number, members.c.namespace.in_(self.index.namespaces)
        )
        return vector_rows.stack_vectors(self.index.connection.execute(wanted).all())

    def _findable(self, numbers: list[int]) -> set[int]:
        values = {**self.index.bound_values, PAGE_NUMBERS.key: numbers}
        return set(self.index.connection.execute(FINDABLE, values).scalars())


def _near(
    connection: Connection, one: VectorSet, asked: FloatArray, limit: int
) -> dict[int, float]:
    """Return the nearest pages of a set, also such as cannot be found any more."""
    # Where Chroma fails, the database has every vector; only memory and milliseconds are lost.
    with suppress(Problem):
        if one.collection and chroma.has_collections():
            covered = chroma.query_collection(one.collection, asked, limit)
            return covered | _best(_held(connection, one.number, one.covered), asked, limit)
    return _best(_held(connection, one.number, 0), asked, limit)


def _best(part: VectorBatch, asked: FloatArray, limit: int) -> dict[int, float]:
    """Return the cosines of the nearest pages of a part, by page number."""
    if not len(part.pages):
        return {}
    limit_threads_to_one_core()
    cosines = part.matrix @ asked
    best = np.argpartition(-cosines, limit)[:limit] if limit < len(cosines) else slice(None)
    return dict(zip(part.pages[best].tolist(), cosines[best].tolist(), strict=True))


class _CachedVectors:
    """The vectors of a set numbered above `base`, in memory, as far as they were read."""

    def __init__(self, base: int) -> None:
        self.part = VectorBatch(np.zeros(0, np.int64), np.zeros((0, 0), np.float32), base)
        self.reading = threading.Lock()

    def refresh(self, connection: Connection, number: int) -> VectorBatch:
        """Read what was committed since, and return all there is."""
        with self.reading:
            new = vector_rows.read_vectors_after(connection, number, self.part.last)
            if len(self.part.pages) and len(new.pages):
                pages = np.concatenate([self.part.pages, new.pages])
                new = VectorBatch(pages, np.concatenate([self.part.matrix, new.matrix]), new.last)
            if len(new.pages):
                self.part = new
            return self.part


_cached = Resource(OrderedDict[tuple[str, int, int], _CachedVectors])
_choosing = threading.Lock()


def _held(connection: Connection, number: int, base: int) -> VectorBatch:
    """Return the vectors of a set numbered above `base`."""
    key = (str(connection.engine.url), number, base)
    with _choosing:
        cached = _cached.get()
        held = cached.setdefault(key, _CachedVectors(base))
        cached.move_to_end(key)
        for other in [other for other in cached if other[:2] == key[:2] and other != key]:
            del cached[other]
        while len(cached) > 1 and sum(one.part.matrix.nbytes for one in cached.values()) > ROOM:
            cached.popitem(last=False)
    return held.refresh(connection, number)
