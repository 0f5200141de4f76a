"""The user of a request, for the routes that Dossier adds to the server."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from app.auth.login_kind import LoginKind, find_login_kind
from app.auth.user import OPERATOR, User
from config.errors import ErrorCode, Problem
from config.settings import settings


def find_user(request: HTTPConnection) -> User:
    """Return the user of a request, named as `resolve_owner` names the user of a run.

    Raises:
        Problem: `token_missing` where a login is required and the request has none.
    """
    user = request.scope.get("user")
    if user is not None and user.identity:
        credentials = request.scope.get("auth")
        return User(str(user.identity), OPERATOR in getattr(credentials, "scopes", ()))
    if find_login_kind() is not LoginKind.TOKEN:
        hint = "set http.enable_custom_route_auth in langgraph.json, and log in"
        raise Problem(ErrorCode.TOKEN_MISSING, "this request has no login", hint=hint)
    return User(settings().user, is_operator=True)
