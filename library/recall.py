"""Search an owner's memory, or a part of it, for pages that can be cited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import chain
from urllib.parse import urlsplit

from sqlalchemy import bindparam, select

from library.page_index import PageIndex
from library.page_retrieval import (
    ROOT_FOLDERS,
    TURN_PAGES,
    FoundPage,
    format_location,
    page_columns,
    run_search,
    search_pages,
    search_pages_many,
)
from library.scope import Scope
from library.store import COMPUTED
from library.tables import pages
from storage.engine import read_rows
from text.keyword_ranking import rank_texts

REPORT_PAGES = "report"
"""The kind of the reports that runs wrote."""

ORIGINALS = 8
"""The most sources of reports that replace them."""

SAME_SITES = 4
"""So many times as many pages of the sites of some documents are looked at as are wanted."""

EARLIER_KINDS = ("web", REPORT_PAGES, TURN_PAGES)
"""The kinds of pages that come from earlier runs and conversations, not from files."""


async def is_scope_empty(owner: str, part: Scope) -> bool:
    """Tell whether an owner has no pages in a part of the memory."""
    reads = [run_search(owner, PageIndex.stats, s.kinds, s.groups) for s in _split(part)]
    return not any(stats.pages for stats in await asyncio.gather(*reads))


async def recall_pages(
    owner: str, query: str, limit: int, part: Scope, run: str = ""
) -> list[FoundPage]:
    """Return the pages that match a query best, best first.

    A report is replaced by its sources, whose words can be cited: what a run wrote proves nothing.
    Calls are told of reports by `memory.reports`.

    Args:
        owner: The owner of the memory.
        query: What the pages are about.
        limit: The most pages that are searched for.
        part: The part of the memory to search.
        run: A run whose own pages are omitted, since what it has just read is no memory.
    """
    searches = [search_pages(owner, query, limit, s.kinds, s.groups) for s in _split(part)]
    results = chain.from_iterable(await asyncio.gather(*searches))
    distinct = {result.page.id: result.page for result in results}.values()
    found = sorted(distinct, key=lambda page: -page.score)[:limit]
    if run:
        ids = [page.id for page in found]
        own = select(pages.c.id).where(pages.c.id.in_(ids), pages.c.run == run)
        omitted = set((await read_rows(own)).scalars())
        found = [page for page in found if page.id not in omitted]
    return await trace_reports(owner, query, found)


async def recall_documents(
    owner: str, queries: Sequence[str], limit: int, page_ids: Sequence[str]
) -> list[list[FoundPage]]:
    """Return for each query the pages of some documents of the web that match it, best first.

    Args:
        owner: The owner of the pages.
        queries: What the pages are about.
        limit: The most pages for one query.
        page_ids: One page, or more, of each document.
    """
    if not page_ids:
        return []
    web = (pages.c.owner == owner, pages.c.kind == "web")
    named = select(pages.c.origin_id).where(*web, pages.c.id.in_(page_ids))
    wanted = select(pages.c.id, pages.c.origin).where(*web, pages.c.origin_id.in_(named))
    origins = {row.id: row.origin for row in await read_rows(wanted)}
    sites = {urlsplit(origin).hostname or "" for origin in set(origins.values())}
    # Other documents of these sites may match better.
    most = limit * SAME_SITES
    results = await search_pages_many(owner, queries, most, ["web"], sorted(sites))
    found = ([one.page for one in result if one.page.id in origins] for result in results)
    return [pages_of_query[:limit] for pages_of_query in found]


def _split(part: Scope) -> list[Scope]:
    """Return a scope for the kinds and one for the groups of a part, which is their union."""
    if part.kinds is None or part.groups is None:
        return [part]
    return [Scope(kinds=part.kinds), Scope(groups=part.groups)]


_BY_ID = (pages.c.owner == bindparam("owner"), pages.c.id.in_(bindparam("ids", expanding=True)))
_PAGES = select(*page_columns()).where(*_BY_ID)
_PAGES_BELOW = select(*page_columns(rooted=True)).where(*_BY_ID)
_LINKS = select(pages.c.id, pages.c.links).where(*_BY_ID)
_OVERVIEWS = select(pages.c.id).where(*_BY_ID, pages.c.provenance == COMPUTED, pages.c.place == "")


async def trace_reports(owner: str, query: str, found: Sequence[FoundPage]) -> list[FoundPage]:
    """Replace each report by those of its sources that match the query best.

    Overviews of whole documents are no sources, since they answer only requests for an overview.
    """
    reports = [page.id for page in found if page.kind == REPORT_PAGES]
    if not reports:
        return list(found)
    rows = await read_rows(_LINKS, {"owner": owner, "ids": reports})
    links: dict[str, list[str]] = {row.id: json.loads(row.links) for row in rows}
    linked = set(chain.from_iterable(links.values()))
    overviews = set((await read_rows(_OVERVIEWS, {"owner": owner, "ids": list(linked)})).scalars())
    originals = await read_pages(owner, list(linked - overviews))
    cited = [page for page in originals if page.kind != REPORT_PAGES]
    ranked = await asyncio.to_thread(rank_texts, query, [page.text for page in cited])
    order = dict.fromkeys([*(at for at, _ in ranked), *range(len(cited))])
    best = [cited[at] for at in list(order)[:ORIGINALS]]
    traced: dict[str, FoundPage] = {}
    for page in found:
        ids = links.get(page.id, [])
        sources = [source._replace(score=page.score) for source in best if source.id in ids]
        for result in sources if page.kind == REPORT_PAGES else [page]:
            traced.setdefault(result.id, result)
    return list(traced.values())


async def read_pages(owner: str, ids: Sequence[str]) -> list[FoundPage]:
    """Return an owner's pages in the order of their ids; the location of a file is its path."""
    if not ids:
        return []
    rows = {row.id: row for row in await read_rows(_PAGES, {"owner": owner, "ids": list(ids)})}
    return [
        FoundPage(row.id, row.kind, row.title, format_location(row.path, row.place), row.text, 0.0)
        for row in (rows[page_id] for page_id in ids if page_id in rows)
    ]


async def locate_below(
    owner: str, found: Sequence[FoundPage], roots: Sequence[str]
) -> list[FoundPage]:
    """Return pages, those of files below some folders with their paths there."""
    files = [page.id for page in found if page.kind == "file"]
    if not files or not roots:
        return [*found]
    values = {"owner": owner, "ids": files, ROOT_FOLDERS.key: [*roots]}
    rows = await read_rows(_PAGES_BELOW, values)
    paths = {row.id: format_location(row.path, row.place) for row in rows if row.path}
    return [page._replace(location=paths.get(page.id, page.location)) for page in found]


def drop_repeated_turns(found: Sequence[FoundPage]) -> list[FoundPage]:
    """Drop the turns of a chat whose text is in a session among the pages."""
    sessions = [page.text for page in found if page.kind == "session"]
    return [
        page
        for page in found
        if page.kind != TURN_PAGES or not any(page.text in session for session in sessions)
    ]
