"""Find pages in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import func, select

from memory.upkeep import refresh
from retrieval.index import Index, opened
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
    await refresh(owner)
    return await read(lambda connection: work(opened(connection, owner, kinds, groups)))


def columns(roots: Sequence[str] | None = None) -> tuple[Any, ...]:
    """Return what has to be read of a page to make a `Page`: `path` is where it is from."""
    named = (documents.c.owner == pages.c.owner, documents.c.sha256 == pages.c.origin)
    path = select(func.min(documents.c.path)).where(pages.c.kind == "file", *named)
    below = path if roots is None else path.where(documents.c.root.in_(roots))
    origin = func.coalesce(below.scalar_subquery(), pages.c.origin).label("path")
    names = ("number", "id", "kind", "title", "place", "text")
    return (*(pages.c[name] for name in names), origin)


def best(
    index: Index, wanted: Sequence[str], limit: int, roots: Sequence[str] | None
) -> list[Page]:
    """Return the pages that fit some search words best, best first; a file by its path."""
    numbers = index.matching(wanted, limit)
    found = select(*columns(roots)).where(pages.c.number.in_(numbers), index.mine(pages))
    rows = {row.number: row for row in index.connection.execute(found)}
    ranked = [rows[number] for number in numbers if number in rows]
    return [
        Page(row.id, row.kind, row.title, location(row.path, row.place), row.text, 1 / place)
        for place, row in enumerate(ranked, start=1)
    ]
