"""How tests call the API: in this process, as one user or another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx


class LoggedIn:
    """Stands for the login of a deployment, which names the user of each request."""

    def __init__(self, app: Any, name: str) -> None:
        self.app, self.name = app, name

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        user = SimpleNamespace(identity=self.name)
        await self.app({**scope, "user": user}, receive, send)


def connect(app: Any) -> httpx.AsyncClient:
    """Return a client of an application; a defect of it is an answer, not an error."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """Return the status of a refusal and its code."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]
