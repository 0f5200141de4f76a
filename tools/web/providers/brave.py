"""Brave, a search of the web with an index of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.web.providers.hit_parsing import parse_hits, unreadable_answer
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit
from tools.web.providers.provider_requests import request_json

_LONGEST_QUERY, _MOST_WORDS, _MOST_HITS = 400, 50, 20


@dataclass(frozen=True)
class Brave:
    """The search of https://brave.com/search/api."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="brave",
        topics=("general", "news"),
        url="https://api.search.brave.com/res/v1",
        url_variable="DOSSIER_BRAVE_URL",
        key_variable="BRAVE_API_KEY",
        key_needed=True,
        requests_per_second=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; an answer without `web` found nothing."""
        answer = await request_json(
            "GET",
            f"{self.access.address}/web/search",
            headers={"x-subscription-token": self.access.open_key},
            params={
                "q": " ".join(query.split()[:_MOST_WORDS])[:_LONGEST_QUERY],
                "count": min(limit, _MOST_HITS),
            },
        )
        web = answer.get("web", {"results": []})
        if not isinstance(web, dict):
            raise unreadable_answer()
        return parse_hits(web.get("results"), "description", limit)
