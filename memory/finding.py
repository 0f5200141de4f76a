"""Find pages in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, func, select

from memory.meaning import meaning
from memory.upkeep import due, refresh
from retrieval.index import Index, opened
from retrieval.search import gist
from retrieval.search import search as answering
from storage.engine import read
from storage.tables import documents, pages

Answer = TypeVar("Answer")


class Page(NamedTuple):
    """A page that was found; `score` is higher for a better fit."""

    id: str
    kind: str
    title: str
    location: str
    text: str
    score: float


class Found(NamedTuple):
    """A page that a search found, and what each sign adds to its score."""

    page: Page
    parts: Mapping[str, float]


class Ranked(NamedTuple):
    """The number of a page and what it is worth."""

    number: int
    score: float
    parts: Mapping[str, float]


def location(origin: str, place: str) -> str:
    """Join where something is from and the place in it, as an address with a fragment."""
    return f"{origin}#{place}" if place else origin


async def searching(
    owner: str,
    work: Callable[[Index], Answer],
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Answer:
    """Let a function search some of an owner's pages, and return what it returns.

    Args:
        owner: Whose pages.
        work: Is given the pages as the scorer sees them; it runs in a thread.
        kinds: Of these kinds only.
        groups: Of these groups only, such as the folders of files.
    """

    def look(connection: Connection) -> list[Answer]:
        """Return one answer, or none while the index is not true."""
        return [] if due(connection, owner) else [work(opened(connection, owner, kinds, groups))]

    while not (answer := await read(look)):
        await refresh(owner)
    return answer[0]


def columns(roots: Sequence[str] | None = None) -> tuple[Any, ...]:
    """Return what has to be read of a page to make a `Page`: `path` is where it is from."""
    named = (documents.c.owner == pages.c.owner, documents.c.sha256 == pages.c.origin)
    path = select(func.min(documents.c.path)).where(pages.c.kind == "file", *named)
    below = path if roots is None else path.where(documents.c.root.in_(roots))
    origin = func.coalesce(below.scalar_subquery(), pages.c.origin).label("path")
    names = ("number", "id", "kind", "title", "place", "text")
    return (*(pages.c[name] for name in names), origin)


async def search(
    owner: str,
    question: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[Found]:
    """Return the pages that answer a question best, best first.

    Args:
        owner: Whose pages.
        question: What is asked.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only, such as conversations or folders of files.
    """
    best = partial(_found, question=question, limit=limit, roots=groups)
    return await searching(owner, best, kinds, groups)


def best(
    index: Index, wanted: Sequence[str], limit: int, roots: Sequence[str] | None
) -> list[Page]:
    """Return the pages that fit some search words best, best first; a file by its path."""
    return [one.page for one in _pages(index, _matching(index, wanted, limit), roots)]


def _found(index: Index, question: str, limit: int, roots: Sequence[str] | None) -> list[Found]:
    meant = meaning(index, gist(question, index))
    vector = None if meant.vector is None else meant.vector.tolist()
    hits = answering(question, index, limit, vectors=meant.vectors, vector=vector)
    # Vectors have a nearest page for everything, also one that nothing speaks for.
    worth = [Ranked(hit.row.number, hit.score, hit.parts) for hit in hits if hit.score > 0]
    return _pages(index, worth, roots)


def _matching(index: Index, wanted: Sequence[str], limit: int) -> list[Ranked]:
    """Rank pages as the keyword index does; a score is one part of the place in its list."""
    numbers = index.matching(wanted, limit) if wanted else []
    places = enumerate(numbers, start=1)
    return [Ranked(number, 1 / place, {"words": 1 / place}) for place, number in places]


def _pages(index: Index, ranked: Sequence[Ranked], roots: Sequence[str] | None) -> list[Found]:
    """Read the pages that were ranked, and keep their order."""
    numbers = [one.number for one in ranked]
    found = select(*columns(roots)).where(pages.c.number.in_(numbers), index.mine(pages))
    rows = {row.number: row for row in index.connection.execute(found)}
    return [
        Found(_page(rows[one.number], one.score), one.parts) for one in ranked if one.number in rows
    ]


def _page(row: Any, score: float) -> Page:
    where = location(row.path, row.place)
    return Page(row.id, row.kind, row.title, where, row.text, score)
