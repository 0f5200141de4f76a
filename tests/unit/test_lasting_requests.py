"""What goes on when its token is revoked is ended: streams, websockets, requests that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.access import AccessMiddleware, AccessRules
from app.auth import lasting_requests
from app.auth.login import Login
from app.auth.user import User
from config.errors import ErrorCode, Problem

RULES = AccessRules(hosts=None, origins=None, open_to_pages=False, has_users=True)


class _Revocable(Login):
    """Lets everybody in until something is wrong with the token."""

    wrong: ErrorCode | None = None

    async def identify(self, headers: Mapping[str, str]) -> User:
        if self.wrong is not None:
            raise Problem(self.wrong, "it is so")
        return User(headers["x-api-key"])


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> _Revocable:
    made = _Revocable()
    for module in ("app.access", "app.auth.lasting_requests"):
        monkeypatch.setattr(f"{module}.get_login", lambda: made)
    monkeypatch.setattr(lasting_requests, "CHECK_SECONDS", 0.01)
    return made


async def ask(application: Any, kind: str = "http", then: Any = None) -> list[Any]:
    """Send a request; return what is answered until the application ends, or is ended."""
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)
        if then is not None:
            then()

    scope: dict[str, Any] = {"type": kind, "method": "GET", "path": "/threads", "extensions": {}}
    scope |= {"headers": [(b"host", b"here"), (b"x-api-key", b"ada")]}
    async with asyncio.timeout(2):
        await AccessMiddleware(application, RULES)(scope, receive, send)
    return sent


async def stream(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
    await receive()


@pytest.mark.parametrize("wrong", [ErrorCode.TOKEN_WRONG, ErrorCode.TOKEN_EXPIRED])
async def test_a_stream_is_broken_off_when_its_token_is_revoked(
    login: _Revocable, wrong: ErrorCode, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lasting_requests, "EXPIRED_SECONDS", 0.05)

    def revoke() -> None:
        login.wrong = wrong

    assert [one["type"] for one in await ask(stream, then=revoke)] == ["http.response.start"]
    login.wrong = None
    heard = await ask(stream, "websocket", then=revoke)
    assert heard[1:] == [{"type": "websocket.close", "code": 1008}]


async def test_a_request_that_waits_is_refused_when_its_token_is_revoked(login: _Revocable):
    async def wait(*_: Any) -> None:
        login.wrong = ErrorCode.TOKEN_WRONG
        await asyncio.Event().wait()

    start, body = await ask(wait)

    assert start["status"] == 401
    assert b"token_wrong" in body["body"]


@pytest.mark.parametrize("wrong", [None, ErrorCode.TOKEN_EXPIRED, ErrorCode.LOGIN_UNAVAILABLE])
async def test_what_was_begun_goes_on_when_a_token_expires_or_nobody_can_tell(
    login: _Revocable, wrong: ErrorCode | None
):
    async def work(scope: Any, receive: Any, send: Any) -> None:
        login.wrong = wrong
        await asyncio.sleep(0.1)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    assert [one["status"] for one in await ask(work)] == [200]


async def test_a_request_that_runs_out_of_its_own_time_fails_as_before(login: _Revocable):
    async def late(*_: Any) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await ask(late)
    assert login.wrong is None
