"""DuckDuckGo, a search of the web without a key, by the library `ddgs`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import anyio
from anyio.to_thread import run_sync

from config.errors import ErrorCode, Problem
from tools.web.providers.hit_parsing import make_hit
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
_BOTS = "anomaly-modal"
"""What stands in the page that asks whether one is a person; it may come with the status 200."""


@dataclass(frozen=True)
class DuckDuckGo:
    """The search of https://duckduckgo.com, whose page of results is read as people see it."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="duckduckgo",
        topics=("general",),
        url="https://html.duckduckgo.com/html",
        url_variable="DOSSIER_DUCKDUCKGO_URL",
        # It states no limit, and blocks those who ask often.
        requests_per_second=0.5,
        concurrent_requests=1,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best hits; `ddgs` blocks, so it works in a thread that may be left."""
        from ddgs.exceptions import DDGSException, TimeoutException  # noqa: PLC0415

        check_pause(self.access)
        try:
            with anyio.fail_after(2 * _SECONDS):
                found = await run_sync(self._ask, query, abandon_on_cancel=True)
        except (TimeoutError, TimeoutException):
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it is too slow") from None
        except ProviderThrottled as throttled:
            pause_provider(self.access, throttled.wait)
            raise
        except DDGSException:
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it cannot be reached") from None
        hits = (make_hit(one.href, one.title, one.body) for one in found)
        return [hit for hit in hits if hit][:limit]

    def _ask(self, query: str) -> list[Any]:
        engine = _engine_class()(timeout=_SECONDS)
        engine.search_url = f"{self.access.address}/"
        return list(engine.search(query, region="wt-wt") or [])


@cache
def _engine_class() -> type[Any]:
    """Return the engine of `ddgs` for DuckDuckGo, with answers that are errors told apart.

    The original returns no results for them, as for a query that finds nothing.
    """
    from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415

    class Engine(Duckduckgo):
        """DuckDuckGo's page of results."""

        def request(self, *args: Any, **kwargs: Any) -> str:
            """Return the page, or raise why there is none."""
            response = self.http_client.request(*args, **kwargs)
            page = str(response.text)
            if response.status_code in (202, 429) or _BOTS in page:
                raise ProviderThrottled("it was asked too often", _PAUSE)
            if response.status_code != 200:
                what = f"it answers {response.status_code}"
                raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what)
            if len(page) > _MOST_CHARS:
                raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "its answer is too long")
            return page

    return Engine
