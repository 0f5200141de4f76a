"""Search what was read, said and found out before, or a part of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

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
)
from library.scope import Scope
from library.store import COMPUTED
from library.tables import pages
from storage.engine import read_rows
from text.keyword_ranking import rank_texts

REPORT_PAGES = "report"
"""The kind of what runs have written."""

ORIGINALS = 8
"""How many of the pages that reports rest on are looked at."""

EARLIER_KINDS = ("web", REPORT_PAGES, TURN_PAGES)
"""The kinds of pages that come from earlier runs and from what was said; not a person's files."""


async def is_scope_empty(owner: str, part: Scope) -> bool:
    """Say whether an owner has no page in a part of the memory."""
    looks = [run_search(owner, PageIndex.stats, one.kinds, one.groups) for one in _parts(part)]
    return sum(stats.pages for stats in await asyncio.gather(*looks)) == 0


async def recall_pages(
    owner: str, query: str, limit: int, part: Scope, run: str = ""
) -> list[FoundPage]:
    """Return the pages that fit a query best, best first.

    A report leads to the pages it rests on, for it is their words that can be cited. Itself it is
    never returned: what a run wrote proves nothing, and calls are told of it by `memory.reports`.

    Args:
        owner: Whose memory.
        query: What they are about.
        limit: How many at most.
        part: Where to look.
        run: A run whose own pages are left out, for what it has just read is no memory.
    """
    searches = [search_pages(owner, query, limit, one.kinds, one.groups) for one in _parts(part)]
    searched = [one.page for some in await asyncio.gather(*searches) for one in some]
    different = {page.id: page for page in searched}.values()
    found = sorted(different, key=lambda page: -page.score)[:limit]
    own = select(pages.c.id).where(pages.c.id.in_([page.id for page in found]), pages.c.run == run)
    left_out = set((await read_rows(own)).scalars()) if run else set()
    kept = [page for page in found if page.id not in left_out]
    return await trace_reports(owner, query, kept)


def _parts(part: Scope) -> list[Scope]:
    """Return the kinds and the groups of a part each on its own, for it is both together."""
    if part.kinds is None or part.groups is None:
        return [part]
    return [Scope(kinds=part.kinds), Scope(groups=part.groups)]


_BY_ID = (pages.c.owner == bindparam("owner"), pages.c.id.in_(bindparam("ids", expanding=True)))
_NAMED = select(*page_columns()).where(*_BY_ID)
_NAMED_BELOW = select(*page_columns(rooted=True)).where(*_BY_ID)
_OVERVIEWS = select(pages.c.id).where(*_BY_ID, pages.c.provenance == COMPUTED, pages.c.place == "")


async def trace_reports(owner: str, query: str, found: Sequence[FoundPage]) -> list[FoundPage]:
    """Put those pages that reports rest on and that fit the query best in the place of reports.

    What an overview said of whole documents answers nothing but an overview.
    """
    reports = [page.id for page in found if page.kind == REPORT_PAGES]
    if not reports:
        return list(found)
    its = (pages.c.owner == owner, pages.c.id.in_(reports))
    rows = await read_rows(select(pages.c.id, pages.c.links).where(*its))
    links: dict[str, list[str]] = {row.id: json.loads(row.links) for row in rows}
    linked = {one for some in links.values() for one in some}
    overviews = set((await read_rows(_OVERVIEWS, {"owner": owner, "ids": list(linked)})).scalars())
    every = await read_pages(owner, list(linked - overviews))
    cited = [page for page in every if page.kind != REPORT_PAGES]
    ranked = await asyncio.to_thread(rank_texts, query, [page.text for page in cited])
    order = dict.fromkeys([*(at for at, _ in ranked), *range(len(cited))])
    best = [cited[at] for at in list(order)[:ORIGINALS]]
    here: dict[str, FoundPage] = {}
    for page in found:
        rests_on = links.get(page.id, [])
        others = [one._replace(score=page.score) for one in best if one.id in rests_on]
        for one in others if page.kind == REPORT_PAGES else [page]:
            here.setdefault(one.id, one)
    return list(here.values())


async def read_pages(owner: str, ids: Sequence[str]) -> list[FoundPage]:
    """Return an owner's pages by their ids, in the order of the ids; a file by its path."""
    if not ids:
        return []
    rows = {row.id: row for row in await read_rows(_NAMED, {"owner": owner, "ids": list(ids)})}
    return [
        FoundPage(row.id, row.kind, row.title, format_location(row.path, row.place), row.text, 0.0)
        for row in (rows[one] for one in ids if one in rows)
    ]


async def locate_below(
    owner: str, found: Sequence[FoundPage], roots: Sequence[str]
) -> list[FoundPage]:
    """Return pages with the paths that their files have below some folders, as far as they have."""
    files = [page.id for page in found if page.kind == "file"]
    if not files or not roots:
        return [*found]
    values = {"owner": owner, "ids": files, ROOT_FOLDERS.key: [*roots]}
    rows = await read_rows(_NAMED_BELOW, values)
    paths = {row.id: format_location(row.path, row.place) for row in rows if row.path}
    return [page._replace(location=paths.get(page.id, page.location)) for page in found]


def drop_repeated_turns(found: Sequence[FoundPage]) -> list[FoundPage]:
    """Return pages without the turns of a chat whose session is among them and says the same."""
    sessions = [page.text for page in found if page.kind == "session"]
    return [
        page
        for page in found
        if page.kind != TURN_PAGES or not any(page.text in session for session in sessions)
    ]
