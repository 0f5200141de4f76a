"""Exa, a search by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import collect_hits, make_hit
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

_SNIPPET_CHARS = 1000
_MOST_HITS = 25
_CATEGORIES = {"news": "news", "academic": "research paper", "code": "github"}


@dataclass(frozen=True)
class Exa:
    """The search of https://exa.ai."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="exa",
        topics=("general", "academic", "news", "code"),
        url="https://api.exa.ai",
        url_variable="DOSSIER_EXA_URL",
        key_variable="EXA_API_KEY",
        key_needed=True,
        requests_per_second=10,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; see https://exa.ai/docs/reference/search."""
        body: dict[str, Any] = {
            "query": query,
            "numResults": min(limit, _MOST_HITS),
            "contents": {"text": {"maxCharacters": _SNIPPET_CHARS}},
        }
        if topic in _CATEGORIES:
            body["category"] = _CATEGORIES[topic]
        headers = {"x-api-key": self.access.open_key}
        asked = ProviderQuery("/search", headers=headers, body=body)
        return collect_hits((await request_json(self.access, asked)).get("results"), limit, _read)


def _read(result: dict[str, Any]) -> SearchHit | None:
    return make_hit(
        result.get("url"),
        result.get("title"),
        result.get("text"),
        date=result.get("publishedDate"),
        authors=[result.get("author")],
    )
