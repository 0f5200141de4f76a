"""The handlers by which LangGraph's server authenticates and authorizes each request.

Where users log in, threads, runs and crons have an owner in their metadata, and items of the store
are in the namespaces of their owner. Everybody reads assistants; operators change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from langgraph_sdk import Auth

from app.auth.caller_limits import check_run_request
from app.auth.login import check_active, get_login
from app.auth.user import OPERATOR, User
from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.cost_quotas import check_cost_quota

OWNER = "owner"
"""The metadata key of the owner; a value that a client sends is overwritten."""

auth = Auth()
"""The object that `langgraph.json` names."""

Filter = dict[str, str]


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any]) -> Auth.types.MinimalUserDict:
    """Return the user of a request.

    Servers pass the headers as bytes or as text.

    Raises:
        HTTPException: With the status of the problem, such as 401 without a valid token.
    """
    named = {_to_text(name).lower(): _to_text(value) for name, value in headers.items()}
    try:
        user = await get_login().identify(named)
    except Problem as problem:
        number = problem.error.http_status
        raise Auth.exceptions.HTTPException(number, detail=str(problem)) from problem
    return {
        "identity": user.name,
        "display_name": user.name,
        "is_authenticated": True,
        "permissions": [OPERATOR] if user.is_operator else [],
    }


def _to_text(part: Any) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else str(part)


@auth.on
async def deny(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Where users log in, deny whatever no other handler allows."""
    del ctx, value
    return not settings().has_users


@auth.on.threads
async def own_thread(ctx: Auth.types.AuthContext, value: Any) -> Filter | None:
    """Give a user full access to their own threads and runs, and hide all others.

    Raises:
        Problem: `token_missing`.
    """
    return _own(ctx, value)


@auth.on.threads.create_run
async def own_run(ctx: Auth.types.AuthContext, value: Any) -> Filter | None:
    """Let a user run a graph on their own threads, with choices that the operator allows.

    Raises:
        Problem: `token_missing`, `token_wrong` for a removed user, `cost_quota`, or a problem with
            the choices.
    """
    own = _own(ctx, value)
    if own is not None:
        await check_active(own[OWNER])
        check_run_request(value.get("kwargs") or {}, own[OWNER])
        await check_cost_quota(own[OWNER])
    return own


@auth.on.crons
async def own_cron(ctx: Auth.types.AuthContext, value: Any) -> Filter | None:
    """Give a user full access to their own crons, and hide all others.

    Raises:
        Problem: `token_missing`, or a problem with the choices of the runs.
    """
    own = _own(ctx, value)
    if own is not None:
        check_run_request(value.get("payload") or {}, own[OWNER])
    return own


@auth.on.assistants
async def shared_assistant(ctx: Auth.types.AuthContext, value: Any) -> None:
    """Let everybody read assistants, and operators change them.

    Raises:
        Problem: `token_missing` or `operator_only`.
    """
    del value
    user = _user(ctx)
    if user and ctx.action not in ("read", "search") and not user.is_operator:
        raise Problem(ErrorCode.OPERATOR_ONLY, "only operators change assistants")


@auth.on.store
async def own_namespace(ctx: Auth.types.AuthContext, value: Any) -> None:
    """Put every namespace below that of the user; a client may include that prefix or not.

    Raises:
        Problem: `token_missing`.
    """
    user = _user(ctx)
    if user is None:
        return
    label = quote(user.name, safe="").replace(".", "%2E")
    named = tuple(value.get("namespace") or ())
    value["namespace"] = named if named[:1] == (label,) else (label, *named)


def _own(ctx: Auth.types.AuthContext, value: Any) -> Filter | None:
    """Return the filter for what a user owns, and set the owner in the metadata that is stored."""
    user = _user(ctx)
    if user is None:
        return None
    if ctx.action in ("create", "create_run") and value.get("metadata") is None:
        value["metadata"] = {}
    if isinstance(value.get("metadata"), dict) and ctx.action != "search":
        value["metadata"][OWNER] = user.name
    return {OWNER: user.name}


def _user(ctx: Auth.types.AuthContext) -> User | None:
    """Return the user of a request; `None` where the server is one person's.

    Raises:
        Problem: `token_missing`.
    """
    if not settings().has_users:
        return None
    if not ctx.user.identity:
        raise Problem(ErrorCode.TOKEN_MISSING, "this request has no user")
    return User(str(ctx.user.identity), OPERATOR in ctx.permissions)
