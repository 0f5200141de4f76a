"""Number the citable pages of a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection, insert, select

from graph.records import Source
from library.tables import sources
from storage.engine import advisory_lock, run_write


class CitablePage(NamedTuple):
    """The fields of a page that the registry uses."""

    page: str
    title: str
    location: str
    kind: str


async def register_sources(thread: str, pages: Sequence[CitablePage]) -> list[Source]:
    """Return the sources for some pages, in the same order.

    A page keeps its number in the thread; a new page gets the next number.
    """
    numbers = await run_write(lambda connection: _number_pages(connection, thread, pages))
    return [
        Source(
            id=f"S{numbers[page.page]}",
            page=page.page,
            title=page.title,
            location=page.location,
            kind=_source_kind(page.kind),
        )
        for page in pages
    ]


def _source_kind(kind: str) -> Literal["file", "web", "memory", "computed"]:
    match kind:
        case "file" | "web" | "computed":
            return kind
        case _:
            return "memory"


def _number_pages(
    connection: Connection, thread: str, pages: Sequence[CitablePage]
) -> dict[str, int]:
    """Return the numbers of a thread's pages after adding the new ones."""
    advisory_lock(connection, f"sources of {thread}")
    known = select(sources.c.page, sources.c.number).where(sources.c.thread == thread)
    numbers = {row.page: row.number for row in connection.execute(known)}
    last = max(numbers.values(), default=0)
    new = [page for page in dict.fromkeys(page.page for page in pages) if page not in numbers]
    rows = [
        {"thread": thread, "page": page, "number": number}
        for number, page in enumerate(new, start=last + 1)
    ]
    if rows:
        connection.execute(insert(sources), rows)
    return numbers | {row["page"]: row["number"] for row in rows}
