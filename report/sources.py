"""Give every page that may be cited in a thread its number, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import func, insert, select

from graph.state import Source
from storage.engine import writing
from storage.tables import sources


class Citable(NamedTuple):
    """A page as the registry needs to know it."""

    page: str
    title: str
    location: str
    kind: str


async def register(thread: str, pages: Sequence[Citable]) -> list[Source]:
    """Return the sources for some pages, in the same order.

    A page keeps the number it has in this thread; a new one gets the next number.
    """
    async with writing() as connection:
        known = select(sources.c.page, sources.c.number).where(sources.c.thread == thread)
        numbers = {row.page: row.number for row in await connection.execute(known)}
        highest = select(func.max(sources.c.number)).where(sources.c.thread == thread)
        last = (await connection.execute(highest)).scalar() or 0
        new = [page for page in dict.fromkeys(one.page for one in pages) if page not in numbers]
        for number, page in enumerate(new, start=last + 1):
            numbers[page] = number
            row = {"thread": thread, "page": page, "number": number}
            await connection.execute(insert(sources).values(row))
    return [
        Source(
            id=f"S{numbers[one.page]}",
            page=one.page,
            title=one.title,
            location=one.location,
            kind="file" if one.kind == "file" else "web" if one.kind == "web" else "memory",
        )
        for one in pages
    ]
