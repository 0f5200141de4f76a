"""Search with a SearXNG server; its settings must list `json` under `search.formats`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from config.errors import Problem
from tools.search.base import Hit, hits, key
from tools.search.request import request_json

VARIABLE = "SEARXNG_URL"
"""Where the server is, such as `http://localhost:8080`; it may hold a user and a password."""


@dataclass(frozen=True)
class SearXNG:
    """A SearXNG server."""

    url: SecretStr
    name: str = "searxng"

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best hits; see https://docs.searxng.org/dev/search_api.html."""
        address = f"{self.url.get_secret_value().rstrip('/')}/search"
        answer = await request_json("GET", address, params={"q": query, "format": "json"})
        if not answer.get("results") and answer.get("unresponsive_engines"):
            raise Problem("search_unavailable", "none of the engines it asks answers")
        return hits(answer.get("results"), "content", limit)


def configured(environ: Mapping[str, str]) -> SearXNG:
    """Return the provider that the environment describes."""
    return SearXNG(key(environ, VARIABLE))
