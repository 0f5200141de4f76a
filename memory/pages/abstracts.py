"""Find the abstracts of pages, without their texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from memory.pages.describing import described
from memory.pages.finding import searching
from retrieval.index import Index, chosen, found
from retrieval.words import terms
from storage.engine import read, read_rows
from storage.tables import members, namespaces, pages

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
    group: str
    """The group it is in beside its kind; the first by name of several."""


_GROUP = (
    select(func.min(namespaces.c.group))
    .join(members, members.c.namespace == namespaces.c.number)
    .where(members.c.page == pages.c.number, namespaces.c.group != "")
    .scalar_subquery()
)
COLUMNS = (
    *(pages.c[name] for name in Brief._fields[:-1]),
    func.coalesce(_GROUP, "").label("group"),
)


async def about(
    owner: str,
    request: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    *,
    bare: bool = False,
) -> list[Brief]:
    """Return the pages that fit a request best, best first; no single turns of a chat.

    Args:
        owner: Whose pages.
        request: What they are about.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only.
        bare: Whether abstracts that are still to be made may be missing.
    """
    wanted = terms(request)
    if not wanted:
        return []

    def search(index: Index) -> list[Brief]:
        numbers = index.matching(wanted, limit)
        rows = select(pages.c.number, *COLUMNS).where(pages.c.number.in_(numbers))
        known = {row.number: Brief._make(row[1:]) for row in index.connection.execute(rows)}
        return [known[number] for number in numbers if number in known]

    briefs = await searching(owner, search, await outlined(owner, kinds), groups)
    return briefs if bare else await described(owner, briefs)


async def newest(
    owner: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    *,
    bare: bool = False,
) -> list[Brief]:
    """Return the pages that were kept last, the last one first; no single turns of a chat.

    Where they are `bare`, abstracts that are still to be made may be missing.
    """
    those = await outlined(owner, kinds)
    work = partial(_newest, owner=owner, limit=limit, kinds=those, groups=groups)
    briefs = await read(work)
    return briefs if bare else await described(owner, briefs)


def _newest(
    connection: Connection,
    owner: str,
    limit: int,
    kinds: Sequence[str],
    groups: Sequence[str] | None,
) -> list[Brief]:
    rows: dict[int, Any] = {}
    # One query for each: only so does the database read no more of them than it has to.
    for one in chosen(connection, owner, kinds, groups):
        member: Select[Any] = select(pages.c.number, *COLUMNS).join(
            members, members.c.page == pages.c.number
        )
        mine = member.where(members.c.namespace == one, found(pages))
        some = connection.execute(mine.order_by(members.c.page.desc()).limit(limit))
        rows |= {row.number: row[1:] for row in some}
    return [Brief._make(rows[number]) for number in sorted(rows, reverse=True)[:limit]]


async def outlined(owner: str, kinds: Sequence[str] | None = None) -> list[str]:
    """Return the kinds of pages an owner has, of those that are asked for, that have abstracts."""
    wanted = select(namespaces.c.kind).where(
        namespaces.c.owner == owner, namespaces.c.group == "", namespaces.c.pages > 0
    )
    mine = (await read_rows(wanted.order_by(namespaces.c.number))).scalars()
    asked = {"session" if kind == TURNS else kind for kind in kinds or ()}
    return [kind for kind in mine if kind != TURNS and (kinds is None or kind in asked)]
