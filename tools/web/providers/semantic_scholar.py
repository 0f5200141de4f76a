"""Semantic Scholar, a catalogue of papers with short summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import (
    collect_hits,
    doi_address,
    each_of,
    first_address,
    look_up,
    make_hit,
)
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

_MOST_HITS = 100
_FIELDS = (
    "title,url,abstract,tldr,venue,year,publicationDate,authors.name,externalIds,openAccessPdf"
)


@dataclass(frozen=True)
class SemanticScholar:
    """The interface of https://www.semanticscholar.org; those without a key share one limit."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="semantic_scholar",
        topics=("academic",),
        url="https://api.semanticscholar.org/graph/v1",
        url_variable="DOSSIER_SEMANTIC_SCHOLAR_URL",
        key_variable="S2_API_KEY",
        # 100 in five minutes, of which a share is all that one can expect.
        requests_per_second=1 / 3,
        keyed_requests_per_second=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best papers; see https://api.semanticscholar.org/api-docs/graph."""
        # It finds nothing for words with a hyphen.
        params: dict[str, str | int] = {"query": query.replace("-", " ")}
        params |= {"limit": min(limit, _MOST_HITS), "fields": _FIELDS}
        key = {"x-api-key": self.access.open_key} if self.access.open_key else {}
        asked = ProviderQuery("/paper/search", params, headers=key)
        # Where it finds nothing, its answer has no `data`.
        answer = {"data": []} | await request_json(self.access, asked)
        return collect_hits(answer["data"], limit, _read)


def _read(paper: dict[str, Any]) -> SearchHit | None:
    ids = paper.get("externalIds")
    arxiv = look_up(ids, "ArXiv")
    pages = [f"https://arxiv.org/abs/{arxiv}"] if isinstance(arxiv, str) else []
    own = doi_address(look_up(ids, "DOI"))
    abstract = paper.get("abstract")
    return make_hit(
        first_address(own, *pages, paper.get("url")),
        paper.get("title"),
        abstract or look_up(paper, "tldr", "text"),
        date=paper.get("publicationDate") or paper.get("year"),
        authors=[one.get("name") for one in each_of(paper.get("authors"))],
        site=paper.get("venue"),
        doi=look_up(ids, "DOI"),
        kind="paper",
        alternatives=[*pages, look_up(paper, "openAccessPdf", "url")],
        text=abstract,
    )
