"""Search with Tavily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from tools.search.base import QUERY, Hit, hits, key
from tools.search.request import request_json

VARIABLE = "TAVILY_API_KEY"
_MOST = 20


@dataclass(frozen=True)
class Tavily:
    """The search of https://tavily.com."""

    key: SecretStr
    url: str = "https://api.tavily.com/search"
    name: str = "tavily"

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best hits; see https://docs.tavily.com."""
        answer = await request_json(
            "POST",
            self.url,
            headers={"authorization": f"Bearer {self.key.get_secret_value()}"},
            body={"query": query[:QUERY], "max_results": min(limit, _MOST)},
        )
        return hits(answer.get("results"), "content", limit)


def configured(environ: Mapping[str, str]) -> Tavily:
    """Return the provider that the environment describes."""
    return Tavily(key(environ, VARIABLE))
