"""A small web on bees that is searched and read without a network."""

from __future__ import annotations

from config.errors import ErrorCode, Problem
from library.page_metadata import NO_METADATA
from tools.web.federated_search import WebHits
from tools.web.fetch import FetchedPage
from tools.web.providers.provider import SearchHit
from tools.web.providers.provider_registry import SearchUnanswered

DANCE, WINTER = "https://bees.example/dance", "https://bees.example/winter"
NORWAY, COPY = "https://norway.example/winter", "https://copy.example/winter"


class SmallWeb:
    """A web that is searched and read without a network."""

    def __init__(self) -> None:
        self.texts = {
            DANCE: "Karl von Frisch described the waggle dance in 1927.",
            WINTER: "A winter cluster eats about 20 kilograms of honey.",
        }
        self.hits = {"waggle dance": [DANCE], "winter cluster honey": [WINTER]}
        self.is_down = False
        self.asked: list[str] = []
        self.fetched: list[str] = []

    async def search(self, _names: object, query: str, *_: object, **__: object) -> WebHits:
        """Return the hits of a query."""
        self.asked.append(query)
        if self.is_down:
            raise SearchUnanswered(ErrorCode.SEARCH_UNAVAILABLE, {"searxng": "it is down"}, hint="")
        urls = self.hits.get(query, [])
        return WebHits([SearchHit(url=url, title=url, snippet="") for url in urls])

    async def fetch(self, url: str, **_: object) -> FetchedPage:
        """Return the page at an address."""
        self.fetched.append(url)
        if url not in self.texts:
            raise Problem(ErrorCode.PAGE_UNAVAILABLE, "403", where=url)
        return FetchedPage(
            url=url,
            title=f"About {url.split('/')[2]}",
            text=self.texts[url],
            mime="text/html",
            metadata=NO_METADATA,
            links=[],
            sized=None,
        )

    def find_norway(self) -> None:
        """Have a page that was not there."""
        self.texts[NORWAY] = "A winter cluster in Norway eats about 40 kilograms of honey."
        self.hits["winter cluster honey"].append(NORWAY)
