"""Compare a vector with those of the pages that an index searches.

Exactly in memory, or through Chroma.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, and_, func, select

from config.errors import Problem
from config.resources import Resource
from library import chroma, vector_rows
from library.page_index import SEARCHED_NAMESPACES, PageIndex, searched_condition
from library.page_scoring import Vector
from library.tables import PAGE_NUMBERS, members, namespaces, pages, vectors
from library.vector_rows import FloatArray, VectorBatch, VectorSet
from text.single_core import limit_threads_to_one_core

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
            HOME.c.owner == namespaces.c.owner,
            HOME.c.kind == namespaces.c.kind,
            HOME.c.group == "",
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


class NearestPages:
    """The vectors of the pages that an index searches: a `library.page_scoring.VectorCollection`.

    Args:
        index: Which pages.
        sets: Where their vectors are, each with its shelf.
        more: Vectors of pages that are in no set yet, by number.
    """

    def __init__(
        self,
        index: PageIndex,
        sets: Sequence[tuple[VectorNamespace, VectorSet]],
        more: Mapping[int, FloatArray] | None = None,
    ) -> None:
        self.index = index
        self.sets = sets
        self.more = more or {}

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
        part = vector_rows.read_page_vectors(
            self.index.connection, [one.number for _, one in self.sets], numbers
        )
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
        if one.collection:
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
