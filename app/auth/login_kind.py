"""How clients log in to this server: with its one token, as users, or as a deployment decides."""

from __future__ import annotations

import json
import os
from enum import Enum

from config.settings import settings

OWN_AUTH = "app.auth.access_handlers:auth"
"""The `auth` that the `langgraph.json` of Dossier names."""


class LoginKind(Enum):
    """The kinds of logins that a server can have."""

    TOKEN = "token"  # noqa: S105 - the name of a kind
    """One person, with the token of the data folder."""
    USERS = "users"
    """Users, as `DOSSIER_AUTH` says."""
    DEPLOYMENT = "deployment"
    """By a deployment's own means: another `auth` in `langgraph.json`, or LangSmith's."""


def find_login_kind() -> LoginKind:
    """Return how clients log in.

    An `auth` of Dossier's own replaces LangSmith's, as in the server itself.
    """
    configured = os.environ.get("LANGGRAPH_AUTH", "")
    if configured and _auth_path(configured) != OWN_AUTH:
        return LoginKind.DEPLOYMENT
    if settings().has_users:
        return LoginKind.USERS
    langsmith = os.environ.get("LANGGRAPH_AUTH_TYPE", "noop") != "noop"
    return LoginKind.DEPLOYMENT if langsmith and not configured else LoginKind.TOKEN


def _auth_path(configured: str) -> str:
    """Return the path of the `auth` that a server was started with, from its JSON."""
    try:
        return str(json.loads(configured).get("path", ""))
    except (ValueError, AttributeError):
        return configured
