"""The application with all routes of the API, which the server mounts beside LangGraph's."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import Lifespan

from app.api import (
    agents_md_routes,
    erasure_routes,
    health_routes,
    knowledge_routes,
    memory_event_routes,
    memory_routes,
    memory_transfer_routes,
    metrics_routes,
    quota_routes,
    report_file_routes,
    report_routes,
    run_routes,
    share_routes,
    upload_folder_routes,
    upload_routes,
    watch_routes,
)
from app.api.problem_answers import ProblemAnswer
from app.problems import EXCEPTION_HANDLERS
from app.web.console_router import CONSOLE_ROUTERS

ROUTERS = (
    report_file_routes.router,
    report_routes.router,
    share_routes.router,
    share_routes.open_router,
    run_routes.router,
    memory_routes.router,
    memory_routes.run_router,
    memory_event_routes.router,
    memory_transfer_routes.router,
    agents_md_routes.router,
    erasure_routes.router,
    upload_routes.router,
    upload_routes.limits_router,
    upload_folder_routes.router,
    knowledge_routes.router,
    watch_routes.router,
    health_routes.open_router,
    metrics_routes.router,
    quota_routes.router,
)
"""The routes of each noun."""


class _Api(FastAPI):
    """An application whose OpenAPI document has the schema of problems, which no route returns."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which LangGraph's server merges into its own."""
        document = super().openapi()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas[ProblemAnswer.__name__] = ProblemAnswer.model_json_schema()
        return document


def make_api(
    middleware: Sequence[Middleware] = (), lifespan: Lifespan[Any] | None = None
) -> FastAPI:
    """Return the application with all routes.

    LangGraph's server serves the documentation itself. It wraps each route in its login, and does
    not look into routers.
    """
    return _Api(
        title="Dossier",
        # Copies, because the server wraps the routes of this application in its login.
        routes=[copy(one) for router in (*ROUTERS, *CONSOLE_ROUTERS) for one in router.routes],
        middleware=list(middleware),
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=lifespan,
        openapi_url=None,
    )
