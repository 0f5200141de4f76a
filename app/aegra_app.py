"""Aegra's application with Dossier's checkpoints, and Dossier's checks of requests first.

It can be imported only where Aegra is installed, and after `aegra_server.py` has configured it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aegra_api.core.auth_deps import require_auth
from aegra_api.core.database import db_manager
from aegra_api.main import CUSTOM_ROUTE_AUTH, app
from aegra_api.settings import settings
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.dependencies.utils import get_parameterless_sub_dependant
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.access import AccessMiddleware
from app.api.open_route import OpenRoute
from app.api.scrape_token import ScrapedRoute, has_scrape_token
from app.http_app import MaskingMiddleware
from app.problems import answer_refusal
from app.server import load_graph, open_server_checkpointer

HEALTH_PATHS = frozenset(["/live", "/ready", "/health"])
"""The only paths that a worker serves."""

_aegra_lifespan = app.router.lifespan_context


@asynccontextmanager
async def _lifespan(application: FastAPI) -> AsyncIterator[Any]:
    """Open the checkpointer before Aegra's first worker takes a run.

    Aegra's own saver does not mask secrets, detect damage, or delete what belongs to a thread.
    """
    if settings.worker.WORKER_COUNT:
        await asyncio.to_thread(load_graph)
    async with open_server_checkpointer() as saver:
        db_manager.get_checkpointer = lambda: saver
        async with _aegra_lifespan(application) as state:
            yield state


def _check_requests_first() -> None:
    """Put Dossier's checks of requests before Aegra's CORS, which allows every origin."""
    checks = (AccessMiddleware, MaskingMiddleware)
    first = [one for one in app.user_middleware if one.cls in checks]
    app.user_middleware[:] = first + [one for one in app.user_middleware if one not in first]


def _open_routes() -> None:
    """Remove Aegra's login from the routes that need none."""
    logins = {one.dependency for one in CUSTOM_ROUTE_AUTH}
    for route in app.routes:
        if isinstance(route, OpenRoute | ScrapedRoute):
            route.dependencies = [one for one in route.dependencies if one.dependency not in logins]
            needed = route.dependant.dependencies
            needed[:] = [one for one in needed if one.call not in logins]
        if isinstance(route, ScrapedRoute):
            login = Depends(_log_in_unless_scraped)
            path = route.path_format
            needed.insert(0, get_parameterless_sub_dependant(depends=login, path=path))


async def _log_in_unless_scraped(request: Request) -> None:
    if not has_scrape_token(request.headers):
        await require_auth(request)


def _add_documentation() -> None:
    """Serve the OpenAPI documentation of all routes, as LangGraph's server does."""
    app.openapi_url, app.docs_url = "/openapi.json", "/docs"
    app.setup()


def _answer_health_only(served: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["path"] not in HEALTH_PATHS
        answering = PlainTextResponse("This is a worker.", 404) if asked else served
        await answering(scope, receive, send)

    return answer


app.router.lifespan_context = _lifespan
_check_requests_first()
_open_routes()
_add_documentation()
app.exception_handlers[HTTPException] = answer_refusal

worker = _answer_health_only(app)
"""The application of a worker process: it answers health checks only."""
