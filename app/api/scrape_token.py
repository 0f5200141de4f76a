"""The token with which a monitoring system reads the metrics, and nothing else."""

from __future__ import annotations

import secrets

from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from config.settings import settings

METRICS_PATH = "/api/metrics"


class ScrapedRoute(APIRoute):
    """A route that needs either the scrape token or a login."""

    def __init__(self, path: str, endpoint: object, **more: object) -> None:
        super().__init__(path, endpoint, **more)  # type: ignore[arg-type]
        # LangGraph's server wraps `app` in its login later.
        self.bare = self.app

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with the scrape token at once, and any other after its login."""
        if scope["method"] in (self.methods or ()) and has_scrape_token(Headers(scope=scope)):
            await self.bare(scope, receive, send)
        else:
            await super().handle(scope, receive, send)


def has_scrape_token(headers: Headers) -> bool:
    """Say whether a request has the scrape token."""
    kind, _, sent = headers.get("authorization", "").partition(" ")
    right = settings().metrics_token
    return bool(right) and kind.lower() == "bearer" and _is_same(sent.strip(), right)


def _is_same(sent: str, right: str) -> bool:
    return secrets.compare_digest(sent.encode(errors="replace"), right.encode())
