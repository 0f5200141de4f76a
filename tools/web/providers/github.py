"""GitHub, repositories of code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import collect_hits, look_up, make_hit
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

_MOST_HITS = 100
_LONGEST_QUERY = 256


@dataclass(frozen=True)
class GitHub:
    """The search of repositories of https://github.com."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="github",
        topics=("code",),
        url="https://api.github.com",
        url_variable="DOSSIER_GITHUB_URL",
        key_variable="GITHUB_TOKEN",
        # 10 searches in a minute, 30 with a token.
        requests_per_second=10 / 60,
        keyed_requests_per_second=0.5,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best repositories; see https://docs.github.com/rest/search/search."""
        # A word with a colon would be a qualifier, such as `user:name`.
        wanted = query.replace(":", " ")[:_LONGEST_QUERY]
        params: dict[str, str | int] = {"q": wanted, "per_page": min(limit, _MOST_HITS)}
        headers = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
        if self.access.open_key:
            headers["authorization"] = f"Bearer {self.access.open_key}"
        asked = ProviderQuery("/search/repositories", params, headers=headers)
        return collect_hits((await request_json(self.access, asked)).get("items"), limit, _read)


def _read(found: dict[str, Any]) -> SearchHit | None:
    name = found.get("full_name")
    facts = {
        "language": found.get("language"),
        "stars": found.get("stargazers_count"),
        "licence": look_up(found, "license", "spdx_id"),
        "last change": str(found.get("pushed_at") or "")[:10],
    }
    told = ", ".join(f"{label} {value}" for label, value in facts.items() if value)
    described = str(found.get("description") or "")
    return make_hit(
        found.get("html_url"),
        name,
        f"{described} ({told})" if told else described,
        date=found.get("pushed_at"),
        authors=[look_up(found, "owner", "login")],
        site="GitHub",
        kind="code",
        alternatives=[f"https://raw.githubusercontent.com/{name}/HEAD/README.md"],
    )
