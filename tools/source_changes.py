"""Find which pages have changed since they were cited: files by content, web pages anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from config.errors import Problem
from config.settings import settings
from graph.context import Context
from library.documents import FILE_KIND
from library.page_retrieval import find_pages_many
from library.tables import documents, pages
from runs.call_site import CallSite
from storage.batches import split_batches
from storage.engine import read_rows
from tools.web.earlier_readings import list_reading_times
from tools.web.web_search import read_web_pages

WEB_KIND = "web"

NEW_PAGES = 5
"""How many of the best pages of files for a query are looked at for new ones."""


class SourceChanges(NamedTuple):
    """What became of some pages, by their ids."""

    changed: frozenset[str]
    """Pages that say something else now, or are gone."""
    unread: frozenset[str]
    """Pages of the web that could not be read again, so that nobody knows."""


async def find_source_changes(here: CallSite, ids: Sequence[str]) -> SourceChanges:
    """Return which pages have changed since they were stored.

    A page of the web is read again if its last reading is older than `fetch_hours`; that of a file
    has changed if no file has its content any more.

    Args:
        here: The point of the run, for the ledger.
        ids: The ids of the pages.
    """
    rows = await _read_pages(here.owner, ids)
    known = {row.id for row in rows}
    contents = {row.origin for row in rows if row.kind == FILE_KIND}
    listed = await _list_contents(here.owner, contents)
    changed = {id for id in ids if id not in known}
    changed |= {row.id for row in rows if row.kind == FILE_KIND and row.origin not in listed}
    changed |= {row.id for row in rows if row.kind not in (FILE_KIND, WEB_KIND) and row.indexed < 0}
    web = await _find_web_changes(here, [row for row in rows if row.kind == WEB_KIND])
    return SourceChanges(frozenset(changed | web.changed), web.unread)


async def _find_web_changes(here: CallSite, rows: Sequence[Any]) -> SourceChanges:
    """Return which web pages have changed; each address is fetched at most once."""
    fresh = time.time() - settings().fetch_hours * 3600
    old = [row for row in rows if row.indexed >= 0 and row.created < fresh]
    changed = {row.id for row in rows if row.indexed < 0}
    unread: set[str] = set()
    addresses = list(dict.fromkeys(row.origin for row in old))
    read_again = await asyncio.gather(*(_read_again(here, address) for address in addresses))
    for address, current in zip(addresses, read_again, strict=True):
        its = {row.id for row in old if row.origin == address}
        unread |= its if current is None else set()
        changed |= its - current if current is not None else set()
    return SourceChanges(frozenset(changed), frozenset(unread))


async def _read_again(here: CallSite, address: str) -> set[str] | None:
    """Return the ids of the pages that an address has now; None if it cannot be read."""
    problems: list[Problem] = []
    read = await read_web_pages(here, [address], problems, own_thread=False)
    return {page.id for page in read} if read and not problems else None


async def find_new_matches(
    owner: str, context: Context, queries: Sequence[str], since: float
) -> list[bool]:
    """Tell for each query whether files that were read in later are among its best matches.

    Args:
        owner: The owner of the files.
        context: The files of the run.
        queries: The queries.
        since: The time before which files are known, in seconds since 1970.
    """
    if not context.files:
        return [False] * len(queries)
    found = await find_pages_many(owner, queries, NEW_PAGES, context.files)
    rows = await _read_pages(owner, list({page.id for result in found for page in result}))
    new = {row.id for row in rows if row.created > since}
    return [any(page.id in new for page in result) for result in found]


async def list_source_times(here: CallSite, ids: Sequence[str]) -> list[float]:
    """Return when each stored page was read last, in seconds since 1970."""
    rows = await _read_pages(here.owner, ids)
    addresses = [row.origin for row in rows if row.kind == WEB_KIND]
    read = await list_reading_times(here, addresses) if addresses else {}
    return [max(row.created, read.get(row.origin, 0.0)) for row in rows]


async def _read_pages(owner: str, ids: Sequence[str]) -> list[Any]:
    """Return id, kind, origin, time and index of those pages that are stored."""
    names = ("id", "kind", "origin", "created", "indexed")
    wanted = select(*(pages.c[name] for name in names)).where(pages.c.owner == owner)
    rows: list[Any] = []
    for batch in split_batches(list(ids)):
        rows += await read_rows(wanted.where(pages.c.id.in_(batch)))
    return rows


async def _list_contents(owner: str, hashes: Iterable[str]) -> set[str]:
    """Return those of some contents that a file still has."""
    its = select(documents.c.sha256).where(
        documents.c.owner == owner, documents.c.sha256.in_(list(hashes))
    )
    return set((await read_rows(its)).scalars()) if hashes else set()
