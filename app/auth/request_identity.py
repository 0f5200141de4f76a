"""Find who sends a request."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import HTTPConnection

from app.access import has_own_login
from config.errors import ErrorCode, Problem
from config.settings import settings


class User(NamedTuple):
    """Who sends a request."""

    name: str
    is_operator: bool
    """Whether they run the server, and may see figures of everybody's runs."""


def find_user(request: HTTPConnection) -> User:
    """Return the user whose things a request may see, as `resolve_owner` names the user of a run.

    Raises:
        Problem: `token_missing` where a login is required and the request has none.
    """
    user = request.scope.get("user")
    if user is not None and user.identity:
        return User(str(user.identity), is_operator=not has_own_login())
    if has_own_login():
        hint = "set http.enable_custom_route_auth in langgraph.json, and log in"
        raise Problem(ErrorCode.TOKEN_MISSING, "this request has no login", hint=hint)
    return User(settings().user, is_operator=True)
