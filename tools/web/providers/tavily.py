"""Tavily, a search of the web for agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.web.providers.hit_parsing import parse_hits
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

_LONGEST_QUERY, _MOST_HITS = 400, 20


@dataclass(frozen=True)
class Tavily:
    """The search of https://tavily.com."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="tavily",
        topics=("general", "news"),
        url="https://api.tavily.com",
        url_variable="DOSSIER_TAVILY_URL",
        key_variable="TAVILY_API_KEY",
        key_needed=True,
        # 100 in a minute with a key for development.
        requests_per_second=1.6,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; see https://docs.tavily.com/documentation/api-reference."""
        body = {"query": query[:_LONGEST_QUERY], "max_results": min(limit, _MOST_HITS)}
        if topic == "news":
            body["topic"] = "news"
        headers = {"authorization": f"Bearer {self.access.open_key}"}
        asked = ProviderQuery("/search", headers=headers, body=body)
        answer = await request_json(self.access, asked)
        return parse_hits(answer.get("results"), limit, "content", date="published_date")
