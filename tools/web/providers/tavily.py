"""Tavily, a search of the web for agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.web.providers.hit_parsing import parse_hits
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit
from tools.web.providers.provider_requests import request_json

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
        requests_per_second=1.6,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; see https://docs.tavily.com."""
        answer = await request_json(
            "POST",
            f"{self.access.address}/search",
            headers={"authorization": f"Bearer {self.access.open_key}"},
            body={"query": query[:_LONGEST_QUERY], "max_results": min(limit, _MOST_HITS)},
        )
        return parse_hits(answer.get("results"), "content", limit)
