"""For operators: users and their tokens, what users may choose, and what all runs cost."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Caller, Name
from app.auth.caller_limits import CAPS, largest_cap
from app.auth.user import User
from app.auth.user_store import add_user, issue_token, list_users, remove_user, revoke_tokens
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.page_rendering import go_to, render_console_page
from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.run_metrics import list_run_spendings

router = make_console_router()

_MAX_RUNS = 100
_DAY = 86_400
TOKEN_DAYS = (0, 30, 90, 365)
"""How long a token may be valid; 0 stands for ever."""

_LISTS = ("models", "search", "mcp", "folders", "webhooks")


async def _check_operator(caller: Caller) -> User:
    """Return who sends a request, if they run the server.

    Raises:
        Problem: `operator_only`.
    """
    if not caller.is_operator:
        raise Problem(ErrorCode.OPERATOR_ONLY, "only operators see this page")
    return caller


Operator = Annotated[User, Depends(_check_operator)]
UserName = Annotated[Name, Path()]


@router.get("/operator")
async def show_operator_page(request: Request, operator: Operator) -> Response:
    """Show users, limits and costs."""
    del operator
    return await _render(request)


async def _render(
    request: Request, *, named: str = "", token: str = "", problem: Problem | None = None
) -> Response:
    chosen = settings()
    values = {
        "users": await list_users(),
        "has_tokens": chosen.auth == "users",
        "auth": chosen.auth,
        "caps": {name: largest_cap(name) for name in CAPS},
        "lists": {name: getattr(chosen, f"caller_{name}") for name in _LISTS},
        "runs": await list_run_spendings(_MAX_RUNS),
        "days": TOKEN_DAYS,
        "named": named,
        "token": token,
        "problem": problem,
    }
    status = problem.error.http_status if problem else 200
    return render_console_page(request, "operator", values, status)


@router.post("/operator/users")
async def add_console_user(request: Request, operator: Operator, form: CheckedForm) -> Response:
    """Add a user, and show their first token once."""
    del operator
    name = form.text("name")
    try:
        await add_user(name, is_operator=bool(form.text("operator")))
        token = await _issue(name, form.text("days"))
    except Problem as problem:
        return await _render(request, problem=problem)
    return await _render(request, named=name, token=token)


@router.post("/operator/users/{name}/token")
async def issue_console_token(
    request: Request, operator: Operator, name: UserName, form: CheckedForm
) -> Response:
    """Give a user another token, and show it once."""
    del operator
    return await _render(request, named=name, token=await _issue(name, form.text("days")))


async def _issue(name: str, days: str) -> str:
    chosen = int(days) if days.isdecimal() else 0
    seconds = chosen * _DAY if chosen in TOKEN_DAYS and chosen else None
    return await issue_token(name, seconds=seconds, label="console")


@router.post("/operator/tokens/{token}/revoke")
async def revoke_console_token(operator: Operator, token: UserName, form: CheckedForm) -> Response:
    """Make a token invalid, and end the sessions that began with it."""
    del operator, form
    await revoke_tokens(token)
    return go_to(f"{CONSOLE}/operator")


@router.post("/operator/users/{name}/remove")
async def remove_console_user(operator: Operator, name: UserName, form: CheckedForm) -> Response:
    """Remove a user; what they have stored stays."""
    del form
    if name.casefold() == operator.name.casefold():
        hint = "let another operator do it"
        raise Problem(ErrorCode.CHOICE_REFUSED, "you cannot remove yourself", hint=hint)
    await remove_user(name)
    return go_to(f"{CONSOLE}/operator")
