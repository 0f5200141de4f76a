"""DuckDuckGo, a search of the web without a key, by the library `ddgs`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import anyio
from anyio.to_thread import run_sync

from config.errors import ErrorCode, Problem
from text.regex import regex
from tools.web.providers.hit_parsing import make_hit, unreadable_answer
from tools.web.providers.provider import (
    ProviderAccess,
    ProviderDeclaration,
    ProviderThrottled,
    SearchHit,
    Topic,
)
from tools.web.providers.provider_requests import check_pause, pause_provider

_SECONDS = 10
_MOST_CHARS = 5_000_000
_PAUSE = 60.0
_REGION = "wt-wt"
_NEWS_URL = "https://duckduckgo.com"
_TOKEN = regex(r"""vqd=["']?([\d-]{5,100})""")
_BOTS = "anomaly-modal"
"""What stands in the page that asks whether one is a person; it may come with the status 200."""


@dataclass(frozen=True)
class DuckDuckGo:
    """The search of https://duckduckgo.com, whose page of results is read as people see it."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="duckduckgo",
        topics=("general", "news"),
        url="https://html.duckduckgo.com/html",
        url_variable="DOSSIER_DUCKDUCKGO_URL",
        # It states no limit, and blocks those who ask often.
        requests_per_second=0.5,
        concurrent_requests=1,
        requests_per_search=2,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; `ddgs` blocks, so it works in a thread that may be left."""
        from ddgs.exceptions import DDGSException, TimeoutException  # noqa: PLC0415
        from lxml.etree import LxmlError  # noqa: PLC0415

        check_pause(self.access)
        ask = self._ask_news if topic == "news" else self._ask
        try:
            with anyio.fail_after(2 * _SECONDS):
                hits = await run_sync(ask, query, abandon_on_cancel=True)
        except (TimeoutError, TimeoutException):
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it is too slow") from None
        except ProviderThrottled as throttled:
            pause_provider(self.access, throttled.wait)
            raise
        except DDGSException:
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it cannot be reached") from None
        except (ValueError, AttributeError, LxmlError):
            raise unreadable_answer() from None
        return [hit for hit in hits if hit][:limit]

    def _ask(self, query: str) -> list[SearchHit | None]:
        engine = _engine_classes()[0](timeout=_SECONDS)
        engine.search_url = f"{self.access.address}/"
        found = engine.search(query, region=_REGION) or []
        return [make_hit(one.href, one.title, one.body) for one in found]

    def _ask_news(self, query: str) -> list[SearchHit | None]:
        engine = _engine_classes()[1](timeout=_SECONDS)
        usual = self.access.address == self.declaration.url
        engine.home = _NEWS_URL if usual else self.access.address
        engine.search_url = f"{engine.home}/news.js"
        found = engine.search(query, region=_REGION) or []
        return [
            make_hit(one.url, one.title, one.body, date=one.date, site=one.source, kind="news")
            for one in found
        ]


def _read_page(response: Any) -> str:
    """Return a page, or raise why there is none: `ddgs` takes any refusal for no result."""
    page = str(response.text)
    if response.status_code in (202, 429) or _BOTS in page:
        raise ProviderThrottled("it was asked too often", _PAUSE)
    if response.status_code != 200:
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"it answers {response.status_code}")
    if len(page) > _MOST_CHARS:
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "its answer is too long")
    return page


@cache
def _engine_classes() -> tuple[type[Any], type[Any]]:
    """Return the engines of `ddgs` for pages and for news, which tell refusals apart."""
    from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415
    from ddgs.engines.duckduckgo_news import DuckduckgoNews  # noqa: PLC0415

    class Pages(Duckduckgo):
        """DuckDuckGo's page of results."""

        def request(self, *args: Any, **kwargs: Any) -> str:
            """Return the page, or raise why there is none."""
            return _read_page(self.http_client.request(*args, **kwargs))

    class News(DuckduckgoNews):
        """DuckDuckGo's news, which want a token from its first page."""

        home = _NEWS_URL

        def request(self, *args: Any, **kwargs: Any) -> str:
            """Return the answer, or raise why there is none."""
            return _read_page(self.http_client.request(*args, **kwargs))

        def _get_vqd(self, query: str) -> str:
            token = _TOKEN.search(self.request("GET", f"{self.home}/", params={"q": query}))
            if not token:
                raise unreadable_answer()
            return token[1]

    return Pages, News
