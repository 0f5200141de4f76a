"""Which files of which folders are in the page store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, func, or_, select

from library.abstracts import fill_abstracts
from library.indexing import (
    ensure_namespace,
    index_pages,
    join_namespaces,
    lock_indexed,
    supersede_pages,
    unindex_pages,
    write_pages,
)
from library.page_rows import RETIRED, NewPage, PageOrigin, build_page_rows, short_hash
from library.tables import documents, former_documents, members, pages
from storage.engine import read_rows, write_in_group
from storage.upsert import dialect_insert, upsert, upsert_rows

FILE_KIND = "file"

DOCUMENTS_PER_STATEMENT = 500
"""How many documents one statement names."""


async def record_document(owner: str, root: str, path: str, row: Mapping[str, Any]) -> None:
    """Write down how a file of a folder was read; its pages are found below it from now on.

    The pages of what it held before are found no more, unless another file holds the same.

    Args:
        owner: Whose file.
        root: The folder.
        path: The file.
        row: The other columns of `library.tables.documents`.
    """
    await write_in_group(partial(_note, owner=owner, root=root, path=path, row=dict(row)))


class ReadDocument(NamedTuple):
    """A file that was looked at: its pages, if they are to be kept, and its row of `documents`."""

    path: str
    pages: Sequence[NewPage]
    row: Mapping[str, Any]


async def store_files(owner: str, root: str, files: Sequence[ReadDocument]) -> None:
    """Keep the pages of some files of a folder and write down how each was read, all or nothing.

    Args:
        owner: Whose files.
        root: The folder.
        files: Short ones: all of their pages are written in one transaction.
    """
    made = await asyncio.to_thread(_rows, owner, root, files)
    await write_in_group(partial(_keep_files, owner=owner, root=root, files=files, made=made))


def _rows(owner: str, root: str, files: Sequence[ReadDocument]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the pages of files by the hashes of the files."""
    each = {one.row["sha256"]: one.pages for one in reversed(files) if one.pages}
    return {
        sha: build_page_rows(PageOrigin(owner, FILE_KIND, sha, root), new)
        for sha, new in each.items()
    }


def _keep_files(
    connection: Connection,
    *,
    owner: str,
    root: str,
    files: Sequence[ReadDocument],
    made: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    each = [row for some in made.values() for row in some]
    if each:
        write_pages(connection, PageOrigin(owner, FILE_KIND, "", root), each)
    for sha256, some in made.items():
        said = {row["id"]: row["position"] for row in some}
        supersede_pages(connection, owner, short_hash(FILE_KIND, sha256), said)
    _note_each(connection, owner, root, {one.path: one.row for one in files})


def _note_each(
    connection: Connection, owner: str, root: str, given: Mapping[str, Mapping[str, Any]]
) -> None:
    """Do for several files what `_note` does for one that was changed."""
    before = _contents(connection, owner, root, list(given))
    changed = [path for path, sha256 in before.items() if sha256 != given[path]["sha256"]]
    for path in changed:
        _note(connection, owner=owner, root=root, path=path, row=dict(given[path]))
    rest = {path: row for path, row in given.items() if path not in changed}
    if not rest:
        return
    named = [{"owner": owner, "root": root, "path": path, **row} for path, row in rest.items()]
    connection.execute(upsert_rows(documents, ("owner", "root", "path")), named)
    numbers = _numbers(connection, owner, {row["sha256"] for row in rest.values()})
    join_namespaces(connection, numbers, [ensure_namespace(connection, owner, FILE_KIND, root)])


class StoredFile(NamedTuple):
    """A file that was read: where it lies, its content, its bytes, and when it was changed."""

    root: str
    path: str
    sha256: str
    size: int
    modified: int
    """In nanoseconds since 1970."""
    code: str
    """Why it could not be read; empty where it was."""
    reason: str


async def list_stored_files(owner: str, roots: Sequence[str]) -> list[StoredFile]:
    """Return the files of an owner below some folders, by their paths; all where none is named."""
    mine = select(*(documents.c[name] for name in StoredFile._fields)).where(
        documents.c.owner == owner
    )
    below = mine.where(documents.c.root.in_(roots)) if roots else mine
    rows = [StoredFile._make(row) for row in await read_rows(below.order_by(documents.c.path))]
    # A file may lie below two folders that were read.
    return list({one.path: one for one in rows}.values())


class DocumentOpening(NamedTuple):
    """The beginning of a document: its first page."""

    id: str
    title: str
    abstract: str
    text: str


async def read_document_openings(owner: str, hashes: Sequence[str]) -> dict[str, DocumentOpening]:
    """Return the first pages of documents by the hashes of what is in them."""
    names = {short_hash(FILE_KIND, one): one for one in hashes}
    found: dict[str, DocumentOpening] = {}
    for at in range(0, len(hashes), DOCUMENTS_PER_STATEMENT):
        wanted = (
            select(pages.c.origin_id, *(pages.c[name] for name in DocumentOpening._fields))
            .where(
                pages.c.owner == owner,
                pages.c.origin_id.in_(list(names)[at : at + DOCUMENTS_PER_STATEMENT]),
                pages.c.indexed > RETIRED,
                pages.c.position == 0,
            )
            .order_by(pages.c.number)
        )
        for row in await read_rows(wanted):
            found.setdefault(names[row.origin_id], DocumentOpening._make(row[1:]))
    whole = await fill_abstracts(owner, list(found.values()))
    return dict(zip(found, whole, strict=True))


async def unlist_document(owner: str, root: str, path: str) -> None:
    """Take a file out of its folder's list; its pages stay until they are forgotten."""
    await write_in_group(partial(_forget, owner=owner, root=root, path=path))


def _note(connection: Connection, *, owner: str, root: str, path: str, row: dict[str, Any]) -> None:
    before = read_document_hash(connection, owner, root, path)
    connection.execute(upsert(documents, {"owner": owner, "root": root, "path": path}, row))
    now = row["sha256"]
    mine = _pages(connection, owner, now)
    join_namespaces(connection, list(mine), [ensure_namespace(connection, owner, FILE_KIND, root)])
    if before and before != now:
        _note_former(connection, owner, root, path, before)
        _leave(connection, owner, root, before)
        if mine and not is_content_listed(connection, owner, before):
            said = dict(mine.values())
            supersede_pages(connection, owner, short_hash(FILE_KIND, before), said)


def list_documents_below(connection: Connection, owner: str, name: str) -> list[dict[str, Any]]:
    """Return how the files of a path, or below it, were read, without their owner."""
    columns = [one for one in documents.c if one.name != "owner"]
    wanted = select(*columns).where(documents.c.owner == owner, path_condition(name))
    return [dict(row._mapping) for row in connection.execute(wanted)]


def path_condition(name: str, table: Table = documents) -> Any:
    """Return what holds of a file, of all files of a folder that was read, and of a part of it."""
    path = os.path.realpath(os.path.expanduser(name))
    folder = path.rstrip("/") + "/"
    inside = func.substr(table.c.path, 1, len(folder)) == folder
    return or_(table.c.path == path, table.c.root == path, inside)


def delete_document_row(connection: Connection, owner: str, root: str, path: str) -> None:
    """Take a file out of its folder's list, in a transaction of the caller's."""
    _forget(connection, owner=owner, root=root, path=path)


def _forget(connection: Connection, *, owner: str, root: str, path: str) -> None:
    before = read_document_hash(connection, owner, root, path)
    connection.execute(delete(documents).where(*_named(owner, root, path)))
    if before:
        _note_former(connection, owner, root, path, before)
        _leave(connection, owner, root, before)


def _note_former(connection: Connection, owner: str, root: str, path: str, sha256: str) -> None:
    """Write down what a file held, so that it can still be forgotten by its name."""
    said = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.origin_id == short_hash(FILE_KIND, sha256)
    )
    if connection.execute(said.limit(1)).first():
        row = {"owner": owner, "path": path, "sha256": sha256, "root": root}
        connection.execute(dialect_insert(former_documents).on_conflict_do_nothing(), row)


