"""Brave, a search of the web with an index of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.web.providers.hit_parsing import parse_hits, unreadable_answer
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

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
        # The oldest plans; newer ones allow more, and say how much with each answer.
        requests_per_second=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; an answer without `web` found nothing."""
        params: dict[str, str | int] = {
            "q": " ".join(query.split()[:_MOST_WORDS])[:_LONGEST_QUERY],
            "count": min(limit, _MOST_HITS),
        }
        path = "/news/search" if topic == "news" else "/web/search"
        headers = {"x-subscription-token": self.access.open_key}
        answer = await request_json(self.access, ProviderQuery(path, params, headers=headers))
        found = answer if topic == "news" else answer.get("web", {"results": []})
        if not isinstance(found, dict):
            raise unreadable_answer()
        return parse_hits(found.get("results"), limit, "description", date="page_age")
