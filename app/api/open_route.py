"""Routes that answer without a login."""

from __future__ import annotations

from fastapi.routing import APIRoute
from starlette.types import ASGIApp

OPEN_PATHS = frozenset(["/api/health", "/api/ready"])
"""The paths of routes whose answers are public."""

OPEN_PREFIX = "/shared/"
"""The prefix of the paths of shared reports; the rest of the path is a secret."""


class OpenRoute(APIRoute):
    """A route that LangGraph's server does not wrap in its login.

    The server would replace `app` of a route with a wrapper, so here `app` can be set only once.
    """

    @property
    def app(self) -> ASGIApp:
        """The application that answers."""
        return self._application

    @app.setter
    def app(self, application: ASGIApp) -> None:
        if not hasattr(self, "_application"):
            self._application = application
