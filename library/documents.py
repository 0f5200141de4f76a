"""The files of folders that are in the page store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, func, or_, select

from library import indexing
from library.abstracts import fill_abstracts
from library.page_rows import RETIRED, NewPage, PageOrigin, build_page_rows, short_hash
from library.tables import documents, former_documents, members, pages
from storage.batches import split_batches
from storage.engine import read_rows, write_in_group
from storage.upsert import dialect_insert, upsert_rows

FILE_KIND = "file"


async def record_document(owner: str, root: str, path: str, row: Mapping[str, Any]) -> None:
    """Record how a file of a folder was read, so that searches of the folder find its pages.

    The pages of its earlier content are superseded unless another file has that content.

    Args:
        owner: The owner of the file.
        root: The folder.
        path: The path of the file.
        row: The other columns of `library.tables.documents`.
    """
    await write_in_group(partial(_record, owner=owner, root=root, rows={path: row}))


class ReadDocument(NamedTuple):
    """A file that was read: its pages, if they are to be stored, and its row of `documents`."""

    path: str
    pages: Sequence[NewPage]
    row: Mapping[str, Any]


async def store_files(owner: str, root: str, files: Sequence[ReadDocument]) -> None:
    """Store the pages of some files of a folder and record how each was read, all or nothing.

    Args:
        owner: The owner of the files.
        root: The folder.
        files: Short files, since all their pages are written in one transaction.
    """
    new = {file.row["sha256"]: file.pages for file in reversed(files) if file.pages}

    def build_rows() -> dict[str, list[dict[str, Any]]]:
        """Return the rows of the pages of each new file, by its SHA-256."""
        return {
            sha256: build_page_rows(PageOrigin(owner, FILE_KIND, sha256, root), file_pages)
            for sha256, file_pages in new.items()
        }

    rows = await asyncio.to_thread(build_rows)

    def write(connection: Connection) -> None:
        """Write pages and files together, so that no file is listed without its pages."""
        if rows:
            origin = PageOrigin(owner, FILE_KIND, "", root)
            indexing.write_pages(connection, origin, list(chain.from_iterable(rows.values())))
        for sha256, file_rows in rows.items():
            current = {row["id"]: row["position"] for row in file_rows}
            indexing.supersede_pages(connection, owner, short_hash(FILE_KIND, sha256), current)
        _record(connection, owner, root, {file.path: file.row for file in files})

    await write_in_group(write)


def _record(
    connection: Connection, owner: str, root: str, rows: Mapping[str, Mapping[str, Any]]
) -> None:
    """Record how some files of a folder were read."""
    before = _read_hashes(connection, owner, root, list(rows))
    values = [{"owner": owner, "root": root, "path": path, **row} for path, row in rows.items()]
    connection.execute(upsert_rows(documents, ("owner", "root", "path")), values)
    numbers = list(_findable_pages(connection, owner, {row["sha256"] for row in rows.values()}))
    namespace = indexing.ensure_namespace(connection, owner, FILE_KIND, root)
    indexing.join_namespaces(connection, numbers, [namespace])
    for path, sha256 in before.items():
        if sha256 == rows[path]["sha256"]:
            continue
        _record_former(connection, owner, root, path, sha256)
        _leave_folder(connection, owner, root, sha256)
        found = _findable_pages(connection, owner, [rows[path]["sha256"]])
        if found and not is_content_listed(connection, owner, sha256):
            current = dict(found.values())
            indexing.supersede_pages(connection, owner, short_hash(FILE_KIND, sha256), current)


class StoredFile(NamedTuple):
    """A file that was read, with the hash of its content and its size in bytes."""

    root: str
    path: str
    sha256: str
    size: int
    modified: int
    """The time of its last change, in nanoseconds since 1970."""
    code: str
    """The code of the error that kept it from being read; empty if it was read."""
    reason: str


async def list_stored_files(
    owner: str, roots: Sequence[str] = (), *, below: str = ""
) -> list[StoredFile]:
    """Return an owner's files by path, if given only those of some folders or of folders below one.

    Args:
        owner: The owner of the files.
        roots: The folders that were read.
        below: The beginning of their paths, with a slash at its end.
    """
    columns = (documents.c[name] for name in StoredFile._fields)
    wanted = select(*columns).where(documents.c.owner == owner).order_by(documents.c.path)
    if roots:
        wanted = wanted.where(documents.c.root.in_(roots))
    if below:
        wanted = wanted.where(documents.c.root.startswith(below, autoescape=True))
    files = [StoredFile._make(row) for row in await read_rows(wanted)]
    # A file may be below two folders that were read.
    return list({file.path: file for file in files}.values())


class DocumentOpening(NamedTuple):
    """The first page of a document."""

    id: str
    title: str
    abstract: str
    text: str


async def read_document_openings(owner: str, hashes: Sequence[str]) -> dict[str, DocumentOpening]:
    """Return the first pages of documents by content hash."""
    hash_by_origin = {short_hash(FILE_KIND, sha256): sha256 for sha256 in hashes}
    first_pages = (
        select(pages.c.origin_id, *(pages.c[name] for name in DocumentOpening._fields))
        .where(pages.c.owner == owner, pages.c.indexed > RETIRED, pages.c.position == 0)
        .order_by(pages.c.number)
    )
    openings: dict[str, DocumentOpening] = {}
    for batch in split_batches(list(hash_by_origin)):
        for row in await read_rows(first_pages.where(pages.c.origin_id.in_(batch))):
            openings.setdefault(hash_by_origin[row.origin_id], DocumentOpening._make(row[1:]))
    filled = await fill_abstracts(owner, list(openings.values()))
    return dict(zip(openings, filled, strict=True))


async def unlist_document(owner: str, root: str, path: str) -> None:
    """Remove a file from the list of its folder; its pages stay until they are forgotten."""
    await write_in_group(partial(delete_document_row, owner=owner, root=root, path=path))


def list_documents_below(connection: Connection, owner: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of the files at or below a path, without the column of their owner."""
    columns = [column for column in documents.c if column.name != "owner"]
    wanted = select(*columns).where(documents.c.owner == owner, path_condition(name))
    return [dict(row) for row in connection.execute(wanted).mappings()]


