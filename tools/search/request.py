"""Ask a search service over HTTP, with care for its keys, its time and its size."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
import httpx

from config.errors import Problem
from runs.faults import retry_after
from tools.search.base import unreadable
from tools.web.body import PACKING, read_body
from tools.web.trust import certificates

_SECONDS = 10.0
_MOST = 5_000_000


class _Answer(NamedTuple):
    status: int
    retry_after: str
    body: bytes


async def request_json(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str | int] | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Send a request and return the JSON object that comes back.

    It is sent a second time if the server is busy or broken and wants no more than ten seconds.

    Raises:
        Problem: `search_unavailable`; neither address nor headers are told, they may hold keys.
    """
    try:
        trust = await certificates()
        async with httpx.AsyncClient(timeout=_SECONDS, verify=trust, trust_env=False) as client:
            client.auth, bare = _auth(httpx.URL(url))
            asked = client.build_request(method, bare, headers=headers, params=params, json=body)
            asked.headers["accept-encoding"] = PACKING
            answer = await _send(client, asked)
            wait = _wait(answer)
            if wait is not None:
                await anyio.sleep(wait)
                answer = await _send(client, asked)
    except (TimeoutError, httpx.TimeoutException):
        raise Problem("search_unavailable", "it is too slow") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        raise Problem("search_unavailable", "it cannot be reached") from None
    if answer.status != 200:
        raise Problem("search_unavailable", f"it answers {answer.status}")
    return _object(answer.body)


def _auth(url: httpx.URL) -> tuple[httpx.Auth, httpx.URL]:
    """Part a user and a password from an address: httpx logs addresses as they are."""
    if not url.userinfo:
        return httpx.Auth(), url
    return httpx.BasicAuth(url.username, url.password), url.copy_with(username="", password="")


async def _send(client: httpx.AsyncClient, request: httpx.Request) -> _Answer:
    with anyio.fail_after(_SECONDS):
        response = await client.send(request, stream=True)
        try:
            ok = response.status_code == 200
            data = await read_body(response.aiter_raw(), response.headers, _MOST) if ok else b""
        finally:
            await response.aclose()
    return _Answer(response.status_code, response.headers.get("retry-after", ""), data)


def _wait(answer: _Answer) -> float | None:
    """Return how long to wait before the same request may be sent again, or None for never."""
    if answer.status != 429 and answer.status < 500:
        return None
    seconds = retry_after(answer.retry_after)
    if seconds is None:
        # Two searches that were refused together must not come back together.
        return 0.5 + secrets.randbelow(1000) / 1000
    return seconds if seconds <= _SECONDS else None


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise unreadable()
    return found
