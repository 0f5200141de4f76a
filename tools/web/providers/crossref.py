"""Crossref, the register of DOIs of journals and publishers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import collect_hits, doi_address, each_of, look_up, make_hit
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_json

_MOST_HITS = 100
_FIELDS = "DOI,URL,title,author,abstract,issued,container-title,publisher,type,link"


@dataclass(frozen=True)
class Crossref:
    """The interface of https://www.crossref.org; with a contact one is in its polite pool."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="crossref",
        topics=("academic",),
        url="https://api.crossref.org",
        url_variable="DOSSIER_CROSSREF_URL",
        requests_per_second=1,
        concurrent_requests=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best works; see https://www.crossref.org/documentation/retrieve-metadata."""
        params: dict[str, str | int] = {"query.bibliographic": query, "select": _FIELDS}
        params["rows"] = min(limit, _MOST_HITS)
        if self.access.mail_address:
            params["mailto"] = self.access.mail_address
        answer = await request_json(self.access, ProviderQuery("/works", params))
        return collect_hits(look_up(answer, "message", "items"), limit, _read)


def _read(work: dict[str, Any]) -> SearchHit | None:
    abstract = work.get("abstract")
    dataset = work.get("type") == "dataset"
    return make_hit(
        doi_address(work.get("DOI")) or work.get("URL"),
        look_up(work, "title", 0),
        abstract,
        date=_date(look_up(work, "issued", "date-parts", 0)),
        authors=[_name(one) for one in each_of(work.get("author"))],
        site=look_up(work, "container-title", 0) or work.get("publisher"),
        doi=work.get("DOI"),
        kind="dataset" if dataset else "paper",
        alternatives=[one.get("URL") for one in each_of(work.get("link"))],
        text=abstract,
    )


def _date(parts: object) -> str:
    """Return an ISO date of a year, and a month and a day where they are known."""
    numbers = [one for one in parts if isinstance(one, int)] if isinstance(parts, list) else []
    return "-".join(f"{one:02}" for one in numbers)


def _name(author: dict[str, Any]) -> str:
    names = [author.get("given"), author.get("family")]
    return " ".join(str(one) for one in names if one) or str(author.get("name") or "")
