"""Europe PMC, the literature of the life sciences with PubMed and many full texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from config.errors import ErrorCode, Problem
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
from tools.web.providers.query_words import search_all_then_any

_MOST_HITS = 100
_FREE = ("OA", "F")
"""The codes of full texts that anyone may read."""


@dataclass(frozen=True)
class EuropePmc:
    """The interface of https://europepmc.org."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="europe_pmc",
        topics=("academic",),
        url="https://www.ebi.ac.uk/europepmc/webservices/rest",
        url_variable="DOSSIER_EUROPE_PMC_URL",
        requests_per_second=10,
        requests_per_search=2,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best papers; see https://europepmc.org/RestfulWebService."""
        return await search_all_then_any(query, lambda words: self._ask(words, limit))

    async def _ask(self, words: str, limit: int) -> list[SearchHit]:
        params: dict[str, str | int] = {"query": words, "format": "json", "resultType": "core"}
        params["pageSize"] = min(limit, _MOST_HITS)
        answer = await request_json(self.access, ProviderQuery("/search", params))
        if answer.get("errCode"):
            what = "it does not understand what it was asked"
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what)
        return collect_hits(look_up(answer, "resultList", "result"), limit, self._read)

    def _read(self, paper: dict[str, Any]) -> SearchHit | None:
        journal = look_up(paper, "journalInfo", "journal", "title")
        authors = str(paper.get("authorString") or "").rstrip(".").split(", ")
        abstract = paper.get("abstractText")
        pages = self._pages(paper)
        return make_hit(
            first_address(*pages),
            paper.get("title"),
            abstract,
            date=paper.get("firstPublicationDate") or paper.get("pubYear"),
            authors=authors,
            site=journal,
            doi=paper.get("doi"),
            kind="paper",
            alternatives=pages,
            text=abstract,
        )

    def _pages(self, paper: dict[str, Any]) -> list[str]:
        """Return where a paper stands: whole texts before its record."""
        source, own, pmc = (paper.get(name) for name in ("source", "id", "pmcid"))
        record = f"https://pubmed.ncbi.nlm.nih.gov/{own}/"
        if source != "MED":
            record = f"https://europepmc.org/article/{source}/{own}"
        whole = []
        if isinstance(pmc, str):
            whole = [f"https://pmc.ncbi.nlm.nih.gov/articles/{pmc}/"]
            if paper.get("isOpenAccess") == "Y":
                whole.append(f"{self.access.address}/{pmc}/fullTextXML")
        return [*whole, *_free_texts(paper), doi_address(paper.get("doi")), record]


def _free_texts(paper: dict[str, Any]) -> list[str]:
    listed = each_of(look_up(paper, "fullTextUrlList", "fullTextUrl"))
    free = [one for one in listed if one.get("availabilityCode") in _FREE]
    # The site of Europe PMC shows its pages by scripts alone.
    return [str(one.get("url")) for one in free if one.get("site") != "Europe_PMC"]
