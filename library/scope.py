"""List what is in the page store, and say by one name which pages are meant."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from sqlalchemy import func, select

from config.errors import ErrorCode, Problem
from library.abstracts import PageAbstract, fill_abstracts
from library.documents import path_condition
from library.knowledge_records import KNOWLEDGE_KIND, RESULT_KIND
from library.page_index import select_namespaces
from library.page_rows import RETIRED, short_hash
from library.tables import documents, former_documents, members, namespaces, pages
from storage.batches import split_batches
from storage.engine import read_rows, run_read
from text.pluralization import pluralize


class Scope(NamedTuple):
    """A part of a memory: pages of these kinds, in these groups; every one where it is `None`."""

    kinds: Sequence[str] | None = None
    groups: Sequence[str] | None = None


EVERYTHING = Scope()


class NamespaceStats(NamedTuple):
    """A namespace and what is in it; `words` are search words."""

    kind: str
    group: str
    pages: int
    words: int


class ListedPage(NamedTuple):
    """A page in a list."""

    id: str
    kind: str
    origin: str
    place: str
    title: str
    abstract: str
    created: float
    expires: float | None


async def list_namespaces(owner: str) -> list[NamespaceStats]:
    """Return an owner's namespaces: the kinds first, then their groups, each by name."""
    columns = (namespaces.c[name] for name in NamespaceStats._fields)
    mine = select(*columns).where(namespaces.c.owner == owner, namespaces.c.pages > 0)
    order = (namespaces.c.group != "", namespaces.c.kind, namespaces.c.group)
    return [NamespaceStats._make(row) for row in await read_rows(mine.order_by(*order))]


async def count_retired_pages(owner: str) -> int:
    """Return how many of an owner's pages are kept only because they may have been cited."""
    gone = select(func.count()).where(pages.c.owner == owner, pages.c.indexed == RETIRED)
    return int((await read_rows(gone)).scalar_one())


async def list_stored_pages(
    owner: str, within: Scope = EVERYTHING, limit: int = 50
) -> list[ListedPage]:
    """Return the newest pages in a part of an owner's memory, newest first."""
    columns = [pages.c[name] for name in ListedPage._fields]
    wanted = select(*columns).where(pages.c.owner == owner, pages.c.indexed > RETIRED)
    those = await run_read(lambda connection: select_namespaces(connection, owner, *within))
    its = (members.c.page == pages.c.number, members.c.namespace.in_(those))
    member = select(members.c.page).where(*its)
    newest = wanted.where(member.exists()).order_by(pages.c.number.desc()).limit(limit)
    return await fill_abstracts(owner, [ListedPage._make(row) for row in await read_rows(newest)])


async def list_base_pages(owner: str, base: str = "", limit: int = 50) -> list[ListedPage]:
    """Return what runs were shown of knowledge bases, newest first; no search finds these pages.

    Args:
        owner: Whose pages.
        base: The name of a base, which may be removed; all of them without one.
        limit: How many at most.
    """
    columns = [pages.c[name] for name in ListedPage._fields]
    its = [pages.c.owner == owner, pages.c.kind.in_((KNOWLEDGE_KIND, RESULT_KIND))]
    its += [pages.c.site == base] if base else []
    newest = select(*columns).where(*its).order_by(pages.c.number.desc()).limit(limit)
    return await fill_abstracts(owner, [ListedPage._make(row) for row in await read_rows(newest)])


async def read_page_record(owner: str, page: str) -> Mapping[str, Any] | None:
    """Return everything about one page of an owner, or `None`."""
    wanted = select(pages).where(pages.c.owner == owner, pages.c.id == page)
    row = (await read_rows(wanted)).first()
    if row is None:
        return None
    (brief,) = await fill_abstracts(owner, [PageAbstract(row.id, row.abstract)])
    return {**row._mapping, "abstract": brief.abstract}


def missing_pages_problem(ids: list[str]) -> Problem:
    """Return the problem of pages that are not there."""
    more = f" (nor {pluralize(len(ids) - 1, 'other')})" if len(ids) > 1 else ""
    hint = "see `dossier pages list` or `dossier search`"
    return Problem(ErrorCode.PAGE_NOT_FOUND, f"there is no page {ids[0]!r}{more}", hint=hint)


PAGE_KINDS = ("file", "web", "report", "chat", "session", "tool")
"""The kinds of pages that are kept, whether there are any yet or not."""

ALL_KINDS = "all"
"""The name for every kind, what Dossier wrote itself and what was said included."""


