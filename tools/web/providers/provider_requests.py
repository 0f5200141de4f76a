"""Send a request to a search provider, once more if it is busy, and read a limited answer."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from config.errors import ErrorCode, Problem
from models.faults import parse_retry_after
from tools.web.providers.hit_parsing import unreadable_answer
from tools.web.transport import PACKING, load_certificates, read_body

_SECONDS = 10.0
_MOST_BYTES = 5_000_000


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
        trust = load_certificates()
        async with httpx.AsyncClient(timeout=_SECONDS, verify=trust, trust_env=False) as client:
            client.auth, bare = _auth(httpx.URL(url))
            asked = client.build_request(method, bare, headers=headers, params=params, json=body)
            asked.headers["accept-encoding"] = PACKING
            response, data = await _send(client, asked)
            wait = _wait(response)
            if wait is not None:
                await anyio.sleep(wait)
                response, data = await _send(client, asked)
    except (TimeoutError, httpx.TimeoutException):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it is too slow") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it cannot be reached") from None
    if response.status_code != 200:
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"it answers {response.status_code}")
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise unreadable_answer()
    return answer


def _auth(url: httpx.URL) -> tuple[httpx.Auth, httpx.URL]:
    """Part a user and a password from an address: httpx logs addresses as they are."""
    if not url.userinfo:
        return httpx.Auth(), url
    return httpx.BasicAuth(url.username, url.password), url.copy_with(username="", password="")


async def _send(client: httpx.AsyncClient, request: httpx.Request) -> tuple[httpx.Response, bytes]:
    """Return a response with its body, which is read only if all is well."""
    with anyio.fail_after(_SECONDS):
        response = await client.send(request, stream=True)
        try:
            if response.status_code != 200:
                return response, b""
            return response, await read_body(response.aiter_raw(), response.headers, _MOST_BYTES)
        finally:
            await response.aclose()


def _wait(response: httpx.Response) -> float | None:
    """Return how long to wait before the same request may be sent again, or None for never."""
    if response.status_code != 429 and response.status_code < 500:
        return None
    seconds = parse_retry_after(response.headers.get("retry-after", ""))
    if seconds is None:
        # Two searches that were refused together must not come back together.
        return 0.5 + secrets.randbelow(1000) / 1000
    return seconds if seconds <= _SECONDS else None
