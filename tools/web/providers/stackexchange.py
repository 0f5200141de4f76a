"""Stack Exchange, questions and answers about programming."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import collect_hits, look_up, make_hit
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
    pause_provider,
    request_json,
)

_MOST_HITS = 50
_DAY = 86_400.0
_THROTTLED = 502
"""The `error_id` of those who ask too often, which comes with the status 400."""


@dataclass(frozen=True)
class StackExchange:
    """The interface of https://stackoverflow.com: 300 searches a day, 10,000 with a key."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="stackexchange",
        topics=("code",),
        url="https://api.stackexchange.com/2.3",
        url_variable="DOSSIER_STACKEXCHANGE_URL",
        key_variable="STACKEXCHANGE_KEY",
        # It blocks those who send more than 30.
        requests_per_second=5,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best questions and answers; see https://api.stackexchange.com/docs."""
        params: dict[str, str | int] = {"q": query, "site": "stackoverflow", "sort": "relevance"}
        params |= {"order": "desc", "pagesize": min(2 * limit, _MOST_HITS)}
        asked = ProviderQuery("/search/excerpts", params, {"key": self.access.open_key})
        try:
            answer = await request_json(self.access, asked)
        except ProviderRefused as refused:
            if look_up(parse_json(refused.body), "error_id") == _THROTTLED:
                raise ProviderThrottled("it was asked too often", 0.0) from None
            raise
        self._heed(answer)
        seen: dict[str, SearchHit] = {}
        for hit in collect_hits(answer.get("items"), _MOST_HITS, _read):
            # Of a question and its answers, the one that fits best stands for all.
            seen.setdefault(hit["url"], hit)
        return list(seen.values())[:limit]

    def _heed(self, answer: dict[str, Any]) -> None:
        """Leave it alone as long as a good answer asks for, and where nothing is left of a day."""
        backoff = answer.get("backoff")
        wait = float(backoff) if isinstance(backoff, int | float) else 0.0
        pause_provider(self.access, _DAY if answer.get("quota_remaining") == 0 else wait)


def _read(item: dict[str, Any]) -> SearchHit | None:
    number, body = item.get("question_id"), item.get("body")
    return make_hit(
        f"https://stackoverflow.com/questions/{number}" if isinstance(number, int) else "",
        item.get("title"),
        item.get("excerpt"),
        date=_day(item.get("last_activity_date") or item.get("creation_date")),
        site="Stack Overflow",
        kind="forum",
        text=body,
    )


def _day(seconds: object) -> str:
    if not isinstance(seconds, int) or not 0 < seconds < 4e9:
        return ""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
