"""Sign in at the console with a token, and out."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from app.api.open_route import OpenRoute
from app.auth.login import get_login
from app.auth.login_kind import LoginKind, find_login_kind
from app.server_token import load_server_token
from app.web.console_gate import CONSOLE, SESSION_COOKIE, SIGN_IN, check_next_path
from app.web.console_route import CheckedForm, ConsoleRoute, make_console_router
from app.web.console_words import LANGUAGE_COOKIE, LANGUAGES
from app.web.page_rendering import get_visit, go_to, render_console_page
from app.web.sign_in_sessions import SESSION_SECONDS, close_console_session, open_console_session
from config.errors import ErrorCode, Problem

MAX_TOKEN_CHARS = 16_384

_MAX_SIGN_IN_BYTES = 100_000
"""The largest form of those who are not signed in: a token, and where to go."""

_YEAR = 365 * 86_400


class _OpenConsoleRoute(OpenRoute, ConsoleRoute):
    """A page for those who are not signed in."""


def _make_open_router(route: type[APIRoute]) -> APIRouter:
    return APIRouter(route_class=route, include_in_schema=False, max_body_size=_MAX_SIGN_IN_BYTES)


open_router = _make_open_router(_OpenConsoleRoute)
router = make_console_router()


@open_router.get(SIGN_IN)
async def show_sign_in(request: Request, next: str = CONSOLE) -> Response:
    """Show the page where one signs in."""
    return _render_sign_in(request, check_next_path(next))


@open_router.post(SIGN_IN)
async def sign_in(request: Request) -> Response:
    """Begin a session of the owner of a token."""
    fields = await request.form(max_files=0, max_fields=10)
    token, path = str(fields.get("token", "")).strip(), str(fields.get("next", ""))
    next_path = check_next_path(path)
    try:
        await _check_token(token)
    except Problem as problem:
        if problem.error.http_status >= 500:
            raise
        return _render_sign_in(request, next_path, problem)
    answer = go_to(next_path)
    set_console_cookie(
        request, answer, SESSION_COOKIE, await open_console_session(token), SESSION_SECONDS
    )
    return answer


async def _check_token(token: str) -> None:
    """Make sure that a token is somebody's.

    Raises:
        Problem: `token_missing`, `token_wrong` or `token_expired`.
    """
    if not token or len(token) > MAX_TOKEN_CHARS:
        raise Problem(ErrorCode.TOKEN_MISSING, "there is no token")
    kind = find_login_kind()
    if kind is LoginKind.USERS:
        await get_login().identify({"x-api-key": token})
        return
    right = await asyncio.to_thread(load_server_token)
    if kind is LoginKind.DEPLOYMENT or not secrets.compare_digest(token.encode(), right.encode()):
        raise Problem(ErrorCode.TOKEN_WRONG, "this is not the token of this server")


def _render_sign_in(request: Request, path: str, problem: Problem | None = None) -> Response:
    kind = find_login_kind()
    values: dict[str, Any] = {"next": path, "problem": problem, "kind": kind.value}
    values["had_session"] = SESSION_COOKIE in request.cookies
    return render_console_page(
        request, "sign_in", values, problem.error.http_status if problem else 200
    )


@router.post("/sign-out")
async def sign_out(request: Request, form: CheckedForm) -> Response:
    """End the session."""
    del form
    if session := get_visit(request).session:
        await close_console_session(session)
    answer = go_to(SIGN_IN)
    answer.delete_cookie(SESSION_COOKIE, path=CONSOLE)
    return answer


@router.post("/language")
async def choose_console_language(request: Request, form: CheckedForm) -> Response:
    """Keep in which language a person reads the console."""
    answer = go_to(check_next_path(form.text("next")))
    if form.text("language") in LANGUAGES:
        set_console_cookie(request, answer, LANGUAGE_COOKIE, form.text("language"), _YEAR)
    return answer


def set_console_cookie(
    request: Request, answer: Response, name: str, value: str, seconds: int
) -> None:
    """Set a cookie that no script reads, and that is sent to the console alone."""
    schemes = {request.url.scheme, request.headers.get("x-forwarded-proto", "")}
    answer.set_cookie(
        name,
        value,
        max_age=seconds,
        path=CONSOLE,
        secure="https" in schemes,
        httponly=True,
        samesite="lax",
    )
