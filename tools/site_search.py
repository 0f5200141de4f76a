"""Search what was read, and what the web is found to have, of one site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from sqlalchemy import or_, select

from graph.context import Context
from library.page_index import findable_condition
from library.page_retrieval import FoundPage, document_location, search_pages
from library.tables import pages
from runs.call_site import CallSite
from storage.engine import read_rows
from text.regex import regex
from tools.evidence import WIDE_PAGES, Evidence, SearchRequest, gather_evidence
from tools.passage_choice import PassageRequest
from tools.search_answer import answer_search

_SITE = regex(r"(?:https?://)?(?:[\w-]+\.)+[A-Za-z][\w-]*(?::\d+)?/?")


def read_site_name(name: str) -> str:
    """Return the host of a site that a name or an address without a path names; "" for others."""
    plain = name.strip().strip("[]").strip()
    if not _SITE.fullmatch(plain):
        return ""
    return urlsplit(plain if "//" in plain else f"//{plain}").hostname or ""


async def list_site_documents(owner: str, site: str) -> list[str]:
    """Return the addresses of the pages of a site that were read, in order."""
    hosts = _same_hosts(site)
    below = [
        pages.c.origin.startswith(f"{scheme}://{host}", autoescape=True)
        for scheme in ("http", "https")
        for host in hosts
    ]
    wanted = select(pages.c.origin).where(
        pages.c.owner == owner, pages.c.kind == "web", findable_condition(pages), or_(*below)
    )
    origins = (await read_rows(wanted.distinct().order_by(pages.c.origin))).scalars()
    return [origin for origin in origins if urlsplit(origin).hostname in hosts]


async def search_site(
    here: CallSite, context: Context, site: str, query: str, *, web: bool
) -> Evidence:
    """Return what answers a query on one site.

    Args:
        here: The point of the run.
        context: The choices of the run.
        site: The host of the site.
        query: The query.
        web: Whether the web may be searched; what it finds on other sites is left out.
    """
    hosts = _same_hosts(site)
    results = await search_pages(here.owner, query, WIDE_PAGES, groups=sorted(hosts))
    known = [result.page for result in results]
    choose = partial(_answer_from_site, hosts, known)
    if web:
        without = replace(context, files=[])
        wanted = SearchRequest([query], about=query, choose=choose)
        return await gather_evidence(here, without, wanted)
    return await choose(here, context, [], PassageRequest([query], 0), [])


async def _answer_from_site(
    hosts: frozenset[str],
    known: list[FoundPage],
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: PassageRequest,
    files: Sequence[str],
) -> Evidence:
    new = [page for found in results for page in found if _host(page) in hosts]
    return await answer_search(here, context, [known, new], wanted, files)


def _host(page: FoundPage) -> str:
    return urlsplit(document_location(page.location)).hostname or ""


def _same_hosts(site: str) -> frozenset[str]:
    """Return a host with and without `www`."""
    bare = site.removeprefix("www.")
    return frozenset({bare, f"www.{bare}"})
