"""List what is in the page store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select

from memory.pages.describing import Described, described
from memory.pages.rows import GONE
from retrieval.index import chosen
from storage.engine import read, read_rows
from storage.tables import members, namespaces, pages


class Shelf(NamedTuple):
    """A namespace and what is in it; `words` are search words."""

    kind: str
    group: str
    pages: int
    words: int


class Listed(NamedTuple):
    """A page in a list; `number` is where the next part of the list begins."""

    number: int
    id: str
    kind: str
    origin: str
    place: str
    title: str
    abstract: str
    created: float
    expires: float | None


async def stats(owner: str) -> list[Shelf]:
    """Return an owner's namespaces: the kinds first, then their groups, each by name."""
    columns = (namespaces.c.kind, namespaces.c.group, namespaces.c.pages, namespaces.c.words)
    mine = select(*columns).where(namespaces.c.owner == owner, namespaces.c.pages > 0)
    order = (namespaces.c.group != "", namespaces.c.kind, namespaces.c.group)
    return [Shelf._make(row) for row in await read_rows(mine.order_by(*order))]


async def superseded(owner: str) -> int:
    """Return how many of an owner's pages are kept only because they may have been cited."""
    gone = select(func.count()).where(pages.c.owner == owner, pages.c.indexed == GONE)
    return int((await read_rows(gone)).scalar_one())


async def listed(
    owner: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[Listed]:
    """Return an owner's newest pages, newest first; only those numbered below `before`."""
    columns = [pages.c[name] for name in Listed._fields]
    wanted = select(*columns).where(pages.c.owner == owner, pages.c.indexed > GONE)
    if before is not None:
        wanted = wanted.where(pages.c.number < before)
    those = await read(lambda connection: chosen(connection, owner, kinds, groups))
    member = select(members.c.page).where(
        members.c.page == pages.c.number, members.c.namespace.in_(those)
    )
    newest = wanted.where(member.exists()).order_by(pages.c.number.desc()).limit(limit)
    return await described(owner, [Listed._make(row) for row in await read_rows(newest)])


async def shown(owner: str, page: str) -> Mapping[str, Any] | None:
    """Return everything about one page of an owner, or `None`."""
    wanted = select(pages).where(pages.c.owner == owner, pages.c.id == page)
    row = (await read_rows(wanted)).first()
    if row is None:
        return None
    (brief,) = await described(owner, [Described(row.id, row.abstract)])
    return {**row._mapping, "abstract": brief.abstract}
