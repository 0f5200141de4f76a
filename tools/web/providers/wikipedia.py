"""Wikipedia, in the language of the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from config.errors import ErrorCode, Problem
from library.page_metadata import identify_language
from tools.web.providers.hit_parsing import collect_hits, each_of, look_up, make_hit
from tools.web.providers.provider import (
    ProviderAccess,
    ProviderDeclaration,
    ProviderThrottled,
    SearchHit,
    Topic,
)
from tools.web.providers.provider_requests import ProviderQuery, request_json
from tools.web.providers.query_words import search_all_then_any

_MOST_HITS = 20  # of an anonymous query with extracts
_LONGEST_QUERY = 300
_QUERY: dict[str, str | int] = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "generator": "search",
    "prop": "extracts|info|revisions",
    "inprop": "url",
    "rvprop": "timestamp",
    "exintro": 1,
    "explaintext": 1,
    "exlimit": "max",
}
_BUSY = ("maxlag", "ratelimited", "readonly")


@dataclass(frozen=True)
class Wikipedia:
    """The search of Wikipedia; `{language}` in its address is that of the query."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="wikipedia",
        topics=("encyclopedia", "general"),
        url="https://{language}.wikipedia.org",
        url_variable="DOSSIER_WIKIPEDIA_URL",
        # There is no limit for readers who say who they are and do not ask many things at once.
        requests_per_second=5,
        concurrent_requests=3,
        requests_per_search=2,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best articles with their introductions.

        See https://www.mediawiki.org/wiki/API:Search.
        """
        access = self.access.in_language(identify_language(query) or "en")
        return await search_all_then_any(query, lambda words: _ask(access, words, limit))


async def _ask(access: ProviderAccess, words: str, limit: int) -> list[SearchHit]:
    params: dict[str, str | int] = {"gsrsearch": words[:_LONGEST_QUERY]}
    params["gsrlimit"] = min(limit, _MOST_HITS)
    answer = await request_json(access, ProviderQuery("/w/api.php", _QUERY | params))
    if code := look_up(answer, "error", "code"):
        raise _problem(str(code))
    pages = each_of(look_up(answer, "query", "pages"))
    # Pages come in the order of their ids; `index` is the place that the search gave them.
    ranked = sorted(pages, key=lambda page: str(page.get("index", "")).zfill(9))
    return collect_hits(ranked, limit, _read)


def _problem(code: str) -> Problem:
    if code in _BUSY:
        return ProviderThrottled("it is busy", 0.0)
    return Problem(ErrorCode.SEARCH_UNAVAILABLE, "it does not understand what it was asked")


def _read(page: dict[str, Any]) -> SearchHit | None:
    extract = page.get("extract")
    return make_hit(
        page.get("fullurl"),
        page.get("title"),
        extract,
        date=look_up(page, "revisions", 0, "timestamp"),
        site="Wikipedia",
        kind="encyclopedia",
        text=extract,
    )
