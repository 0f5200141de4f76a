"""Serper, the results of Google."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tools.web.providers.hit_parsing import look_up, parse_hits
from tools.web.providers.provider import (
    ProviderAccess,
    ProviderDeclaration,
    ProviderThrottled,
    SearchHit,
    Topic,
)
from tools.web.providers.provider_requests import (
    ProviderQuery,
    ProviderRefused,
    parse_json,
    request_json,
)


@dataclass(frozen=True)
class Serper:
    """The search of https://serper.dev."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="serper",
        topics=("general", "news"),
        url="https://google.serper.dev",
        url_variable="DOSSIER_SERPER_URL",
        key_variable="SERPER_API_KEY",
        key_needed=True,
        requests_per_second=5,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits, which are called `organic`, or `news` among news."""
        path, results = ("/news", "news") if topic == "news" else ("/search", "organic")
        headers = {"x-api-key": self.access.open_key}
        asked = ProviderQuery(path, headers=headers, body={"q": query, "num": limit})
        try:
            answer = await request_json(self.access, asked)
        except ProviderRefused as refused:
            # An account without credit is answered 400 like a query that cannot be read.
            if "credits" in str(look_up(parse_json(refused.body), "message")).lower():
                raise ProviderThrottled("the account has no credit left", 0.0) from None
            raise
        return parse_hits(answer.get(results, []), limit, "snippet", url="link", date="date")
