"""Search the web again for the queries of an earlier run, for pages that it has not read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from config.errors import Problem
from graph.context import Context
from graph.records import THE_WEB, WEB_UNREACHABLE, NewWebPage
from library.page_retrieval import FoundPage, document_location
from library.recall import read_pages
from library.uploaded_files import list_uploaded_files
from runs.call_site import CallSite
from runs.trace import WITHHELD
from tools.knowledge.base_search import drop_copies
from tools.web.earlier_readings import list_addresses_read
from tools.web.provider_choice import list_run_providers
from tools.web.providers.provider import SearchHit
from tools.web.providers.provider_registry import SearchUnanswered
from tools.web.web_search import WebSearch, list_hit_addresses, read_hit_pages


class EarlierReading(NamedTuple):
    """What is known of the web already."""

    runs: Sequence[str]
    """The ids of the runs whose readings are known."""
    pages: Sequence[str]
    """The ids of pages that are known."""


class NewWebPages(NamedTuple):
    """What a search of the web found, and where it failed."""

    found: Mapping[str, Sequence[NewWebPage]]
    """The new pages for each query for which the web was searched."""
    code: str = ""
    """The code of a problem because of which it was not searched for a query."""
    failures: Mapping[str, str] = {}
    """Why providers did not answer, by their names."""


async def find_new_web_pages(
    here: CallSite, context: Context, queries: Sequence[str], earlier: EarlierReading
) -> NewWebPages:
    """Return the pages of the web that are found for queries now and are not known.

    A page that cannot be read, or that has the text of a known one, is not new. Searches and
    readings are recorded in the ledger, so that the steps of this run do not pay for them again.

    Args:
        here: The point of the run.
        context: The choices of the run, and so where it may search.
        queries: The queries.
        earlier: What is known.
    """
    different = list(dict.fromkeys(queries))
    if different and context.web == "unreachable":
        return NewWebPages({}, WEB_UNREACHABLE, {THE_WEB: WEB_UNREACHABLE})
    has_uploads = bool(different) and bool(await list_uploaded_files(here.owner, here.thread))
    providers = list_run_providers(context, os.environ, has_uploads=has_uploads)
    if not (different and providers):
        return NewWebPages({})
    searches = [WebSearch(here, context, providers) for _ in different]
    hits = await asyncio.gather(
        *(one.find_hits(query) for one, query in zip(searches, different, strict=True))
    )
    problems = [one for search in searches for one in search.problems if one.code != WITHHELD]
    answered = {
        query: list(found)
        for query, found, search in zip(different, hits, searches, strict=True)
        if not search.problems
    }
    return _add_problems(await _keep_new(here, answered, earlier), problems)


def _add_problems(new: NewWebPages, problems: Sequence[Problem]) -> NewWebPages:
    failures = {
        name: why
        for one in problems
        if isinstance(one, SearchUnanswered)
        for name, why in one.failures.items()
    }
    return new._replace(code=problems[0].code if problems else "", failures=failures)


async def _keep_new(
    here: CallSite, hits: Mapping[str, Sequence[SearchHit]], earlier: EarlierReading
) -> NewWebPages:
    """Read the hits at addresses that are not known; return those with a text of their own."""
    known = await read_pages(here.owner, earlier.pages)
    listed = {hit["url"]: list_hit_addresses(hit) for found in hits.values() for hit in found}
    read = {document_location(page.location) for page in known}
    read |= await list_addresses_read(
        here, earlier.runs, [one for each in listed.values() for one in each]
    )
    unknown = {
        hit["url"]: hit
        for found in hits.values()
        for hit in found
        if read.isdisjoint(listed[hit["url"]])
    }
    pages = await asyncio.gather(*(read_hit_pages(here, [one], []) for one in unknown.values()))
    texts = [page.text for page in known]
    new = {
        url: _describe(left[0])
        for (url, found) in zip(unknown, pages, strict=True)
        if (left := drop_copies([found], texts)[0])
    }
    return NewWebPages(
        {
            query: [new[hit["url"]] for hit in found if hit["url"] in new]
            for query, found in hits.items()
        }
    )


def _describe(page: FoundPage) -> NewWebPage:
    return NewWebPage(title=page.title, location=document_location(page.location))
