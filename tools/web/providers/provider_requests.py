"""Send a request to a search provider, once more if it is busy, and read a limited answer."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from models.faults import parse_retry_after
from tools.web.providers.hit_parsing import unreadable_answer
from tools.web.providers.provider import ProviderAccess, ProviderThrottled
from tools.web.transport import PACKING, load_certificates, read_body

_SECONDS = 10.0
_MOST_BYTES = 5_000_000
_MOST_ERROR_BYTES = 20_000
_LONGEST_PAUSE = 3600.0

_REASONS = {
    400: "it does not understand what it was asked",
    401: "it does not accept the key",
    402: "the account has no credit left",
    403: "it refuses to answer",
    404: "nothing is at its address",
    422: "it does not understand what it was asked",
    429: "it was asked too often",
    432: "the limit of the plan is reached",
    433: "the limit of the plan is reached",
}
"""What a status of HTTP means; 432 and 433 are Tavily's."""

_pauses: Resource[RecentCache[str, float]] = Resource(lambda: RecentCache(100))
"""Until when providers want to be left alone, by their addresses, in monotonic seconds."""


@dataclass(frozen=True)
class ProviderQuery:
    """What is sent to a provider; with a `body` it is posted as JSON, else it is fetched."""

    path: str = ""
    """What follows the address of the provider."""
    params: Mapping[str, str | int] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Parameters that no log may show; empty ones are left out."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] | None = None


class ProviderRefused(Problem):
    """A provider answered with a status that is no success."""

    def __init__(self, status: int, body: bytes) -> None:
        reason = f" ({_REASONS[status]})" if status in _REASONS else ""
        super().__init__(ErrorCode.SEARCH_UNAVAILABLE, f"it answers {status}{reason}")
        self.status = status
        self.body = body
        """The beginning of what it said, which may repeat the key: never shown."""


async def request_json(access: ProviderAccess, query: ProviderQuery) -> dict[str, Any]:
    """Return the JSON object that a provider answers.

    Raises:
        ProviderThrottled, ProviderRefused, Problem: As `request_body`.
    """
    answer = parse_json(await request_body(access, query))
    if not isinstance(answer, dict):
        raise unreadable_answer()
    return answer


def parse_json(data: bytes) -> Any:
    """Return what JSON says; None if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


async def request_body(access: ProviderAccess, query: ProviderQuery) -> bytes:
    """Return the body that a provider answers.

    It is asked a second time if it is busy or broken and wants no more than ten seconds. One that
    has named a longer time is not asked before that has passed.

    Raises:
        ProviderThrottled: `search_unavailable` if it wants to be left alone.
        ProviderRefused: `search_unavailable` for every other status but 200.
        Problem: `search_unavailable` if it cannot be reached, is too slow or says too much; neither
            address nor headers are told, they may hold keys.
    """
    check_pause(access)
    try:
        response, data = await _ask_twice(access, query)
    except (TimeoutError, httpx.TimeoutException):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it is too slow") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "it cannot be reached") from None
    if response.status_code == 200:
        return data
    refused = ProviderRefused(response.status_code, data)
    wait = _named_wait(response)
    if response.status_code == 429 or (response.status_code in (403, 503) and wait):
        pause_provider(access, wait or 0.0)
        raise ProviderThrottled(refused.what, wait or 0.0)
    raise refused


def pause_provider(access: ProviderAccess, seconds: float) -> None:
    """Leave a provider alone for a while, as it has asked for; an hour at most."""
    if seconds > 0:
        until = time.monotonic() + min(seconds, _LONGEST_PAUSE)
        _pauses.get()[access.address] = until


def check_pause(access: ProviderAccess) -> None:
    """Make sure that a provider does not want to be left alone.

    Raises:
        ProviderThrottled: `search_unavailable`.
    """
    left = _pauses.get().get(access.address, 0.0) - time.monotonic()
    if left > 0:
        what = f"it wants to be left alone for {left:.0f} more seconds"
        raise ProviderThrottled(what, left)


async def _ask_twice(access: ProviderAccess, query: ProviderQuery) -> tuple[httpx.Response, bytes]:
    trust = load_certificates()
    inner = httpx.AsyncHTTPTransport(verify=trust, trust_env=False)
    hidden = {name: value for name, value in query.secret_params.items() if value}
    async with httpx.AsyncClient(
        timeout=_SECONDS, transport=_HidingTransport(inner, hidden), trust_env=False
    ) as client:
        client.auth, bare = _auth(httpx.URL(f"{access.address}{query.path}"))
        headers = {"user-agent": access.user_agent, **query.headers, "accept-encoding": PACKING}
        method = "GET" if query.body is None else "POST"
        asked = client.build_request(
            method, bare, headers=headers, params=query.params or None, json=query.body
        )
        response, data = await _send(client, asked)
        wait = _wait(response)
        if wait is not None:
            await anyio.sleep(wait)
            response, data = await _send(client, asked)
    return response, data


class _HidingTransport(httpx.AsyncBaseTransport):
    """Adds keys to the address of a request behind httpx's log, which has addresses as they are."""

    def __init__(self, inner: httpx.AsyncBaseTransport, params: Mapping[str, str]) -> None:
        self._inner, self._params = inner, params

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request with the keys."""
        if self._params:
            request = httpx.Request(
                request.method,
                request.url.copy_merge_params(self._params),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _auth(url: httpx.URL) -> tuple[httpx.Auth, httpx.URL]:
    """Part a user and a password from an address: httpx logs addresses as they are."""
    if not url.userinfo:
        return httpx.Auth(), url
    return httpx.BasicAuth(url.username, url.password), url.copy_with(username="", password="")


async def _send(client: httpx.AsyncClient, request: httpx.Request) -> tuple[httpx.Response, bytes]:
    """Return a response with its body; that of an error is read as far as it is short and whole."""
    with anyio.fail_after(_SECONDS):
        response = await client.send(request, stream=True)
        try:
            if response.status_code == 200:
                body = await read_body(response.aiter_raw(), response.headers, _MOST_BYTES)
                return response, body
            return response, await _read_error(response)
        finally:
            await response.aclose()


async def _read_error(response: httpx.Response) -> bytes:
    try:
        return await read_body(response.aiter_raw(), response.headers, _MOST_ERROR_BYTES)
    except (Problem, httpx.HTTPError):
        return b""


def _wait(response: httpx.Response) -> float | None:
    """Return how long to wait before the same request may be sent again, or None for never."""
    if response.status_code != 429 and response.status_code < 500:
        return None
    seconds = _named_wait(response)
    if seconds is None:
        # Two searches that were refused together must not come back together.
        return 0.5 + secrets.randbelow(1000) / 1000
    return seconds if seconds <= _SECONDS else None


def _named_wait(response: httpx.Response) -> float | None:
    """Return how many seconds an answer wants one to wait; None where it does not say.

    `X-RateLimit-Reset` of GitHub is a time since 1970; that of Brave has the seconds of several
    windows, each with its own count of what remains.
    """
    seconds = parse_retry_after(response.headers.get("retry-after", ""))
    if seconds is not None:
        return seconds
    left = response.headers.get("x-ratelimit-remaining", "").split(",")
    resets = response.headers.get("x-ratelimit-reset", "").split(",")
    waits = [
        _until(float(reset))
        for rest, reset in zip(left, resets, strict=False)
        if rest.strip() == "0" and reset.strip().isdecimal() and len(reset) < 15
    ]
    return max(waits, default=None)


def _until(reset: float) -> float:
    """Return the seconds until a reset that is a time since 1970 or a number of seconds."""
    return max(reset - time.time(), 0.0) if reset > 1e9 else reset
