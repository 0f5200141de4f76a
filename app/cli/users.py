"""dossier users: who may use the server, and their tokens."""

from __future__ import annotations

import time
from typing import Any

from rich.table import Column

from app.auth.user_store import (
    StoredToken,
    StoredUser,
    add_user,
    find_identity,
    issue_token,
    list_users,
    remove_user,
    revoke_tokens,
)
from app.cli.dispatch import Invocation
from app.cli.durations import parse_duration
from app.cli.output import one_line, print_notice
from app.cli.table import local_time, make_table, truncate_cell
from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.cost_quotas import read_cost_quota, set_cost_limit
from runs.watches import pause_watches
from text.pluralization import pluralize

MAX_DOLLARS = 1_000_000

_ROLES = {False: "user", True: "operator"}


async def add_server_user(
    *, name: str, operator: bool, owns_local: bool, restore: bool, invocation: Invocation
) -> None:
    """Add a user, who has no token yet."""
    user = await add_user(name, is_operator=operator, owns_local=owns_local, restore=restore)
    if settings().auth != "users":
        print_notice("users cannot log in until the server has DOSSIER_AUTH=users")
    message = f"{name} was added. Give them a token with: dossier users token {name}"
    invocation.print_result(_user_as_dict(user), message)


async def print_users(*, invocation: Invocation) -> None:
    """List the users and their tokens, without the text of the tokens."""
    users = await list_users()
    rows = make_table("name", "role", "token", "expires", "last used", Column("label"))
    for user in users:
        for at, token in enumerate(user.tokens or (None,)):
            named = (user.name, _ROLES[user.is_operator]) if at == 0 else ("", "")
            rows.add_row(*map(one_line, named), *_token_cells(token))
    none = "No users yet: dossier users add NAME"
    invocation.print_result([_user_as_dict(user) for user in users], rows if users else none)


async def limit_user(*, name: str, cost_month: str, invocation: Invocation) -> None:
    """Set how much the runs of a user may cost in a month, or show it.

    Raises:
        Problem: `usage` or `user_not_found`.
    """
    # Users of an issuer are not stored here.
    is_stored = settings().auth in ("person", "users")
    identity = await find_identity(name) if is_stored else name
    if cost_month:
        await set_cost_limit(identity, _parse_dollars(cost_month))
    quota = await read_cost_quota(identity)
    bound = "no limit" if quota.limit is None else f"${quota.limit:,.2f} a month"
    left = "" if quota.left is None else f", ${quota.left:,.2f} left"
    line = f"{name}: {bound}; ${quota.spent:,.2f} spent this month{left}."
    invocation.print_result({"user": name, **quota._asdict(), "left": quota.left}, line)


def _parse_dollars(written: str) -> float | None:
    if written == "default":
        return None
    try:
        dollars = float(written)
    except ValueError:
        dollars = -1
    if not 0 <= dollars <= MAX_DOLLARS:
        what, hint = f"{written!r} is no amount", "a number of US dollars, or default"
        raise Problem(ErrorCode.USAGE, what, where="--cost-month", hint=hint)
    return dollars


async def print_new_token(*, name: str, expires: str, label: str, invocation: Invocation) -> None:
    """Print a new token of a user, which is shown this once."""
    seconds = parse_duration(expires, "--expires") if expires else None
    until = None if seconds is None else time.time() + seconds
    token = await issue_token(name, seconds=seconds, label=label)
    invocation.print_result({"user": name, "token": token, "expires": until}, token)


async def revoke_token(*, named: str, invocation: Invocation) -> None:
    """Make a token, or all tokens of a user, invalid."""
    ids = await revoke_tokens(named)
    message = f"{pluralize(len(ids), 'token')} revoked, invalid within a few seconds."
    invocation.print_result({"revoked": ids}, message)


async def remove_server_user(*, name: str, invocation: Invocation) -> None:
    """Remove a user and their tokens, and pause their watches; what they have stored stays."""
    identity = await find_identity(name)
    gone = await remove_user(name)
    paused = await pause_watches(identity)
    message = f"{name} was removed, with {pluralize(gone, 'token')}. What they have stored stays."
    if paused:
        message += f" Paused: {pluralize(paused, 'watch', 'watches')}."
    invocation.print_result({"user": name, "revoked": gone, "paused": paused}, message)


def _token_cells(token: StoredToken | None) -> tuple[Any, ...]:
    if token is None:
        return ("none", "", "", "")
    expires = f"{local_time(token.expires):%Y-%m-%d}" if token.expires else "never"
    used = f"{local_time(token.used):%Y-%m-%d %H:00}" if token.used else "never"
    return (token.id, expires, used, truncate_cell(token.label))


def _user_as_dict(user: StoredUser) -> dict[str, Any]:
    about = {"name": user.name, "role": _ROLES[user.is_operator], "identity": user.identity}
    return {**about, "created": user.created, "tokens": [one._asdict() for one in user.tokens]}
