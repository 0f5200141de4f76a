"""Find the abstracts of pages, without their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.finding import searching
from retrieval.index import Index, found
from retrieval.words import terms
from storage.engine import read_rows
from storage.tables import namespaces, pages

TURNS = "chat"
"""The kind whose pages are so short that each is its own abstract; its sessions speak for them."""


class Brief(NamedTuple):
    """What an outline knows of a page; `said` is an ISO date, `created` seconds since 1970."""

    id: str
    kind: str
    origin: str
    title: str
    abstract: str
    said: str
    created: float


COLUMNS = tuple(pages.c[name] for name in Brief._fields)


async def about(
    owner: str,
    request: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[Brief]:
    """Return the pages that fit a request best, best first; no single turns of a chat.

    Args:
        owner: Whose pages.
        request: What they are about.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only.
    """
    wanted = terms(request)
    if not wanted:
        return []

    def search(index: Index) -> list[Brief]:
        numbers = index.matching(wanted, limit)
        rows = select(pages.c.number, *COLUMNS).where(pages.c.number.in_(numbers))
        known = {row.number: Brief._make(row[1:]) for row in index.connection.execute(rows)}
        return [known[number] for number in numbers if number in known]

    return await searching(owner, search, await outlined(owner, kinds), groups)


async def newest(owner: str, limit: int, kinds: Sequence[str] | None = None) -> list[Brief]:
    """Return the pages that were kept last, the last one first; no single turns of a chat."""
    those = await outlined(owner, kinds)
    wanted = select(*COLUMNS).where(pages.c.owner == owner, pages.c.kind.in_(those), found(pages))
    rows = await read_rows(wanted.order_by(pages.c.number.desc()).limit(limit))
    return [Brief._make(row) for row in rows]


async def outlined(owner: str, kinds: Sequence[str] | None = None) -> list[str]:
    """Return the kinds of pages an owner has, of those that are asked for, that have abstracts."""
    wanted = select(namespaces.c.kind).where(
        namespaces.c.owner == owner, namespaces.c.group == "", namespaces.c.pages > 0
    )
    mine = (await read_rows(wanted.order_by(namespaces.c.number))).scalars()
    asked = {"session" if kind == TURNS else kind for kind in kinds or ()}
    return [kind for kind in mine if kind != TURNS and (kinds is None or kind in asked)]
