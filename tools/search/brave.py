"""Search with Brave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from tools.search.base import QUERY, Hit, hits, key, unreadable
from tools.search.request import request_json

VARIABLE = "BRAVE_API_KEY"
_MOST = 20
_WORDS = 50


@dataclass(frozen=True)
class Brave:
    """The search of https://brave.com/search/api."""

    key: SecretStr
    url: str = "https://api.search.brave.com/res/v1/web/search"
    name: str = "brave"

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best hits; an answer without `web` found nothing."""
        answer = await request_json(
            "GET",
            self.url,
            headers={"x-subscription-token": self.key.get_secret_value()},
            params={"q": " ".join(query.split()[:_WORDS])[:QUERY], "count": min(limit, _MOST)},
        )
        web = answer.get("web", {"results": []})
        if not isinstance(web, dict):
            raise unreadable()
        return hits(web.get("results"), "description", limit)


def configured(environ: Mapping[str, str]) -> Brave:
    """Return the provider that the environment describes."""
    return Brave(key(environ, VARIABLE))
