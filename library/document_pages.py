"""Read whole documents: all live pages of what some pages are part of, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from library.page_index import PageIndex, findable_condition, select_namespaces
from library.page_retrieval import FoundPage, format_location, page_columns, run_search
from library.tables import members, namespaces, pages
from storage.batches import split_batches
from storage.engine import run_read
from text.words import query_terms

DOCUMENT_KINDS = ("file", "web")
"""The kinds of pages that are parts of documents."""

LEAST_PAGE = 80
"""No scope is measured that has more pages than documents of so many characters each would."""


async def read_documents(
    owner: str, documents: Sequence[str], max_characters: int
) -> list[FoundPage] | None:
    """Return the live pages of some documents, each document in its order.

    Args:
        owner: The owner of the pages.
        documents: The documents, as `find_places` names them.
        max_characters: How long their texts may be together.

    Returns:
        The pages, or `None` if they are longer than that.
    """

    def read(connection: Connection) -> list[FoundPage] | None:
        """Return the pages, or None if they are too long together, which their lengths tell."""
        of_owner = (pages.c.owner == owner, pages.c.origin_id.in_(documents))
        live = (*of_owner, findable_condition(pages))
        size = connection.execute(select(func.sum(func.length(pages.c.text))).where(*live)).scalar()
        if (size or 0) > max_characters:
            return None
        return _read_pages(connection, _PAGES.where(*live))

    return await run_read(read) if documents else []


async def read_short_documents(
    owner: str, documents: Sequence[str], max_characters: int
) -> dict[str, list[FoundPage]]:
    """Return the live pages of those of some documents that are short, each in its order.

    Args:
        owner: The owner of the pages.
        documents: The documents, as `find_places` names them.
        max_characters: How long each may be.
    """

    def read(connection: Connection) -> dict[str, list[FoundPage]]:
        """Return the pages of each document that is short enough, in their order."""
        live = (pages.c.owner == owner, findable_condition(pages))
        size = func.sum(func.length(pages.c.text))
        short = [
            document
            for batch in split_batches(documents)
            for (document,) in connection.execute(
                select(pages.c.origin_id)
                .where(*live, pages.c.origin_id.in_(batch))
                .group_by(pages.c.origin_id)
                .having(size <= max_characters)
            )
        ]
        found: dict[str, list[FoundPage]] = {document: [] for document in short}
        for batch in split_batches(short):
            wanted = _PAGES.where(*live, pages.c.origin_id.in_(batch)).order_by(pages.c.position)
            for row in connection.execute(wanted):
                found[row.origin_id].append(_to_page(row))
        return found

    return await run_read(read) if documents else {}


async def read_folders(
    owner: str, roots: Sequence[str], max_characters: int
) -> list[FoundPage] | None:
    """Return all pages of the files of some folders, or `None` if they are longer than allowed.

    Args:
        owner: The owner of the folders.
        roots: The folders.
        max_characters: How long the texts of the files may be together.
    """

    def read(connection: Connection) -> list[FoundPage] | None:
        """Return the pages, or None if they are too many, or too long together."""
        spaces = select_namespaces(connection, owner, ["file"], roots)
        count = select(func.sum(namespaces.c.pages)).where(namespaces.c.number.in_(spaces))
        if not spaces or (connection.execute(count).scalar() or 0) > max_characters / LEAST_PAGE:
            return None
        inside = select(members.c.page).where(members.c.namespace.in_(spaces))
        live = (pages.c.number.in_(inside), findable_condition(pages))
        size = connection.execute(select(func.sum(func.length(pages.c.text))).where(*live)).scalar()
        if (size or 0) > max_characters:
            return None
        return _read_pages(connection, _PAGES.where(*live))

    return await run_read(read) if roots else None


_PAGES = select(*page_columns(), pages.c.origin_id, pages.c.position)


def _read_pages(connection: Connection, wanted: Select[tuple[object, ...]]) -> list[FoundPage]:
    """Return pages by the paths of their documents, and in the order of each."""
    rows = connection.execute(wanted).all()
    ordered = sorted(rows, key=lambda row: (row.kind, row.path, row.origin_id, row.position))
    return [_to_page(row) for row in ordered]


def _to_page(row: Any) -> FoundPage:
    location = format_location(row.path, row.place)
    return FoundPage(row.id, row.kind, row.title, location, row.text, 0.0)


async def find_pages_on_names(
    owner: str, names: Sequence[str], limit: int, roots: Sequence[str]
) -> list[FoundPage]:
    """Return the pages of some folders that have the words of each name most, by words alone.

    Args:
        owner: The owner of the pages.
        names: The names, such as those in a hit.
        limit: The most pages for each name.
        roots: The folders.
    """

    def search(index: PageIndex) -> list[FoundPage]:
        """Return the pages that match any of the names best, once each."""
        numbers = (index.matching(query_terms(name), limit) for name in names)
        wanted = list(dict.fromkeys(number for found in numbers for number in found))
        columns = select(*page_columns())
        rows = [
            row
            for batch in split_batches(wanted)
            for row in index.connection.execute(columns.where(pages.c.number.in_(batch)))
        ]
        return [_to_page(row) for row in rows]

    return await run_search(owner, search, ["file"], roots) if names and roots else []


class DocumentPlace(NamedTuple):
    """What a page is part of, and its position there; pages of other kinds are alone."""

    document: str
    position: int


async def find_places(owner: str, page_ids: Sequence[str]) -> dict[str, DocumentPlace]:
    """Return of which documents some pages of files and of the web are, by their ids."""

    def read(connection: Connection) -> dict[str, DocumentPlace]:
        wanted = select(pages.c.id, pages.c.origin_id, pages.c.position).where(
            pages.c.owner == owner, pages.c.kind.in_(DOCUMENT_KINDS)
        )
        rows = [
            row
            for batch in split_batches(page_ids)
            for row in connection.execute(wanted.where(pages.c.id.in_(batch)))
        ]
        return {row.id: DocumentPlace(row.origin_id, row.position) for row in rows}

    return await run_read(read)
