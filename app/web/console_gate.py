"""Let people into the console: by the cookie of their session, or as the person of this machine.

A browser sends `Sec-Fetch-Site` with every request to a server of its own machine, and no page can
choose it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.route_path import get_route_path
from app.server_token import load_server_token
from app.web.sign_in_sessions import find_session_token
from config.errors import ErrorCode, Problem

CONSOLE = "/console"
SIGN_IN = f"{CONSOLE}/sign-in"
STATIC = f"{CONSOLE}/static/"

SESSION_COOKIE = "dossier_session"
VISIT = "dossier.console"
"""The key in the scope of a request that holds its `ConsoleVisit`."""

_OWN_PAGES = ("same-origin", "none")
"""The values of `Sec-Fetch-Site` for the server's own pages and for typed addresses."""


class ConsoleVisit(NamedTuple):
    """How a request to the console is identified."""

    session: str
    """The secret of its session; empty for the person on this machine."""
    key: str
    """The key from which its form tokens are derived; no other page can learn them."""


def is_console_path(scope: Scope) -> bool:
    """Say whether a request is for the console."""
    path = get_route_path(scope)
    return scope["type"] == "http" and (path == CONSOLE or path.startswith(f"{CONSOLE}/"))


def is_open_console_path(scope: Scope) -> bool:
    """Say whether a request is for a part of the console that needs no login."""
    path = get_route_path(scope)
    return scope["type"] == "http" and (path == SIGN_IN or path.startswith(STATIC))


def is_own_page(scope: Scope) -> bool:
    """Say whether a request to the console comes from one of its pages, or was typed."""
    site = Headers(scope=scope).get("sec-fetch-site", "")
    return is_console_path(scope) and site in _OWN_PAGES


async def enter_console(scope: Scope) -> Scope:
    """Return a request to the console with the token of its session, if it has one.

    Raises:
        Problem: `origin_refused` for a request of any other page.
    """
    headers = Headers(scope=scope)
    _check_origin(headers)
    secret = _read_cookie(headers.get("cookie", ""))
    token = await find_session_token(secret)
    visit = ConsoleVisit(secret if token else "", secret if token else await _own_key())
    added = [(b"x-api-key", token.encode())] if token and "x-api-key" not in headers else []
    return {**scope, VISIT: visit, "headers": [*scope["headers"], *added]}


def _check_origin(headers: Headers) -> None:
    """Refuse requests from pages of other origins, even those that may use the API."""
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        what = "only pages of the server itself may use its console"
        hint = "let the proxy before the server pass on the Host header"
        raise Problem(ErrorCode.ORIGIN_REFUSED, what, where=origin, hint=hint)


def _read_cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(SESSION_COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _own_key() -> str:
    return await asyncio.to_thread(load_server_token)


def make_form_token(visit: ConsoleVisit, user: str) -> str:
    """Return the token that a form must send back to prove that it is the console's."""
    return hmac.new(visit.key.encode(), f"form:{user}".encode(), hashlib.sha256).hexdigest()


def is_form_token(token: str, visit: ConsoleVisit, user: str) -> bool:
    """Say whether a form sent back the right token."""
    return hmac.compare_digest(token.encode(), make_form_token(visit, user).encode())


def check_next_path(path: str) -> str:
    """Return a path if it is in the console; otherwise the console's first page."""
    parts = urlsplit(path)
    plain = path.isascii() and path.isprintable() and "\\" not in path and "//" not in parts.path
    inside = parts.path == CONSOLE or parts.path.startswith(f"{CONSOLE}/")
    if plain and inside and ".." not in parts.path and not (parts.scheme or parts.netloc):
        return path
    return CONSOLE


async def send_to_sign_in(scope: Scope, receive: Receive, send: Send) -> None:
    """Redirect a request without a login to the sign-in page."""
    headers = Headers(scope=scope)
    asked = get_route_path(scope) if scope["method"] == "GET" else CONSOLE
    query = scope.get("query_string", b"").decode("latin-1")
    wanted = f"{asked}?{query}" if query and asked != CONSOLE else asked
    where = f"{SIGN_IN}?next={quote(wanted, safe='/')}"
    answer: ASGIApp = RedirectResponse(where, 303, {"Cache-Control": "no-store"})
    if "hx-request" in headers:
        answer = Response(status_code=401, headers={"HX-Redirect": SIGN_IN})
    await answer(scope, receive, send)
