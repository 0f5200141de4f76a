"""Give every page that may be cited in a thread its number, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection, insert, select

from graph.records import Source
from library.tables import sources
from storage.engine import advisory_lock, run_write


class CitablePage(NamedTuple):
    """A page as the registry needs to know it."""

    page: str
    title: str
    location: str
    kind: str


async def register_sources(thread: str, pages: Sequence[CitablePage]) -> list[Source]:
    """Return the sources for some pages, in the same order.

    A page keeps the number it has in this thread; a new one gets the next number.
    """
    numbers = await run_write(lambda connection: _numbers(connection, thread, pages))
    return [
        Source(
            id=f"S{numbers[one.page]}",
            page=one.page,
            title=one.title,
            location=one.location,
            kind=_kind(one.kind),
        )
        for one in pages
    ]


def _kind(kind: str) -> Literal["file", "web", "memory", "computed"]:
    known: dict[str, Literal["file", "web", "computed"]] = {
        "file": "file",
        "web": "web",
        "computed": "computed",
    }
    return known.get(kind, "memory")


def _numbers(connection: Connection, thread: str, pages: Sequence[CitablePage]) -> dict[str, int]:
    """Return the numbers of a thread's pages, with the new ones added."""
    advisory_lock(connection, f"sources of {thread}")
    known = select(sources.c.page, sources.c.number).where(sources.c.thread == thread)
    numbers = {row.page: row.number for row in connection.execute(known)}
    last = max(numbers.values(), default=0)
    new = [page for page in dict.fromkeys(one.page for one in pages) if page not in numbers]
    rows = [
        {"thread": thread, "page": page, "number": number}
        for number, page in enumerate(new, start=last + 1)
    ]
    if rows:
        connection.execute(insert(sources), rows)
    return numbers | {row["page"]: row["number"] for row in rows}
