"""Pages that belong together: a document, a conversation, a web site, what one run wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from memory.pages.abstracts import COLUMNS, Brief, about, newest
from memory.pages.describing import described
from memory.pages.rows import digest
from retrieval.index import found
from retrieval.keyword import rank
from retrieval.words import terms
from storage.engine import read, read_rows
from storage.tables import members, namespaces, pages

NAMED = {"web", "session"}
"""The kinds whose pages are kept in groups with names of their own: sites and conversations."""

LOOKED_AT = 1_000
"""How many pages of a document are looked at when it is opened."""


RANKED = 4
"""Abstracts are made and ranked for so many times the pages that are wanted."""


class Group(NamedTuple):
    """A kind of pages, and the origin or the named group that they share."""

    kind: str
    name: str
    named: bool


class Size(NamedTuple):
    """How many pages a group has, and when the first and the last of them were said or kept."""

    pages: int
    first: str
    last: str


def group_of(page: Brief) -> Group:
    """Return the group of a page."""
    named = page.kind in NAMED and bool(page.group)
    return Group(page.kind, page.group if named else page.origin, named)


def title_of(page: Brief) -> str:
    """Return what the group of a page is called."""
    group = group_of(page)
    return group.name if group.named else page.title.split(" — ")[0]


async def sizes(owner: str, groups: Sequence[Group]) -> dict[Group, Size]:
    """Return the sizes of some groups of an owner."""
    return await read(partial(_sizes, owner=owner, groups=groups))


async def best_of(owner: str, group: Group, request: str, limit: int) -> list[Brief]:
    """Return the pages of a group that fit a request best, or its first ones if none does."""
    if group.named:
        within = ([group.kind], [group.name])
        return await about(owner, request, limit, *within) or await newest(owner, limit, *within)
    mine = select(*COLUMNS, pages.c.words).where(*_of_origin(owner, group), found(pages))
    rows = (await read_rows(mine.order_by(pages.c.position).limit(LOOKED_AT))).all()
    likely = await asyncio.to_thread(_likely, request, rows, limit * RANKED)
    briefs = await described(owner, likely)
    texts = [f"{one.title}\n{one.abstract}" for one in briefs]
    ranked = await asyncio.to_thread(rank, request, texts)
    return [briefs[at] for at, _ in ranked[:limit]] or briefs[:limit]


def _likely(request: str, rows: Sequence[Any], limit: int) -> list[Brief]:
    """Return the pages with the most words of a request, in their order."""
    wanted = set(terms(request))
    shared = [len(wanted.intersection(row.words.split())) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: -shared[at])[:limit]
    return [Brief._make(rows[at][:-1]) for at in sorted(best)]


def _sizes(connection: Connection, owner: str, groups: Sequence[Group]) -> dict[Group, Size]:
    counted = {one: connection.execute(_counted(owner, one)).one() for one in groups}
    ends = {number for row in counted.values() for number in row[1:] if number}
    dates = select(pages.c.number, pages.c.said, pages.c.created).where(pages.c.number.in_(ends))
    days = {row.number: dated(row.said, row.created) for row in connection.execute(dates)}
    return {
        one: Size(row[0] or 0, days.get(row[1], ""), days.get(row[2], ""))
        for one, row in counted.items()
    }


def _counted(owner: str, group: Group) -> Select[*tuple[Any, ...]]:
    """Count the pages of a group, and find its first and its last."""
    if not group.named:
        ends = (func.min(pages.c.number), func.max(pages.c.number))
        return select(func.count(), *ends).where(*_of_origin(owner, group), pages.c.indexed > 0)
    one = select(namespaces.c.number, namespaces.c.pages).where(
        namespaces.c.name == digest(owner, group.kind, group.name)
    )
    space = one.subquery()
    member = select(members.c.page).where(members.c.namespace == space.c.number)
    first, last = (member.order_by(way).limit(1) for way in (members.c.page, members.c.page.desc()))
    return select(space.c.pages, first.scalar_subquery(), last.scalar_subquery())


def _of_origin(owner: str, group: Group) -> tuple[Any, ...]:
    return (pages.c.owner == owner, pages.c.origin_id == digest(group.kind, group.name))


def dated(said: str, created: float) -> str:
    """Return the day on which a page was said, or else kept."""
    return said[:10] or datetime.fromtimestamp(created, UTC).date().isoformat()
