"""Outline a memory as groups and pages, within a token budget at any size of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from library.abstracts import fill_abstracts
from library.page_index import PageIndex, findable_condition, select_namespaces
from library.page_retrieval import TURN_PAGES, run_search
from library.page_rows import short_hash
from library.scope import EVERYTHING, Scope
from library.tables import members, namespaces, pages
from prompts.prompt_injection import cut_injections
from storage.engine import read_rows, run_read
from text.keyword_ranking import rank_texts
from text.normalization import to_one_line
from text.pluralization import pluralize
from text.tokens import estimate_tokens
from text.words import query_terms


class PageBrief(NamedTuple):
    """A page as an outline shows it; `said` is an ISO date, `created` seconds since 1970."""

    id: str
    kind: str
    origin: str
    title: str
    abstract: str
    said: str
    created: float
    group: str
    """The named group of the page, the first by name of several; empty without one."""


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
_BRIEFS = select(pages.c.number, *_BRIEF_COLUMNS)
_MEMBERS = _BRIEFS.join(members, members.c.page == pages.c.number)
_NEWEST = _MEMBERS.where(findable_condition(pages)).order_by(members.c.page.desc())


async def find_briefs(
    owner: str, request: str, limit: int, within: Scope = EVERYTHING, *, bare: bool = False
) -> list[PageBrief]:
    """Return the pages that match a request best, best first, without single turns of a chat.

    Args:
        owner: The owner of the pages.
        request: What the pages are about.
        limit: The most pages returned.
        within: The part of the memory to search.
        bare: Leave abstracts empty that are not written yet.
    """
    terms = query_terms(request)
    if not terms:
        return []

    def search(index: PageIndex) -> list[PageBrief]:
        numbers = index.matching(terms, limit)
        rows = index.connection.execute(_BRIEFS.where(pages.c.number.in_(numbers)))
        found = {row.number: PageBrief._make(row[1:]) for row in rows}
        return [found[number] for number in numbers if number in found]

    kinds = await list_outlined_kinds(owner, within.kinds)
    briefs = await run_search(owner, search, kinds, within.groups)
    return briefs if bare else await fill_abstracts(owner, briefs)


async def list_newest_briefs(
    owner: str, limit: int, within: Scope = EVERYTHING, *, bare: bool = False
) -> list[PageBrief]:
    """Return the pages that were stored last, newest first, without single turns of a chat.

    With `bare`, abstracts that are not written yet are empty.
    """
    kinds = await list_outlined_kinds(owner, within.kinds)

    def read(connection: Connection) -> list[PageBrief]:
        """Return the newest pages of all namespaces together, the newest first."""
        rows: dict[int, Any] = {}
        # With one query per namespace, the database reads no more than `limit` rows of each.
        for namespace in select_namespaces(connection, owner, kinds, within.groups):
            found = connection.execute(_NEWEST.where(members.c.namespace == namespace).limit(limit))
            rows |= {row.number: row[1:] for row in found}
        return [PageBrief._make(rows[number]) for number in sorted(rows, reverse=True)[:limit]]

    briefs = await run_read(read)
    return briefs if bare else await fill_abstracts(owner, briefs)


async def list_outlined_kinds(owner: str, kinds: Sequence[str] | None = None) -> list[str]:
    """Return the kinds with abstracts of which an owner has pages, among `kinds` if given."""
    filled = (namespaces.c.owner == owner, namespaces.c.group == "", namespaces.c.pages > 0)
    kinds_of_owner = select(namespaces.c.kind).where(*filled).order_by(namespaces.c.number)
    stored = (await read_rows(kinds_of_owner)).scalars()
    wanted = {"session" if kind == TURN_PAGES else kind for kind in kinds or ()}
    return [kind for kind in stored if kind != TURN_PAGES and (kinds is None or kind in wanted)]


NAMED_KINDS = {"web", "session"}
"""The kinds whose pages belong to named groups: sites and conversations."""

OPENED_PAGES = 1_000
"""The most pages of a document that are compared with a request."""

RANKED = 4
"""How many times the requested number of pages get abstracts and are ranked by them."""


class PageGroup(NamedTuple):
    """The pages of one kind that share an origin or, if `named`, a named group."""

    kind: str
    name: str
    named: bool


class GroupSize(NamedTuple):
    """The number of pages in a group, and the ISO dates of the first and the last."""

    pages: int
    first: str
    last: str


def _group_of(page: PageBrief) -> PageGroup:
    """Return the group of a page."""
    named = page.kind in NAMED_KINDS and bool(page.group)
    return PageGroup(page.kind, page.group if named else page.origin, named)


def _title_of(page: PageBrief) -> str:
    """Return the title of the group of a page."""
    group = _group_of(page)
    return group.name if group.named else page.title.split(" — ")[0]


async def count_groups(owner: str, groups: Sequence[PageGroup]) -> dict[PageGroup, GroupSize]:
    """Return the sizes of some groups of an owner."""

    def measure(connection: Connection) -> dict[PageGroup, GroupSize]:
        """Return the size of each group, with the days of its first and its last page."""
        counts = {group: connection.execute(_count_query(owner, group)).one() for group in groups}
        ends = {number for row in counts.values() for number in row[1:] if number}
        dates = select(pages.c.number, pages.c.said, pages.c.created)
        rows = connection.execute(dates.where(pages.c.number.in_(ends)))
        days = {row.number: _day_of(row.said, row.created) for row in rows}
        return {
            group: GroupSize(total or 0, days.get(first, ""), days.get(last, ""))
            for group, (total, first, last) in counts.items()
        }

    return await run_read(measure)


async def find_best_in_group(
    owner: str, group: PageGroup, request: str, limit: int
) -> list[PageBrief]:
    """Return the pages of a group that match a request best, or its first pages if none does."""
    if group.named:
        within = Scope([group.kind], [group.name])
        found = await find_briefs(owner, request, limit, within)
        return found or await list_newest_briefs(owner, limit, within)
    findable = (*_origin_conditions(owner, group), findable_condition(pages))
    opened = select(*_BRIEF_COLUMNS, pages.c.words).where(*findable).order_by(pages.c.position)
    rows = (await read_rows(opened.limit(OPENED_PAGES))).all()
    likely = await asyncio.to_thread(_preselect, request, rows, limit * RANKED)
    briefs = await fill_abstracts(owner, likely)
    texts = [f"{brief.title}\n{brief.abstract}" for brief in briefs]
    ranked = await asyncio.to_thread(rank_texts, request, texts)
    return [briefs[at] for at, _ in ranked[:limit]] or briefs[:limit]


def _preselect(request: str, rows: Sequence[Any], limit: int) -> list[PageBrief]:
    """Return the pages that contain the most words of a request, in their given order."""
    terms = set(query_terms(request))
    shared = [len(terms.intersection(row.words.split())) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: -shared[at])[:limit]
    return [PageBrief._make(rows[at][:-1]) for at in sorted(best)]


def _count_query(owner: str, group: PageGroup) -> Select[*tuple[Any, ...]]:
    """Select the number of pages in a group, and the numbers of the first and the last."""
    if not group.named:
        ends = (func.min(pages.c.number), func.max(pages.c.number))
        its = (*_origin_conditions(owner, group), pages.c.indexed > 0)
        return select(func.count(), *ends).where(*its)
    named = namespaces.c.name == short_hash(owner, group.kind, group.name)
    namespace = select(namespaces.c.number, namespaces.c.pages).where(named).subquery()
    page = select(members.c.page).where(members.c.namespace == namespace.c.number)
    first, last = (page.order_by(key).limit(1) for key in (members.c.page, members.c.page.desc()))
    return select(namespace.c.pages, first.scalar_subquery(), last.scalar_subquery())


def _origin_conditions(owner: str, group: PageGroup) -> tuple[Any, ...]:
    return (pages.c.owner == owner, pages.c.origin_id == short_hash(group.kind, group.name))


def _day_of(said: str, created: float) -> str:
    """Return the ISO date on which a page was said or, if unknown, stored."""
    return said[:10] or datetime.fromtimestamp(created, UTC).date().isoformat()


MOST = 2_000
"""The most tokens of an outline, escaped as in a prompt."""

FOR_PAGES = 0.75
"""The share of the tokens for matching pages; the rest is for the newest groups."""

LOOKED_AT = 40
"""How many matching pages, and how many of the newest, are considered."""

SHOWN = 24
"""The most pages shown; only their abstracts are written."""

EACH = 5
"""The most pages of a group that are shown, and that are read when it is opened."""

SHORT = 220
"""The most characters shown of an abstract."""

TITLE = 100
"""The most characters shown of a title."""

KIND_NAMES = {"file": "document", "web": "site", "session": "chat", "report": "report"}


class PageOutline(NamedTuple):
    """The text of an outline, and what its ids stand for.

    `pages` maps `P3` to the id of a page, `groups` maps `G2` to a group of pages.
    """

    text: str = ""
    pages: Mapping[str, str] = {}
    groups: Mapping[str, PageGroup] = {}


class _OutlineEntry(NamedTuple):
    """A group in an outline, with the pages that are shown of it."""

    group: PageGroup
    title: str
    pages: list[PageBrief]


async def outline_pages(
    owner: str, request: str, within: Scope = EVERYTHING, most: int = MOST
) -> PageOutline:
    """Return the groups and pages that match a request, best first, then the newest groups.

    Args:
        owner: The owner of the memory.
        request: What is to be found out.
        within: The part of the memory to search, such as a conversation.
        most: The most tokens of the outline, as they are estimated.
    """
    found = _group_pages(await find_briefs(owner, request, LOOKED_AT, within, bare=True))
    matching = await _fill_entries(owner, found)
    shown = {entry.group for entry in matching}
    newest = _group_pages(await list_newest_briefs(owner, LOOKED_AT, within, bare=True))
    others = [entry._replace(pages=[]) for entry in newest if entry.group not in shown]
    entries = [*matching, *others]
    sizes = await count_groups(owner, [entry.group for entry in entries])
    return await asyncio.to_thread(_write_outline, entries, sizes, most)


async def resolve_outline_ids(
    owner: str, shown: PageOutline, named: Iterable[str], request: str
) -> list[str]:
    """Return the page ids that ids of an outline stand for; unknown ids are dropped.

    A group stands for the pages in it that match the request best.
    """
    ids: list[str] = []
    for name in dict.fromkeys(named):
        if name in shown.pages:
            ids.append(shown.pages[name])
        elif name in shown.groups:
            briefs = await find_best_in_group(owner, shown.groups[name], request, EACH)
            ids += [brief.id for brief in briefs]
    return list(dict.fromkeys(ids))


def _group_pages(found: Iterable[PageBrief]) -> list[_OutlineEntry]:
    entries: dict[PageGroup, _OutlineEntry] = {}
    for page in found:
        group = _group_of(page)
        entry = entries.setdefault(group, _OutlineEntry(group, _title_of(page), []))
        if len(entry.pages) < EACH:
            entry.pages.append(page)
    return list(entries.values())


async def _fill_entries(owner: str, entries: Sequence[_OutlineEntry]) -> list[_OutlineEntry]:
    """Return entries with the pages that are shown and their abstracts."""
    first = [page for entry in entries for page in entry.pages][:SHOWN]
    pages = {page.id: page for page in await fill_abstracts(owner, first)}
    return [
        entry._replace(pages=[pages[page.id] for page in entry.pages if page.id in pages])
        for entry in entries
    ]


def _write_outline(
    entries: Sequence[_OutlineEntry], sizes: Mapping[PageGroup, GroupSize], most: int
) -> PageOutline:
    """Write as many lines as fit, leaving a share of the tokens to groups without shown pages."""
    lines: list[str] = []
    pages: dict[str, str] = {}
    groups: dict[str, PageGroup] = {}
    left = most
    for entry in entries:
        name = f"G{len(groups) + 1}"
        line = _group_line(name, entry, sizes[entry.group])
        left -= _count_line(line)
        if left < 0:
            break
        lines.append(line)
        groups[name] = entry.group
        for page in entry.pages:
            name = f"P{len(pages) + 1}"
            line = _page_line(name, page)
            cost = _count_line(line)
            if left - cost < most * (1 - FOR_PAGES):
                break
            lines.append(line)
            pages[name] = page.id
            left -= cost
    return PageOutline("\n".join(lines), pages, groups)


def _count_line(line: str) -> int:
    return estimate_tokens(f"{escape(line, quote=False)}\n")


def _group_line(name: str, entry: _OutlineEntry, size: GroupSize) -> str:
    days = " – ".join(dict.fromkeys(filter(None, (size.first, size.last))))
    kind = KIND_NAMES.get(entry.group.kind, entry.group.kind)
    pages = pluralize(size.pages, "page")
    return f"{name} {kind} “{to_one_line(cut_injections(entry.title), TITLE)}”, {pages}, {days}"


def _page_line(name: str, page: PageBrief) -> str:
    title = to_one_line(cut_injections(page.title), TITLE)
    abstract = to_one_line(cut_injections(page.abstract), SHORT)
    return f"- {name} {title} ({_day_of(page.said, page.created)}): {abstract}"
