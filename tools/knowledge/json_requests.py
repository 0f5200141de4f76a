"""Ask a knowledge service, with a key of the environment, and read the JSON that comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from config.errors import Problem
from models.faults import parse_retry_after
from tools.knowledge.knowledge_source import unavailable
from tools.web.transport import PACKING, load_certificates, read_body
from tools.web.urls import redact_url

SECONDS = 20.0
"""How long a service may take to answer."""

MOST_BYTES = 5_000_000
"""The longest answer that is read."""

LONGEST_WAIT = 5.0
"""How long is waited before a request is sent a second time."""

REASONS = {
    401: "it does not accept the key",
    403: "the key may not be used for this",
    404: "there is no such index or data set",
    429: "it is asked too often",
}
"""What statuses mean; the words of a service are not repeated."""


def read_key(variable: str) -> str:
    """Return the key that a variable of the environment holds; "" if no variable is named.

    Raises:
        Problem: `knowledge_unavailable`, naming the variable and never its value.
    """
    if not variable:
        return ""
    value = os.environ.get(variable, "").strip()
    if not value:
        what, hint = f"{variable} is not set", f"set {variable} to its key"
        raise unavailable(what, hint=hint)
    if not (value.isascii() and value.isprintable()):
        what = f"{variable} has characters that no key has"
        raise unavailable(what)
    return value


def bearer_header(variable: str) -> dict[str, str]:
    """Return the header with the key that a variable holds; none if no variable is named."""
    key = read_key(variable)
    return {"authorization": f"Bearer {key}"} if key else {}


async def post_json(
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    auth: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Send an object and return the one that comes back.

    It is sent a second time if the service is busy or broken for a moment.

    Raises:
        Problem: `knowledge_unavailable`; neither headers nor the words of the service are told.
    """
    where = redact_url(url)
    try:
        trust = load_certificates()
        async with httpx.AsyncClient(timeout=SECONDS, verify=trust, trust_env=False) as client:
            basic = httpx.BasicAuth(*auth) if auth else None
            asked = {"json": body, "headers": {**headers, "accept-encoding": PACKING}}
            status, wait, data = await _post(client, url, basic, asked)
            if wait is not None:
                await anyio.sleep(wait)
                status, _, data = await _post(client, url, basic, asked)
    except (TimeoutError, httpx.TimeoutException):
        raise unavailable("it is too slow", where) from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        raise unavailable("it cannot be reached", where) from None
    if status != 200:
        raise unavailable(REASONS.get(status, f"it answers {status}"), where)
    return _read_object(data, where)


async def _post(
    client: httpx.AsyncClient, url: str, auth: httpx.Auth | None, asked: Mapping[str, Any]
) -> tuple[int, float | None, bytes]:
    """Return the status, how long to wait before asking again, and the body if all is well."""
    with anyio.fail_after(SECONDS):
        async with client.stream("POST", url, auth=auth, **asked) as response:
            if response.status_code != 200:
                return response.status_code, _wait(response), b""
            try:
                body = await read_body(response.aiter_raw(), response.headers, MOST_BYTES)
            except Problem as problem:
                raise unavailable(problem.what, redact_url(url)) from None
            return response.status_code, None, body


def _wait(response: httpx.Response) -> float | None:
    if response.status_code != 429 and response.status_code < 500:
        return None
    seconds = parse_retry_after(response.headers.get("retry-after", ""))
    return 0.5 if seconds is None else seconds if seconds <= LONGEST_WAIT else None


def _read_object(data: bytes, where: str) -> dict[str, Any]:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise unavailable("its answer cannot be read", where)
    return answer
