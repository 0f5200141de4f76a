"""The path of a request within the application."""

from __future__ import annotations

from starlette.types import Scope


def get_route_path(scope: Scope) -> str:
    """Return the path that routes match: without the prefix under which a server mounts them."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))
