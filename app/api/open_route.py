"""Routes that answer without a login."""

from __future__ import annotations

from fastapi.routing import APIRoute
from starlette.types import ASGIApp

OPEN_PATHS = frozenset(["/api/health", "/api/ready"])
"""The paths of such routes whose answers are for everybody."""

OPEN_PREFIX = "/shared/"
"""What the paths of shared reports begin with; the rest is a secret."""


class OpenRoute(APIRoute):
    """A route around which LangGraph's server puts no login.

    It wraps what a route has as its application, so here that can be set only once.
    """

    @property
    def app(self) -> ASGIApp:
        """The application that answers."""
        return self._application

    @app.setter
    def app(self, application: ASGIApp) -> None:
        if not hasattr(self, "_application"):
            self._application = application
