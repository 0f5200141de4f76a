"""Find the pages whose vectors are nearest to one: exactly in small sets, through Chroma in large.

The database is the truth. Of each set it has searched a process holds in memory what no collection
covers; before every search it reads what was committed since the last one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, and_, select

from config.errors import Problem
from retrieval import chroma
from retrieval.cores import one_each
from retrieval.index import HERE, Index, mine
from retrieval.pool import Vector
from storage.tables import GIVEN, members, namespaces, pages, vectors
from storage.vectors import Floats, Part, VectorSet, after, joined, of_pages, read

EXACT = 10_000
"""A set of more vectors than this is searched through Chroma; fewer take a millisecond."""

ROOM = 512 * 2**20
"""How many bytes of vectors a process holds in memory."""

HOME = namespaces.alias("home")
SHELVES = (
    select(HOME.c.number, HOME.c.owner, HOME.c.pages, namespaces.c.pages)
    .join_from(
        namespaces,
        HOME,
        and_(
            HOME.c.owner == namespaces.c.owner,
            HOME.c.kind == namespaces.c.kind,
            HOME.c.group == "",
        ),
    )
    .where(namespaces.c.number.in_(HERE))
)

FINDABLE = select(pages.c.number).where(pages.c.number.in_(GIVEN), mine(pages))


class Shelf(NamedTuple):
    """A namespace of a kind, in which every page has its vector, and how much of it is searched."""

    namespace: int
    owner: str
    pages: int
    searched: int


def shelves(index: Index) -> list[Shelf]:
    """Return where the vectors of the pages are that an index searches."""
    found: dict[int, Shelf] = {}
    for row in index.connection.execute(SHELVES, index.here):
        shelf = Shelf._make(row)
        before = found.get(shelf.namespace)
        searched = shelf.searched + (before.searched if before else 0)
        found[shelf.namespace] = shelf._replace(searched=searched)
    return list(found.values())


class Nearest:
    """The vectors of the pages that an index searches: a `retrieval.pool.Vectors`.

    Args:
        index: Which pages.
        sets: Where their vectors are, each with its shelf.
        more: Vectors of pages that are in no set yet, by number.
    """

    def __init__(
        self,
        index: Index,
        sets: Sequence[tuple[Shelf, VectorSet]],
        more: Mapping[int, Floats] | None = None,
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
        part = of_pages(self.index.connection, [one.number for _, one in self.sets], numbers)
        return _best(part, asked, len(numbers)) | self._of_more(asked, set(numbers))

    def _of_more(self, asked: Floats, pages: set[int]) -> dict[int, float]:
        return {page: float(self.more[page] @ asked) for page in pages & self.more.keys()}

    def _of_set(self, shelf: Shelf, one: VectorSet, asked: Floats, limit: int) -> dict[int, float]:
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

    def _members(self, one: VectorSet) -> Part:
        """Return the vectors of the pages that are searched; they are a small part of the set."""
        wanted = read.join(members, members.c.page == vectors.c.page).where(
            vectors.c.set == one.number, members.c.namespace.in_(self.index.namespaces)
        )
        return joined(self.index.connection.execute(wanted).all())

    def _findable(self, numbers: list[int]) -> set[int]:
        values = {**self.index.here, GIVEN.key: numbers}
        return set(self.index.connection.execute(FINDABLE, values).scalars())


def _near(connection: Connection, one: VectorSet, asked: Floats, limit: int) -> dict[int, float]:
    """Return the nearest pages of a set, also such as cannot be found any more."""
    if not one.collection:
        return _best(_held(connection, one.number, 0), asked, limit)
    try:
        covered = chroma.nearest(one.collection, asked, limit)
    except Problem:
        # The database has every vector; all that is lost is memory and some milliseconds.
        return _best(_held(connection, one.number, 0), asked, limit)
    return covered | _best(_held(connection, one.number, one.covered), asked, limit)


def _best(part: Part, asked: Floats, limit: int) -> dict[int, float]:
    """Return the cosines of the nearest pages of a part, by page number."""
    if not len(part.pages):
        return {}
    one_each()
    cosines = part.matrix @ asked
    best = np.argpartition(-cosines, limit)[:limit] if limit < len(cosines) else slice(None)
    return dict(zip(part.pages[best].tolist(), cosines[best].tolist(), strict=True))


class Held:
    """The vectors of a set numbered above `base`, in memory, as far as they were read."""

    def __init__(self, base: int) -> None:
        self.part = Part(np.zeros(0, np.int64), np.zeros((0, 0), np.float32), base)
        self.reading = threading.Lock()

    def refresh(self, connection: Connection, number: int) -> Part:
        """Read what was committed since, and return all there is."""
        with self.reading:
            new = after(connection, number, self.part.last)
            if len(self.part.pages) and len(new.pages):
                pages = np.concatenate([self.part.pages, new.pages])
                new = Part(pages, np.concatenate([self.part.matrix, new.matrix]), new.last)
            if len(new.pages):
                self.part = new
            return self.part


_all: OrderedDict[tuple[str, int, int], Held] = OrderedDict()
_choosing = threading.Lock()


def _held(connection: Connection, number: int, base: int) -> Part:
    """Return the vectors of a set numbered above `base`."""
    key = (str(connection.engine.url), number, base)
    with _choosing:
        held = _all.setdefault(key, Held(base))
        _all.move_to_end(key)
        for other in [other for other in _all if other[:2] == key[:2] and other != key]:
            del _all[other]
        while len(_all) > 1 and sum(each.part.matrix.nbytes for each in _all.values()) > ROOM:
            _all.popitem(last=False)
    return held.refresh(connection, number)