def _leave(connection: Connection, owner: str, root: str, sha256: str) -> None:
    """Let the pages of a file be found below a folder no more if no file there holds them."""
    if is_content_listed(connection, owner, sha256, root):
        return
    numbers = list(_pages(connection, owner, sha256))
    found = lock_indexed(connection, numbers)
    unindex_pages(connection, found)
    one = ensure_namespace(connection, owner, FILE_KIND, root)
    left = (members.c.namespace == one, members.c.page.in_(numbers))
    connection.execute(delete(members).where(*left))
    index_pages(connection, found)


def _named(owner: str, root: str, path: str) -> tuple[Any, ...]:
    return (documents.c.owner == owner, documents.c.root == root, documents.c.path == path)


def read_document_hash(connection: Connection, owner: str, root: str, path: str) -> str:
    """Return the content hash a file had when it was read; empty when it never was."""
    return _contents(connection, owner, root, [path]).get(path, "")


def _contents(
    connection: Connection, owner: str, root: str, paths: Sequence[str]
) -> dict[str, str]:
    """Return the content hashes that files had when they were read; without those never read."""
    known = select(documents.c.path, documents.c.sha256).where(
        documents.c.owner == owner, documents.c.root == root, documents.c.path.in_(paths)
    )
    return {row.path: row.sha256 for row in connection.execute(known) if row.sha256}


def is_content_listed(
    connection: Connection, owner: str, sha256: str, root: str | None = None
) -> bool:
    """Say whether any file holds this content, or any below a folder."""
    wanted = select(documents.c.path).where(
        documents.c.owner == owner, documents.c.sha256 == sha256
    )
    below = wanted if root is None else wanted.where(documents.c.root == root)
    return connection.execute(below.limit(1)).first() is not None


def _pages(connection: Connection, owner: str, sha256: str) -> dict[int, tuple[str, int]]:
    """Return the ids and places of the pages of a file that can be found, by their numbers."""
    wanted = select(pages.c.number, pages.c.id, pages.c.position).where(
        pages.c.owner == owner,
        pages.c.origin_id == short_hash(FILE_KIND, sha256),
        pages.c.indexed > RETIRED,
    )
    rows = connection.execute(wanted)
    return {row.number: (row.id, row.position) for row in rows}


def _numbers(connection: Connection, owner: str, hashes: Collection[str]) -> list[int]:
    """Return the numbers of the pages of some files that can be found."""
    origins = [short_hash(FILE_KIND, one) for one in hashes]
    wanted = select(pages.c.number).where(
        pages.c.owner == owner, pages.c.origin_id.in_(origins), pages.c.indexed > RETIRED
    )
    return list(connection.execute(wanted.order_by(pages.c.number)).scalars())
