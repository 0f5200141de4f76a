"""How tests use the console without a browser: as a person at this machine, or as a user."""

from __future__ import annotations

import re
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.middleware import Middleware

from app.access import AccessMiddleware, AccessRules
from app.api.application import make_api
from app.auth.login import get_login
from app.web.console_gate import SIGN_IN
from app.web.console_router import CONSOLE_ROUTERS
from config.errors import Problem
from config.settings import settings

OWN_PAGE = {"sec-fetch-site": "same-origin"}
LOCAL = AccessRules(hosts=frozenset(), origins=frozenset(), open_to_pages=True)
"""The rules of a development server of one person, at this machine."""


class Authenticated:
    """Tells routes who sends a request, as LangGraph's server does where users log in."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and settings().has_users:
            with suppress(Problem):
                user = await get_login().identify(Headers(scope=scope))
                scope["user"] = SimpleNamespace(identity=user.name)
                scope["auth"] = SimpleNamespace(scopes=["operator"] if user.is_operator else [])
        await self.app(scope, receive, send)


FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def open_console(rules: AccessRules = LOCAL, headers: Any = OWN_PAGE) -> httpx.AsyncClient:
    """Return a browser without scripts, at the console of a server in this process."""
    app = make_api([Middleware(AccessMiddleware, rules=rules), Middleware(Authenticated)])
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    return httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8123", headers=dict(headers)
    )


def list_form_paths() -> list[str]:
    """Return the paths of all forms of the console but that of signing in, as its routes do."""
    routes = [one for router in CONSOLE_ROUTERS for one in router.routes]
    forms = [one.path for one in routes if isinstance(one, APIRoute) and "POST" in one.methods]
    return [path for path in forms if path != SIGN_IN]


def as_this_user() -> Any:
    """Let a connection within this process be one of this user, which the system cannot tell."""
    return patch("app.access._by_this_user", lambda scope: True)


async def form_token(browser: httpx.AsyncClient, page: str = "/console") -> str:
    """Return the token of the forms of a page."""
    found = FORM_TOKEN.search((await browser.get(page)).text)
    assert found, page
    return found[1]


async def send_form(
    browser: httpx.AsyncClient, path: str, page: str = "/console", **fields: Any
) -> httpx.Response:
    """Send a form as a page has it."""
    token = await form_token(browser, page)
    return await browser.post(path, data={"form_token": token, **fields})
