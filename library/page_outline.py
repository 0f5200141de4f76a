"""Show what a memory holds in two levels, groups and pages, short at any size of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from library.abstracts import fill_abstracts
from library.page_index import PageIndex, findable_condition, select_namespaces
from library.page_retrieval import TURN_PAGES, run_search
from library.page_rows import short_hash
from library.tables import members, namespaces, pages
from storage.engine import read_rows, run_read
from text.keyword_ranking import rank_texts
from text.normalization import to_one_line
from text.pluralization import pluralize
from text.tokens import count_tokens, load_vocabulary
from text.words import query_terms


class PageBrief(NamedTuple):
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
_BRIEF_COLUMNS = (
    *(pages.c[name] for name in PageBrief._fields[:-1]),
    func.coalesce(_GROUP, "").label("group"),
)


async def find_briefs(
    owner: str,
    request: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    *,
    bare: bool = False,
) -> list[PageBrief]:
    """Return the pages that fit a request best, best first; no single turns of a chat.

    Args:
        owner: Whose pages.
        request: What they are about.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only.
        bare: Whether abstracts that are still to be made may be missing.
    """
    wanted = query_terms(request)
    if not wanted:
        return []

    def search(index: PageIndex) -> list[PageBrief]:
        numbers = index.matching(wanted, limit)
        rows = select(pages.c.number, *_BRIEF_COLUMNS).where(pages.c.number.in_(numbers))
        known = {row.number: PageBrief._make(row[1:]) for row in index.connection.execute(rows)}
        return [known[number] for number in numbers if number in known]

    briefs = await run_search(owner, search, await list_outlined_kinds(owner, kinds), groups)
    return briefs if bare else await fill_abstracts(owner, briefs)


async def list_newest_briefs(
    owner: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    *,
    bare: bool = False,
) -> list[PageBrief]:
    """Return the pages that were kept last, the last one first; no single turns of a chat.

    Where they are `bare`, abstracts that are still to be made may be missing.
    """
    those = await list_outlined_kinds(owner, kinds)
    work = partial(_newest, owner=owner, limit=limit, kinds=those, groups=groups)
    briefs = await run_read(work)
    return briefs if bare else await fill_abstracts(owner, briefs)


def _newest(
    connection: Connection,
    owner: str,
    limit: int,
    kinds: Sequence[str],
    groups: Sequence[str] | None,
) -> list[PageBrief]:
    rows: dict[int, Any] = {}
    # One query for each: only so does the database read no more of them than it has to.
    for one in select_namespaces(connection, owner, kinds, groups):
        member: Select[Any] = select(pages.c.number, *_BRIEF_COLUMNS).join(
            members, members.c.page == pages.c.number
        )
        mine = member.where(members.c.namespace == one, findable_condition(pages))
        some = connection.execute(mine.order_by(members.c.page.desc()).limit(limit))
        rows |= {row.number: row[1:] for row in some}
    return [PageBrief._make(rows[number]) for number in sorted(rows, reverse=True)[:limit]]


async def list_outlined_kinds(owner: str, kinds: Sequence[str] | None = None) -> list[str]:
    """Return the kinds of pages an owner has, of those that are asked for, that have abstracts."""
    wanted = select(namespaces.c.kind).where(
        namespaces.c.owner == owner, namespaces.c.group == "", namespaces.c.pages > 0
    )
    mine = (await read_rows(wanted.order_by(namespaces.c.number))).scalars()
    asked = {"session" if kind == TURN_PAGES else kind for kind in kinds or ()}
    return [kind for kind in mine if kind != TURN_PAGES and (kinds is None or kind in asked)]


NAMED_KINDS = {"web", "session"}
"""The kinds whose pages are kept in groups with names of their own: sites and conversations."""

OPENED_PAGES = 1_000
"""How many pages of a document are looked at when it is opened."""

RANKED = 4
"""Abstracts are made and ranked for so many times the pages that are wanted."""


class PageGroup(NamedTuple):
    """A kind of pages, and the origin or the named group that they share."""

    kind: str
    name: str
    named: bool


class GroupSize(NamedTuple):
    """How many pages a group has, and when the first and the last of them were said or kept."""

    pages: int
    first: str
    last: str


def _group_of(page: PageBrief) -> PageGroup:
    """Return the group of a page."""
    named = page.kind in NAMED_KINDS and bool(page.group)
    return PageGroup(page.kind, page.group if named else page.origin, named)


def _title_of(page: PageBrief) -> str:
    """Return what the group of a page is called."""
    group = _group_of(page)
    return group.name if group.named else page.title.split(" — ")[0]


async def count_groups(owner: str, groups: Sequence[PageGroup]) -> dict[PageGroup, GroupSize]:
    """Return the sizes of some groups of an owner."""
    return await run_read(partial(_sizes, owner=owner, groups=groups))


async def find_best_in_group(
    owner: str, group: PageGroup, request: str, limit: int
) -> list[PageBrief]:
    """Return the pages of a group that fit a request best, or its first ones if none does."""
    if group.named:
        within = ([group.kind], [group.name])
        return await find_briefs(owner, request, limit, *within) or await list_newest_briefs(
            owner, limit, *within
        )
    mine = select(*_BRIEF_COLUMNS, pages.c.words).where(
        *_of_origin(owner, group), findable_condition(pages)
    )
    rows = (await read_rows(mine.order_by(pages.c.position).limit(OPENED_PAGES))).all()
    likely = await asyncio.to_thread(_likely, request, rows, limit * RANKED)
    briefs = await fill_abstracts(owner, likely)
    texts = [f"{one.title}\n{one.abstract}" for one in briefs]
    ranked = await asyncio.to_thread(rank_texts, request, texts)
    return [briefs[at] for at, _ in ranked[:limit]] or briefs[:limit]


def _likely(request: str, rows: Sequence[Any], limit: int) -> list[PageBrief]:
    """Return the pages with the most words of a request, in their order."""
    wanted = set(query_terms(request))
    shared = [len(wanted.intersection(row.words.split())) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: -shared[at])[:limit]
    return [PageBrief._make(rows[at][:-1]) for at in sorted(best)]


def _sizes(
    connection: Connection, owner: str, groups: Sequence[PageGroup]
) -> dict[PageGroup, GroupSize]:
    counted = {one: connection.execute(_counted(owner, one)).one() for one in groups}
    ends = {number for row in counted.values() for number in row[1:] if number}
    dates = select(pages.c.number, pages.c.said, pages.c.created).where(pages.c.number.in_(ends))
    days = {row.number: _day_of(row.said, row.created) for row in connection.execute(dates)}
    return {
        one: GroupSize(row[0] or 0, days.get(row[1], ""), days.get(row[2], ""))
        for one, row in counted.items()
    }


def _counted(owner: str, group: PageGroup) -> Select[*tuple[Any, ...]]:
    """Count the pages of a group, and find its first and its last."""
    if not group.named:
        ends = (func.min(pages.c.number), func.max(pages.c.number))
        return select(func.count(), *ends).where(*_of_origin(owner, group), pages.c.indexed > 0)
    one = select(namespaces.c.number, namespaces.c.pages).where(
        namespaces.c.name == short_hash(owner, group.kind, group.name)
    )
    space = one.subquery()
    member = select(members.c.page).where(members.c.namespace == space.c.number)
    first, last = (member.order_by(way).limit(1) for way in (members.c.page, members.c.page.desc()))
    return select(space.c.pages, first.scalar_subquery(), last.scalar_subquery())


def _of_origin(owner: str, group: PageGroup) -> tuple[Any, ...]:
    return (pages.c.owner == owner, pages.c.origin_id == short_hash(group.kind, group.name))


def _day_of(said: str, created: float) -> str:
    """Return the day on which a page was said, or else kept."""
    return said[:10] or datetime.fromtimestamp(created, UTC).date().isoformat()


MOST = 2_000
"""The most tokens of an outline, as it stands in a prompt."""

FOR_PAGES = 0.75
"""The share of them that is for what fits the request; the rest is for the newest groups."""

LOOKED_AT = 40
"""How many fitting pages, and how many of the newest, are looked at."""

SHOWN = 24
"""How many pages are shown at most; the abstracts of more are not made for it."""

EACH = 5
"""How many pages of one group are shown, and how many are read when it is opened."""

SHORT = 220
"""How many characters of an abstract are shown."""

TITLE = 100
"""How many characters of a title are shown."""

KIND_NAMES = {"file": "document", "web": "site", "session": "chat", "report": "report"}


class PageOutline(NamedTuple):
    """What is shown of a memory, and what the ids in it stand for.

    `P3` is a page, by its id in the store; `G2` is a group of pages.
    """

    text: str = ""
    pages: Mapping[str, str] = {}
    groups: Mapping[str, PageGroup] = {}


class _OutlineEntry(NamedTuple):
    """A group in an outline, with the pages of it that are shown."""

    group: PageGroup
    title: str
    pages: list[PageBrief]


async def outline_pages(
    owner: str,
    request: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    most: int = MOST,
) -> PageOutline:
    """Return the groups and pages that fit a request, best first, then the newest groups.

    Args:
        owner: Whose memory.
        request: What is to be found out.
        kinds: Pages of these kinds only.
        groups: Pages of these groups only, such as a conversation.
        most: How many tokens it may have.
    """
    await load_vocabulary()
    found = _entries(await find_briefs(owner, request, LOOKED_AT, kinds, groups, bare=True))
    fitting = await _described(owner, found)
    shown = {entry.group for entry in fitting}
    recent = _entries(await list_newest_briefs(owner, LOOKED_AT, kinds, groups, bare=True))
    others = [entry._replace(pages=[]) for entry in recent if entry.group not in shown]
    entries = [*fitting, *others]
    counted = await count_groups(owner, [entry.group for entry in entries])
    return await asyncio.to_thread(_written, entries, counted, most)


async def resolve_outline_ids(
    owner: str, shown: PageOutline, named: Iterable[str], request: str
) -> list[str]:
    """Return the ids of the pages that some ids of an outline stand for; others are dropped.

    A group stands for those of its pages that fit the request best.
    """
    ids: list[str] = []
    for name in dict.fromkeys(named):
        if name in shown.pages:
            ids.append(shown.pages[name])
        elif name in shown.groups:
            ids += [
                one.id for one in await find_best_in_group(owner, shown.groups[name], request, EACH)
            ]
    return list(dict.fromkeys(ids))


def _entries(found: Iterable[PageBrief]) -> list[_OutlineEntry]:
    entries: dict[PageGroup, _OutlineEntry] = {}
    for page in found:
        group = _group_of(page)
        entry = entries.setdefault(group, _OutlineEntry(group, _title_of(page), []))
        if len(entry.pages) < EACH:
            entry.pages.append(page)
    return list(entries.values())


async def _described(owner: str, entries: Sequence[_OutlineEntry]) -> list[_OutlineEntry]:
    """Return the groups that fit with as many of their pages as are shown, and the abstracts."""
    first = [page for entry in entries for page in entry.pages][:SHOWN]
    pages = {page.id: page for page in await fill_abstracts(owner, first)}
    return [
        entry._replace(pages=[pages[page.id] for page in entry.pages if page.id in pages])
        for entry in entries
    ]


def _written(
    entries: Sequence[_OutlineEntry], counted: Mapping[PageGroup, GroupSize], most: int
) -> PageOutline:
    """Write as many lines as fit; pages before the groups that are only recent."""
    lines: list[str] = []
    pages: dict[str, str] = {}
    groups: dict[str, PageGroup] = {}
    left = most
    for entry in entries:
        name = f"G{len(groups) + 1}"
        line = _of_group(name, entry, counted[entry.group])
        cost = _tokens(line)
        if cost > left:
            break
        lines, groups[name], left = [*lines, line], entry.group, left - cost
        for page in entry.pages:
            line = _of_page(f"P{len(pages) + 1}", page)
            cost = _tokens(line)
            if left - cost < most * (1 - FOR_PAGES):
                break
            pages[f"P{len(pages) + 1}"] = page.id
            lines, left = [*lines, line], left - cost
    return PageOutline("\n".join(lines), pages, groups)


def _tokens(line: str) -> int:
    return count_tokens(f"{escape(line, quote=False)}\n")


def _of_group(name: str, entry: _OutlineEntry, size: GroupSize) -> str:
    days = " – ".join(dict.fromkeys(filter(None, (size.first, size.last))))
    kind = KIND_NAMES.get(entry.group.kind, entry.group.kind)
    pages = pluralize(size.pages, "page")
    return f"{name} {kind} “{to_one_line(entry.title, TITLE)}”, {pages}, {days}"


def _of_page(name: str, page: PageBrief) -> str:
    title = to_one_line(page.title, TITLE)
    abstract = to_one_line(page.abstract, SHORT)
    return f"- {name} {title} ({_day_of(page.said, page.created)}): {abstract}"
