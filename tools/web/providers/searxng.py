"""SearXNG, a search of many engines on a server of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from config.errors import ErrorCode, Problem
from tools.web.providers.hit_parsing import parse_hits
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit
from tools.web.providers.provider_requests import request_json


@dataclass(frozen=True)
class SearXNG:
    """A SearXNG server; its address may hold a user and a password."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="searxng",
        topics=("general", "news", "academic", "encyclopedia", "code"),
        url="",
        url_variable="SEARXNG_URL",
        requests_per_second=5,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; see https://docs.searxng.org/dev/search_api.html."""
        address = f"{self.access.address}/search"
        answer = await request_json("GET", address, params={"q": query, "format": "json"})
        if not answer.get("results") and answer.get("unresponsive_engines"):
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "none of the engines it asks answers")
        return parse_hits(answer.get("results"), "content", limit)