def parse_scope(names: Sequence[str]) -> Scope:
    """Return the part of a memory that some names of kinds and groups stand for."""
    kinds = [name for name in names if name in PAGE_KINDS]
    groups = [name for name in names if name not in PAGE_KINDS]
    return Scope(kinds or None, groups or None)


async def resolve_scope(owner: str, name: str) -> Scope:
    """Return what a namespace's name stands for; everything when it is empty or `all`.

    Args:
        owner: Whose pages.
        name: A kind of pages, or a group of them: a conversation, or a folder that was read.

    Raises:
        Problem: `namespace_not_found`, with the names that come close.
    """
    if name in ("", ALL_KINDS):
        return EVERYTHING
    shelves = await list_namespaces(owner)
    kinds = {*PAGE_KINDS, *(shelf.kind for shelf in shelves)}
    groups = {shelf.group for shelf in shelves if shelf.group}
    if name in kinds:
        return Scope(kinds=[name])
    for group in (name, _real_path(name)):
        if group in groups:
            return Scope(groups=[group])
    close = get_close_matches(name, kinds | groups, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    what = f"there are no pages in {name!r}"
    raise Problem(ErrorCode.NAMESPACE_NOT_FOUND, what, hint=f"{hint}see `dossier pages stats`")


class OriginPages(NamedTuple):
    """The pages that an origin has or had."""

    ids: list[str]
    """Those that nothing else has."""
    shared: dict[str, str]
    """Those that a file elsewhere holds too, each with the path of that file."""


async def find_origin_pages(owner: str, name: str) -> OriginPages:
    """Return the pages that an origin has or had.

    Args:
        owner: Whose pages.
        name: The address of a web page, a file or folder that was read, a run, a conversation.
    """
    inside = await asyncio.to_thread(path_condition, name)
    mine = select(documents.c.sha256, documents.c.path, inside.label("inside"))
    rows = (await read_rows(mine.where(documents.c.owner == owner))).all()
    here = {row.path for row in rows if row.inside}
    elsewhere = {row.sha256: row.path for row in rows if row.path not in here}
    hashes = {row.sha256 for row in rows if row.path in here}
    formerly = await asyncio.to_thread(path_condition, name, former_documents)
    former = (former_documents.c.owner == owner, formerly)
    before = await read_rows(select(former_documents.c.sha256).where(*former))
    hashes |= set(before.scalars())
    kinds = {*PAGE_KINDS, *(shelf.kind for shelf in await list_namespaces(owner))}
    gone = [short_hash(kind, name) for kind in kinds]
    gone += [short_hash("file", one) for one in hashes if one not in elsewhere]
    also = {short_hash("file", one): elsewhere[one] for one in hashes if one in elsewhere}
    found = await _of_origins(owner, [*gone, *also])
    ids = [id for id, origin in found.items() if origin not in also]
    return OriginPages(ids, {id: also[one] for id, one in found.items() if one in also})


async def find_copies(owner: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the other pages that say the very same as some, each with where it is from."""
    mine = (pages.c.owner == owner, pages.c.kind.in_(("file", "web", "chat")))
    columns = (pages.c.id, pages.c.sha256, pages.c.origin, pages.c.indexed)
    rows = (await read_rows(select(*columns).where(*mine))).all()
    named = set(ids)
    said = {row.sha256 for row in rows if row.id in named}
    also = [row for row in rows if row.sha256 in said and row.id not in named]
    known = await read_file_paths(owner, [row.origin for row in also])
    return {row.id: known.get(row.origin, row.origin) for row in also if row.indexed > RETIRED}


async def _of_origins(owner: str, origins: Sequence[str]) -> dict[str, str]:
    """Return the ids of the pages of some origins, each with the id of its origin."""
    found: dict[str, str] = {}
    for batch in split_batches(origins):
        some = pages.c.origin_id.in_(batch)
        wanted = select(pages.c.id, pages.c.origin_id).where(pages.c.owner == owner, some)
        rows = await read_rows(wanted.order_by(pages.c.number))
        found |= {row.id: row.origin_id for row in rows}
    return found


async def read_file_paths(owner: str, hashes: Sequence[str]) -> dict[str, str]:
    """Return the paths of files by the hashes of what is in them; the first where several agree."""
    mine = (documents.c.owner == owner, documents.c.sha256.in_(set(hashes)))
    rows = await read_rows(select(documents.c.sha256, documents.c.path).where(*mine))
    return {row.sha256: row.path for row in sorted(rows, key=lambda row: row.path, reverse=True)}


def _real_path(name: str) -> str:
    """Return a path as the page store names it."""
    return os.path.realpath(os.path.expanduser(name))
