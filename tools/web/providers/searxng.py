"""SearXNG, a search of many engines on a server of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from config.errors import ErrorCode, Problem
from tools.web.providers.hit_parsing import parse_hits
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, ProviderRefused, request_json

_CATEGORIES = {"news": "news", "academic": "science", "code": "it"}


@dataclass(frozen=True)
class SearXNG:
    """A SearXNG server; its address may hold a user and a password."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="searxng",
        topics=("general", "news", "academic", "code"),
        url="",
        url_variable="SEARXNG_URL",
        requests_per_second=5,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; see https://docs.searxng.org/dev/search_api.html."""
        params: dict[str, str | int] = {"q": query, "format": "json"}
        if topic in _CATEGORIES:
            params["categories"] = _CATEGORIES[topic]
        try:
            answer = await request_json(self.access, ProviderQuery("/search", params))
        except ProviderRefused as refused:
            if refused.status != 403:
                raise
            # Out of the box, a server answers in HTML alone.
            what = "it answers 403 (its settings.yml has no json among search.formats)"
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what) from None
        if not answer.get("results") and answer.get("unresponsive_engines"):
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "none of the engines it asks answers")
        return parse_hits(answer.get("results"), limit, "content", date="publishedDate")