def path_condition(name: str, table: Table = documents) -> Any:
    """Return the condition for files at a path, in a folder read from it, or anywhere below it."""
    path = os.path.realpath(os.path.expanduser(name))
    folder = path.rstrip("/") + "/"
    inside = func.substr(table.c.path, 1, len(folder)) == folder
    return or_(table.c.path == path, table.c.root == path, inside)


def delete_document_row(connection: Connection, owner: str, root: str, path: str) -> None:
    """Remove a file from the list of its folder, in the transaction of the caller."""
    before = read_document_hash(connection, owner, root, path)
    its = (documents.c.owner == owner, documents.c.root == root, documents.c.path == path)
    connection.execute(delete(documents).where(*its))
    if before:
        _record_former(connection, owner, root, path, before)
        _leave_folder(connection, owner, root, before)


def _record_former(connection: Connection, owner: str, root: str, path: str, sha256: str) -> None:
    """Record the former content of a file, so that it can still be forgotten by the path."""
    its = (pages.c.owner == owner, pages.c.origin_id == short_hash(FILE_KIND, sha256))
    if connection.execute(select(pages.c.id).where(*its).limit(1)).first():
        row = {"owner": owner, "path": path, "sha256": sha256, "root": root}
        connection.execute(dialect_insert(former_documents).on_conflict_do_nothing(), row)


def _leave_folder(connection: Connection, owner: str, root: str, sha256: str) -> None:
    """Remove the pages of a content from a folder's namespace unless a file there has it."""
    if is_content_listed(connection, owner, sha256, root):
        return
    numbers = list(_findable_pages(connection, owner, [sha256]))
    indexed = indexing.lock_indexed(connection, numbers)
    indexing.unindex_pages(connection, indexed)
    namespace = indexing.ensure_namespace(connection, owner, FILE_KIND, root)
    gone = (members.c.namespace == namespace, members.c.page.in_(numbers))
    connection.execute(delete(members).where(*gone))
    indexing.index_pages(connection, indexed)


def read_document_hash(connection: Connection, owner: str, root: str, path: str) -> str:
    """Return the content hash of a file when it was last read; empty if it never was."""
    return _read_hashes(connection, owner, root, [path]).get(path, "")


def _read_hashes(
    connection: Connection, owner: str, root: str, paths: Sequence[str]
) -> dict[str, str]:
    """Return the content hashes of files when they were last read, without files never read."""
    those = (documents.c.owner == owner, documents.c.root == root, documents.c.path.in_(paths))
    rows = connection.execute(select(documents.c.path, documents.c.sha256).where(*those))
    return {row.path: row.sha256 for row in rows if row.sha256}


def is_content_listed(
    connection: Connection, owner: str, sha256: str, root: str | None = None
) -> bool:
    """Tell whether any file, or any file of one folder, has this content."""
    its = (documents.c.owner == owner, documents.c.sha256 == sha256)
    wanted = select(documents.c.path).where(*its)
    if root is not None:
        wanted = wanted.where(documents.c.root == root)
    return connection.execute(wanted.limit(1)).first() is not None


def _findable_pages(
    connection: Connection, owner: str, hashes: Collection[str]
) -> dict[int, tuple[str, int]]:
    """Return the ids and positions of the pages of files that searches find, by page number."""
    origins = [short_hash(FILE_KIND, sha256) for sha256 in hashes]
    wanted = select(pages.c.number, pages.c.id, pages.c.position).where(
        pages.c.owner == owner, pages.c.origin_id.in_(origins), pages.c.indexed > RETIRED
    )
    rows = connection.execute(wanted.order_by(pages.c.number))
    return {row.number: (row.id, row.position) for row in rows}
