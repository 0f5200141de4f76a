"""OpenAlex, a catalogue of scholarly works."""

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
    "id,doi,display_name,publication_date,authorships,primary_location,best_oa_location,"
    "abstract_inverted_index,type"
)


@dataclass(frozen=True)
class OpenAlex:
    """The interface of https://openalex.org; without a key it allows some dozens of searches a day.

    One of its searches costs $0.001, of which there is $0.01 to $0.10 a day for nobody in
    particular and $1 for each holder of a free key.
    """

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="openalex",
        topics=("academic",),
        url="https://api.openalex.org",
        url_variable="DOSSIER_OPENALEX_URL",
        key_variable="OPENALEX_API_KEY",
        # It allows 100, and asks not to be asked so much.
        requests_per_second=10,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best works; see https://developers.openalex.org."""
        params: dict[str, str | int] = {"search": query, "per_page": min(limit, _MOST_HITS)}
        params["select"] = _FIELDS
        if self.access.mail_address:
            params["mailto"] = self.access.mail_address
        asked = ProviderQuery("/works", params, {"api_key": self.access.open_key})
        return collect_hits((await request_json(self.access, asked)).get("results"), limit, _read)


def _read(work: dict[str, Any]) -> SearchHit | None:
    places = [work.get("best_oa_location"), work.get("primary_location")]
    pages = [look_up(place, "landing_page_url") for place in places]
    files = [look_up(place, "pdf_url") for place in places]
    own = doi_address(work.get("doi"))
    abstract = _abstract(work.get("abstract_inverted_index"))
    dataset = work.get("type") == "dataset"
    return make_hit(
        first_address(own, *pages[::-1], work.get("id")),
        work.get("display_name"),
        abstract,
        date=work.get("publication_date"),
        authors=[
            look_up(one, "author", "display_name") for one in each_of(work.get("authorships"))
        ],
        site=look_up(work, "primary_location", "source", "display_name"),
        doi=work.get("doi"),
        kind="dataset" if dataset else "paper",
        alternatives=[*pages, *files],
        text=abstract,
    )


def _abstract(index: object) -> str:
    """Return an abstract of which OpenAlex says at which places each word stands."""
    if not isinstance(index, dict):
        return ""
    placed = {
        place: str(word)
        for word, places in index.items()
        for place in (places if isinstance(places, list) else [])
        if isinstance(place, int)
    }
    return " ".join(placed[place] for place in sorted(placed))
