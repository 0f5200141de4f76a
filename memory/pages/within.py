"""Say by one name which pages are meant: those of a kind, of a conversation, or of a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from sqlalchemy import select

from config.errors import Problem
from memory.pages.documents import below
from memory.pages.listing import stats
from memory.pages.rows import GONE, digest
from storage.engine import read_rows
from storage.tables import documents, former_documents, pages

KINDS = ("file", "web", "report", "chat", "session")
"""The kinds of pages that are kept, whether there are any yet or not."""


ALL = "all"
"""The name for every kind, what Dossier wrote itself and what was said included."""


class Scope(NamedTuple):
    """A part of a memory: pages of these kinds, in these groups; every one where it is `None`."""

    kinds: Sequence[str] | None = None
    groups: Sequence[str] | None = None


def scope(names: Sequence[str]) -> Scope:
    """Return the part of a memory that some names of kinds and groups stand for."""
    kinds = [name for name in names if name in KINDS]
    groups = [name for name in names if name not in KINDS]
    return Scope(kinds or None, groups or None)


async def within(owner: str, name: str) -> Scope:
    """Return what a namespace's name stands for; everything when it is empty or `all`.

    Args:
        owner: Whose pages.
        name: A kind of pages, or a group of them: a conversation, or a folder that was read.

    Raises:
        Problem: `namespace_not_found`, with the names that come close.
    """
    if name in ("", ALL):
        return Scope()
    shelves = await stats(owner)
    kinds = {*KINDS, *(shelf.kind for shelf in shelves)}
    groups = {shelf.group for shelf in shelves if shelf.group}
    if name in kinds:
        return Scope(kinds=[name])
    for group in (name, real(name)):
        if group in groups:
            return Scope(groups=[group])
    close = get_close_matches(name, kinds | groups, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    what = f"there are no pages in {name!r}"
    raise Problem("namespace_not_found", what, hint=f"{hint}see `dossier pages stats`")


class Origin(NamedTuple):
    """The pages that an origin has or had."""

    ids: list[str]
    """Those that nothing else has."""
    kept: dict[str, str]
    """Those that a file elsewhere holds too, each with the path of that file."""


async def from_origin(owner: str, name: str) -> Origin:
    """Return the pages that an origin has or had.

    Args:
        owner: Whose pages.
        name: The address of a web page, a file or folder that was read, a run, a conversation.
    """
    mine = documents.c.owner == owner
    rows = (await read_rows(select(documents.c.sha256, documents.c.path).where(mine))).all()
    inside = select(documents.c.path).where(mine, below(name))
    here = set((await read_rows(inside)).scalars())
    elsewhere = {row.sha256: row.path for row in rows if row.path not in here}
    hashes = {row.sha256 for row in rows if row.path in here}
    before = select(former_documents.c.sha256).where(
        former_documents.c.owner == owner, below(name, former_documents)
    )
    hashes |= set((await read_rows(before)).scalars())
    kinds = {*KINDS, *(shelf.kind for shelf in await stats(owner))}
    gone = [digest(kind, name) for kind in kinds]
    gone += [digest("file", one) for one in hashes if one not in elsewhere]
    also = {digest("file", one): elsewhere[one] for one in hashes if one in elsewhere}
    found = await _of_origins(owner, [*gone, *also])
    ids = [id for id, origin in found.items() if origin not in also]
    return Origin(ids, {id: also[one] for id, one in found.items() if one in also})


async def copies(owner: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the other pages that say the very same as some, each with where it is from."""
    mine = (pages.c.owner == owner, pages.c.kind.in_(("file", "web", "chat")))
    columns = (pages.c.id, pages.c.sha256, pages.c.origin, pages.c.indexed)
    rows = (await read_rows(select(*columns).where(*mine))).all()
    named = set(ids)
    said = {row.sha256 for row in rows if row.id in named}
    also = [row for row in rows if row.sha256 in said and row.id not in named]
    known = await paths(owner, [row.origin for row in also])
    return {row.id: known.get(row.origin, row.origin) for row in also if row.indexed > GONE}


async def _of_origins(owner: str, origins: Sequence[str]) -> dict[str, str]:
    """Return the ids of the pages of some origins, each with the id of its origin."""
    found: dict[str, str] = {}
    for first in range(0, len(origins), 500):
        some = pages.c.origin_id.in_(origins[first : first + 500])
        wanted = select(pages.c.id, pages.c.origin_id).where(pages.c.owner == owner, some)
        rows = await read_rows(wanted.order_by(pages.c.number))
        found |= {row.id: row.origin_id for row in rows}
    return found


async def paths(owner: str, hashes: Sequence[str]) -> dict[str, str]:
    """Return the paths of files by the hashes of what is in them; the first where several agree."""
    mine = (documents.c.owner == owner, documents.c.sha256.in_(set(hashes)))
    rows = await read_rows(select(documents.c.sha256, documents.c.path).where(*mine))
    return {row.sha256: row.path for row in sorted(rows, key=lambda row: row.path, reverse=True)}


def real(name: str) -> str:
    """Return a path as the page store names it."""
    return os.path.realpath(os.path.expanduser(name))
