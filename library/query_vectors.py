"""Search by meaning: the vector of a question, and the vectors it is compared with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from config.errors import Problem
from config.resources import RecentCache, Resource
from library.indexing import VECTOR_JOB
from library.page_embedding import read_embedding_texts
from library.page_index import PageIndex
from library.page_scoring import UNKNOWN_TRUST
from library.vector_rows import FloatArray, VectorSet, list_vector_sets, serving_embedder
from library.vector_search import NearestPages, VectorNamespace, list_vector_namespaces
from models.embeddings import Embedder, PartialEmbeddingError, load_embedder
from models.faults import client_errors, to_model_problem
from storage import outbox
from text.script import detect_language

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
        trust = (
            _trust(_used(sets, places, maker), detect_language(question))
            if maker.is_semantic
            else 0.0
        )
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
    return [one for owner in owners for one in list_vector_sets(index.connection, owner)]


def _used(
    sets: Sequence[VectorSet], places: Mapping[int, VectorNamespace], maker: Embedder
) -> list[tuple[VectorNamespace, VectorSet]]:
    """Return the sets of an embedder that are searched, each with its shelf."""
    return [
        (places[one.namespace], one)
        for one in sets
        if one.embedder == maker.name and one.namespace in places
    ]


def _trust(used: Sequence[tuple[VectorNamespace, VectorSet]], name: str) -> float:
    """Return what sets are worth to questions in a language, each as much as is searched of it."""
    searched = sum(shelf.searched for shelf, _ in used)
    worth = sum(shelf.searched * one.trust.get(name, UNKNOWN_TRUST) for shelf, one in used)
    return worth / searched if searched else UNKNOWN_TRUST


def _maker(sets: Sequence[VectorSet]) -> Embedder | None:
    """Return the embedder whose vectors serve, or the current one where that cannot be had."""
    current = load_embedder()
    name = serving_embedder(sets, current.name) if current else ""
    if current is None or name == current.name:
        return current
    try:
        return load_embedder(name)
    except Problem:
        return current


def _waiting(index: PageIndex, places: Mapping[int, VectorNamespace]) -> list[int]:
    """Return the pages that wait for their vectors, the newest first; none if they are many."""
    owners = dict.fromkeys(place.owner for place in places.values())
    queues = [
        outbox.list_waiting_jobs(index.connection, owner, VECTOR_JOB, JOBS) for owner in owners
    ]
    jobs = [job for queue in queues if len(queue) < JOBS for job in queue]
    pages = {page for job in jobs if job["namespace"] in places for page in job["pages"]}
    return sorted(pages, reverse=True)


def _more(index: PageIndex, maker: Embedder, pages: Sequence[int]) -> dict[int, FloatArray]:
    """Return the vectors of the newest of some pages, and of those that are remembered."""
    keys = {page: (str(index.connection.engine.url), maker.name, page) for page in pages}
    with embedding_lock:
        remembered = _remembered.get()
        new = [page for page in pages if keys[page] not in remembered][:PAGES]
        texts = read_embedding_texts(index.connection, new) if new else {}
        if texts:
            with suppress(Problem):
                for page, vector in zip(
                    texts, embed_as_allowed(maker, list(texts.values())), strict=False
                ):
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
