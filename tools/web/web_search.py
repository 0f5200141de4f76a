"""Search the web for the queries of a run, and read the pages that are found, each only once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, cast
from urllib.parse import urlsplit

from calls.ledger import (
    ActionRecord,
    LedgerCall,
    call_once,
    find_all_recorded,
    find_recorded,
    record_call,
    recorded_hits,
)
from calls.run_progress import tell_progress
from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource, SharedTasks
from config.settings import settings
from graph.context import Context
from library import store as pages
from library.page_metadata import NO_METADATA
from library.page_retrieval import FoundPage
from library.page_rows import NewPage, PageOrigin
from library.page_sizing import size_pages
from library.recall import read_pages
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from runs.call_site import CallSite, run_site
from runs.trace import REDACTED, WITHHELD, seconds_since, trace
from text.secret_masking import mask_secrets
from tools.files.extractor import SLOWEST_BYTES_PER_SECOND
from tools.web.earlier_readings import find_earlier_readings, page_call
from tools.web.federated_search import search_web
from tools.web.fetch import fetch_page
from tools.web.page_text import judge_metadata
from tools.web.providers.provider import SearchHit
from tools.web.query_redaction import redact_outgoing_query
from tools.web.site_rules import check_site
from tools.web.urls import canonicalise_url, redact_url
from tools.worker_pool import WorkerLost, run_in_worker

_fetching = SharedTasks[str, list[str]]()
"""The pages that are being fetched, by the keys of their calls."""

SECONDS = 30.0
"""The longest time to prepare a short page for the store, including a new process."""

AGAIN = 120.0
"""How many seconds a run does not ask again for a page whose server was too slow."""

_too_slow: Resource[RecentCache[str, float]] = Resource(lambda: RecentCache(1_000))
"""Until when pages are not asked for again, by the keys of their calls."""


async def read_web_pages(
    here: CallSite, urls: Sequence[str], problems: list[Problem], *, own_thread: bool = True
) -> list[FoundPage]:
    """Return the pages at some addresses; what cannot be read is reported, never raised.

    What this thread has read is not fetched again, nor what another of the same owner has read in
    the last `fetch_hours`; what has been forgotten or has changed since is.

    Args:
        here: The point of the run.
        urls: The addresses, in canonical form.
        problems: What could not be read is added here.
        own_thread: Whether what this thread has read is used however old it is.
    """
    read = await _read_all(here, urls, own_thread=own_thread)
    problems += [one for one in read.values() if isinstance(one, Problem)]
    ids = [one for one in read.values() if not isinstance(one, Problem)]
    return await read_pages(here.owner, [*chain.from_iterable(ids)])


async def _read_all(
    here: CallSite, urls: Iterable[str], *, own_thread: bool = True
) -> dict[str, list[str] | Problem]:
    """Return the ids of the pages at each address, or why it could not be read."""
    different = list(dict.fromkeys(urls))
    before = await find_earlier_readings(here, different, own_thread=own_thread)
    unread = [url for url in different if not before.get(url)]
    recorded = _RecordedReadings([page_call(here, url) for url in unread])
    reads = (_read(here, url, before.get(url, []), recorded) for url in different)
    return dict(zip(different, await asyncio.gather(*reads), strict=True))


class _RecordedReadings:
    """What a run has recorded of some pages, looked up for all of them when one is wanted first."""

    def __init__(self, calls: Sequence[LedgerCall]) -> None:
        self._calls = calls
        self._reading: asyncio.Task[dict[str, Any]] | None = None

    async def find(self, call: LedgerCall) -> list[str] | None:
        """Return the ids of the pages that a call has read, or `None` if it was never made."""
        if self._reading is None:
            self._reading = asyncio.create_task(find_all_recorded(self._calls))
        return (await asyncio.shield(self._reading)).get(call.key)


async def _read(
    here: CallSite, url: str, before: list[str], recorded: _RecordedReadings
) -> list[str] | Problem:
    """Return the ids of the pages at an address, fetched if they are not stored."""
    started = time.monotonic()
    try:
        check_site(url)
        if before:
            await trace(here, "fetch", "web", "stored", url=url)
            return before
        ids = await _fetch_once(here, url, recorded)
    except Problem as problem:
        await trace(here, "fetch", "web", problem.code, url=url, seconds=seconds_since(started))
        return problem
    await trace(here, "fetch", "web", "ok", url=url, seconds=seconds_since(started))
    return ids


async def _fetch_once(here: CallSite, url: str, recorded: _RecordedReadings) -> list[str]:
    """Fetch a page once for all branches of a run that want it at the same moment."""
    call = page_call(here, url)
    return await _fetching.run(call.key, lambda: _fetched(here, call, url, recorded))


async def _fetched(
    here: CallSite, call: LedgerCall, url: str, recorded: _RecordedReadings
) -> list[str]:
    """Return the ids of the pages at an address, fetched unless the run has recorded them."""
    known = await recorded.find(call)
    if known is not None:
        return known
    if time.monotonic() < _too_slow.get().get(call.key, 0.0):
        what = "the server was too slow a moment ago"
        raise Problem(ErrorCode.PAGE_TIMEOUT, what, where=redact_url(url))
    started = time.time()
    tell_progress(here, "reading", title=redact_url(url))
    try:
        got = await fetch_page(url, allow_private=settings().allow_private_fetch)
    except Problem as problem:
        if problem.code == ErrorCode.PAGE_TIMEOUT:
            _too_slow.get()[call.key] = time.monotonic() + AGAIN
        raise
    page = NewPage(title=got["title"] or url, place="", text=got["text"], metadata=got["metadata"])
    page["links"] = got["links"]
    made = got["sized"] or await _split_long_page(page, url)
    address = canonicalise_url(got["url"])
    site = urlsplit(address).hostname or ""
    source = PageOrigin(here.owner, "web", address, site, run=here.run)
    action = ActionRecord(url, step=here.step)
    if len(made) > pages.STORE_BATCH:
        ids = await pages.store_pages(here.owner, "web", address, made, group=site, run=here.run)
        await record_call(call, ids, started, said=action)
        return ids
    ids, store = pages.stage_pages(source, made)
    await record_call(call, ids, started, said=action, write=store)
    return ids


async def _split_long_page(page: NewPage, url: str) -> list[NewPage]:
    """Split a long page, in a process that is killed if it takes too long."""
    try:
        return await run_in_worker(
            partial(size_pages, [page]), SECONDS + len(page["text"]) / SLOWEST_BYTES_PER_SECOND
        )
    except (TimeoutError, WorkerLost) as error:
        what = "its text could not be split into pages in time"
        hint = "use another source of the same text"
        raise Problem(ErrorCode.PAGE_TIMEOUT, what, where=redact_url(url), hint=hint) from error


def list_hit_addresses(hit: SearchHit) -> list[str]:
    """Return the addresses of a hit, in canonical form, the one that is read most easily first."""
    others = hit.get("alternatives", [])
    first = others[:1] if hit.get("kind") == "paper" else []
    addresses = map(canonicalise_url, [*first, hit["url"], *others])
    return list(dict.fromkeys(addresses))[:MOST_ADDRESSES]


MOST_ADDRESSES = 2
"""How many addresses of the same work are tried."""


async def read_hit_pages(
    here: CallSite, hits: Sequence[SearchHit], problems: list[Problem]
) -> list[FoundPage]:
    """Return the pages that hits lead to; what cannot be read is reported, never raised.

    A work that cannot be read at its first address is read at another one. What its provider knows
    of it, such as an abstract, takes the place of a work that can be read at none.

    Args:
        here: The point of the run.
        hits: What a search has found.
        problems: What could not be read is added here.
    """
    read: dict[int, list[str] | Problem] = {}
    addresses = [[] if _is_whole(hit) else list_hit_addresses(hit) for hit in hits]
    for attempt in range(MOST_ADDRESSES):
        wanted = {
            number: listed[attempt]
            for number, listed in enumerate(addresses)
            if len(listed) > attempt and not isinstance(read.get(number), list)
        }
        pages_at = await _read_all(here, wanted.values()) if wanted else {}
        for number, url in wanted.items():
            if isinstance(pages_at[url], list) or number not in read:
                read[number] = pages_at[url]
    for number, hit in enumerate(hits):
        if not isinstance(read.get(number), list) and hit.get("text"):
            read[number] = await _store_text(here, hit)
    problems += [one for _, one in sorted(read.items()) if isinstance(one, Problem)]
    ids = [one for _, one in sorted(read.items()) if isinstance(one, list)]
    return await read_pages(here.owner, list(dict.fromkeys(chain.from_iterable(ids))))


def _is_whole(hit: SearchHit) -> bool:
    """Tell whether a provider has already said all there is, as of a table of data."""
    return hit.get("kind") == "dataset" and bool(hit.get("text"))


async def _store_text(here: CallSite, hit: SearchHit) -> list[str] | Problem:
    """Store what a provider knows of a hit as the page of its address; return its ids."""
    address = canonicalise_url(hit["url"])
    call = LedgerCall(run_site(here), "fetch", "web", [address, "text"])
    recorded: list[str] | None = await find_recorded(call)
    if recorded is not None:
        return recorded
    started, site = time.time(), urlsplit(address).hostname or ""
    declared = NO_METADATA._replace(published=hit.get("date", ""), author=hit.get("authors", ""))
    title, text = hit["title"], hit["text"]
    metadata = await asyncio.to_thread(judge_metadata, address, title, text, declared)
    page = NewPage(title=title or address, place="", text=text, metadata=metadata)
    try:
        made = await _split_long_page(page, address)
    except Problem as problem:
        return problem
    origin = PageOrigin(here.owner, "web", address, site, run=here.run)
    ids, store = pages.stage_pages(origin, made)
    action = ActionRecord(address, step=here.step)
    await record_call(call, ids, started, said=action, write=store)
    return ids


HITS = 5
"""How many web pages are read for one query."""


class WebSearch:
    """The web searches of one step, what failed in them, and which queries were shortened."""

    def __init__(self, here: CallSite, context: Context, providers: Sequence[str]) -> None:
        self.here, self.context, self.providers = here, context, list(providers)
        self.problems: list[Problem] = []
        self.sent: dict[str, str] = {}
        """The queries that were sent in other words, by how they were written; "" if not sent."""

    async def find_pages(self, query: str) -> list[FoundPage]:
        """Search the web and read what is found; what fails is reported, never raised."""
        return await read_hit_pages(self.here, await self.find_hits(query), self.problems)

    async def find_hits(self, query: str) -> list[SearchHit]:
        """Search the web; what fails is reported, never raised."""
        # A search is recorded under the query as it was written, whatever was removed from it.
        call = LedgerCall(run_site(self.here), "search", "web", [self.providers, query])
        written, started = mask_secrets(query).text, time.monotonic()
        try:
            result = await call_once(
                call, partial(self._searched, query), partial(self._describe_action, query)
            )
        except Problem as problem:
            self.problems.append(problem)
            if problem.code == WITHHELD:
                self.sent[query] = ""
            took = {"seconds": seconds_since(started)}
            await trace(self.here, "search", "web", problem.code, query=written, **took)
            return []
        hits = recorded_hits(result)
        # What an older version has recorded does not contain the query.
        if isinstance(result, dict) and result["query"] != query:
            self.sent[query] = result["query"]
        failed = result.get("failures", {}) if isinstance(result, dict) else {}
        more = {"failed": failed} if failed else {}
        more["seconds"] = seconds_since(started)
        await trace(self.here, "search", "web", "ok", query=written, hits=len(hits), **more)
        return cast("list[SearchHit]", hits)

    async def _searched(self, query: str) -> dict[str, Any]:
        """Search for a query without its private words; the trace lists those."""
        left = await redact_outgoing_query(self.here, self.context, query)
        if left.dropped:
            kept_back = [mask_secrets(one).text for one in left.dropped]
            await trace(self.here, "search", "web", REDACTED, query=left.text, withheld=kept_back)
        chosen = bool(self.context.search)
        found = await search_web(self.providers, left.text, HITS, os.environ, chosen=chosen)
        hits = [dict(hit) for hit in found.hits]
        return {"query": left.text, "hits": hits, "failures": dict(found.failures)}

    def _describe_action(self, query: str, result: Mapping[str, Any]) -> ActionRecord:
        titles = "; ".join(cut_injections(str(hit["title"])) for hit in recorded_hits(result))
        return ActionRecord(query, titles, self.here.step)


def list_sent_queries(queries: Sequence[str], sent: Mapping[str, str]) -> list[str]:
    """Return queries as they were sent, without those that were not.

    Args:
        queries: The queries as they were written.
        sent: Those that were sent in other words, by how they were written.
    """
    return [left for one in queries if (left := sent.get(one, one))]


def describe_redacted_queries(sent: Mapping[str, str], language: str) -> str:
    """Tell a model that its queries were shortened or not sent, so that it can use other words."""
    lines, comma = [], "、" if language == "zh" else ", "
    if shortened := [f"“{one}”" for one in sent.values() if one]:
        queries = comma.join(shortened)
        lines.append(render_prompt("query_shortened", language=language, queries=queries))
    if unsent := [f"“{mask_secrets(one).text}”" for one, left in sent.items() if not left]:
        queries = comma.join(unsent)
        lines.append(render_prompt("query_not_sent", language=language, queries=queries))
    return "\n".join(lines)
