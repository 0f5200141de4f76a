"""arXiv, preprints of physics, mathematics and computer science."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from config.errors import ErrorCode, Problem
from tools.web.providers.hit_parsing import make_hit, parse_xml, text_of
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_body
from tools.web.providers.query_words import topic_words

_NAMES = {"atom": "http://www.w3.org/2005/Atom", "arxiv": "http://arxiv.org/schemas/atom"}
_FEW_WORDS = 3


@dataclass(frozen=True)
class Arxiv:
    """The interface of https://arxiv.org, which answers in Atom."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="arxiv",
        topics=("academic",),
        url="https://export.arxiv.org/api",
        url_variable="DOSSIER_ARXIV_URL",
        # One in three seconds over a single connection, for all machines that one controls.
        requests_per_second=1 / 3,
        concurrent_requests=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best preprints; see https://info.arxiv.org/help/api/user-manual.html."""
        wanted = _search_query(query)
        if not wanted:
            return []
        params: dict[str, str | int] = {"search_query": wanted, "start": 0, "max_results": limit}
        data = await request_body(
            self.access, ProviderQuery("/query", params | {"sortBy": "relevance"})
        )
        entries = parse_xml(data).findall("atom:entry", _NAMES)
        if any("/api/errors" in text_of(entry, "atom:id", _NAMES) for entry in entries):
            what = "it does not understand what it was asked"
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what)
        hits = (_read(entry) for entry in entries)
        return [hit for hit in hits if hit][:limit]


def _search_query(query: str) -> str:
    """Return a query in arXiv's language.

    Few words must all be there; of many, no preprint has all, and those with most come first.
    """
    words = " ".join(topic_words(query)).replace("-", " ").split()
    return (" AND " if len(words) <= _FEW_WORDS else " OR ").join(f"all:{one}" for one in words)


def _read(entry: Any) -> SearchHit | None:
    place = text_of(entry, "atom:id", _NAMES).strip().replace("http://", "https://", 1)
    head, found, name = place.partition("/abs/")
    summary = text_of(entry, "atom:summary", _NAMES)
    return make_hit(
        place if found else "",
        text_of(entry, "atom:title", _NAMES),
        summary,
        date=text_of(entry, "atom:published", _NAMES)[:10],
        authors=[text_of(one, "atom:name", _NAMES) for one in entry.findall("atom:author", _NAMES)],
        site=text_of(entry, "arxiv:journal_ref", _NAMES) or "arXiv",
        doi=text_of(entry, "arxiv:doi", _NAMES),
        kind="paper",
        # Not every preprint has a version in HTML.
        alternatives=[f"{head}/html/{name}", f"{head}/pdf/{name}"],
        text=summary,
    )
