"""Number the citable pages of a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple, cast

from sqlalchemy import Connection, insert, select

from graph.records import Source
from library.genres import JudgedPage, judge_genre
from library.page_metadata import NO_METADATA, PageMetadata, extract_site
from library.tables import pages as stored_pages
from library.tables import sources
from storage.batches import split_batches
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

    def register(connection: Connection) -> tuple[dict[str, int], dict[str, PageMetadata]]:
        """Return the numbers of the pages in the thread, and what the pages say of themselves."""
        numbers = _number_pages(connection, thread, pages)
        return numbers, _read_metadata(
            connection, list(numbers.keys() & {one.page for one in pages})
        )

    numbers, known = await run_write(register)
    return [
        _build_source(page, numbers[page.page], known.get(page.page, NO_METADATA)) for page in pages
    ]


def list_web_pages(sources: Mapping[str, Source]) -> list[str]:
    """Return the ids of the pages of the web among some sources, in their order."""
    return [one["page"] for one in sources.values() if one["kind"] == "web"]


def _build_source(page: CitablePage, number: int, stored: PageMetadata) -> Source:
    """Return a source with what is known of its page; what is not known has no key."""
    source = Source(
        id=f"S{number}",
        page=page.page,
        title=page.title,
        location=page.location,
        kind=get_source_kind(page.kind),
    )
    known = {name: value for name, value in _complete(page, stored)._asdict().items() if value}
    return cast("Source", source | known)


def _complete(page: CitablePage, stored: PageMetadata) -> PageMetadata:
    """Return metadata with what follows from the location; older web pages have nothing else."""
    match page.kind:
        case "file":
            return stored._replace(site=_folder_name(page.location), genre=stored.genre or "file")
        case "web":
            judged = stored.genre or judge_genre(JudgedPage(page.location, page.title))
            return stored._replace(site=stored.site or extract_site(page.location), genre=judged)
        case "knowledge" | "knowledge_result" | "tool" | "computed":
            return stored
        case _:
            return stored._replace(site="", genre="")


def _folder_name(location: str) -> str:
    return PurePath(location.rpartition("#")[0] or location).parent.name


def _read_metadata(connection: Connection, ids: Sequence[str]) -> dict[str, PageMetadata]:
    columns = [stored_pages.c[name] for name in PageMetadata._fields]
    wanted = select(stored_pages.c.id, *columns)
    found: dict[str, PageMetadata] = {}
    for batch in split_batches(ids):
        for row in connection.execute(wanted.where(stored_pages.c.id.in_(batch))):
            found[row.id] = PageMetadata._make(row[1:])
    return found


def get_source_kind(
    kind: str,
) -> Literal["file", "web", "memory", "computed", "tool", "knowledge"]:
    """Return what a page of a kind is as a source."""
    match kind:
        case "file" | "web" | "computed" | "tool" | "knowledge":
            return kind
        case "knowledge_result":
            # An earlier run has computed it from a base, and a search has found its report.
            return "knowledge"
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
