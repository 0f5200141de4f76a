"""Ask a knowledge service, with a key of the environment, and read the JSON that comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
import httpx

from config.errors import Problem
from models.faults import parse_retry_after
from text.regex import regex
from tools.knowledge.knowledge_source import BaseUnreachable, find_field, unavailable
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

LONGEST_ERROR = 50_000
"""The longest body of an error that is looked at, in bytes."""

_ERROR_NAME = regex(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""How services name an error, such as `index_not_found_exception`; it is a word and no prose."""


class Credentials(NamedTuple):
    """With what a service is asked, and which variables of the environment it is from."""

    headers: Mapping[str, str] = {}
    auth: tuple[str, str] | None = None
    """A user and a password."""
    variables: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """What to do where a service does not accept them."""
        if self.variables:
            return f"check {' and '.join(self.variables)}, and what they may be used for"
        return "name the variable that holds its key, as in --option key_env=NAME"

    def holds(self, text: str) -> bool:
        """Tell whether a text is a part of them."""
        return any(text in value for value in (*self.headers.values(), *(self.auth or ())))


def read_key(variable: str) -> str:
    """Return the key that a variable of the environment holds; "" if no variable is named.

    Raises:
        Problem: `knowledge_unavailable`, naming the variable and never its value.
    """
    if not variable:
        return ""
    value = os.environ.get(variable, "").strip()
    if not value:
        what, hint = f"{variable} is not set", f"set {variable} in the environment"
        raise unavailable(what, hint=hint)
    if not (value.isascii() and value.isprintable()):
        what = f"{variable} has characters that no key has"
        raise unavailable(what)
    return value


def bearer_credentials(variable: str) -> Credentials:
    """Return the credentials of a key that a variable holds; none if no variable is named."""
    key = read_key(variable)
    return Credentials({"authorization": f"Bearer {key}"}, None, (variable,)) if key else NOBODY


NOBODY = Credentials()
"""Without any credentials."""


async def post_json(
    url: str, body: Mapping[str, Any], access: Credentials = NOBODY
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
            basic = httpx.BasicAuth(*access.auth) if access.auth else None
            asked = {"json": body, "headers": {**access.headers, "accept-encoding": PACKING}}
            status, wait, data = await _post(client, url, basic, asked)
            if wait is not None:
                await anyio.sleep(wait)
                status, _, data = await _post(client, url, basic, asked)
    except (TimeoutError, httpx.TimeoutException):
        raise BaseUnreachable("it is too slow", where) from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        raise BaseUnreachable("it cannot be reached", where) from None
    if status != 200:
        raise _refused(status, data, where, access)
    return _read_object(data, where)


def _refused(status: int, data: bytes, where: str, access: Credentials) -> Problem:
    """Return what the status of a service means, and how it names the error if it does."""
    reason = REASONS.get(status, f"it answers {status}")
    name = _find_error_name(data)
    if name and not access.holds(name):
        reason = f"{reason} ({name})"
    hints = {
        400: "check its options: dossier kb show NAME",
        401: access.hint,
        403: access.hint,
        404: "check its address, and the name of the index or data set",
    }
    return unavailable(reason, where, hints.get(status, ""))


def _find_error_name(data: bytes) -> str:
    """Return the name of an error: Elasticsearch has it at `error.type`, Dify at `code`."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    for path in ("error.type", "code"):
        name = find_field(answer, path)
        if isinstance(name, str) and len(name) <= 60 and _ERROR_NAME.fullmatch(name):
            return name
    return ""


async def _post(
    client: httpx.AsyncClient, url: str, auth: httpx.Auth | None, asked: Mapping[str, Any]
) -> tuple[int, float | None, bytes]:
    """Return the status, how long to wait before asking again, and the body."""
    with anyio.fail_after(SECONDS):
        async with client.stream("POST", url, auth=auth, **asked) as response:
            done = response.status_code == 200
            most = MOST_BYTES if done else LONGEST_ERROR
            try:
                body = await read_body(response.aiter_raw(), response.headers, most)
            except Problem as problem:
                if done:
                    raise unavailable(problem.what, redact_url(url)) from None
                body = b""
            return response.status_code, None if done else _wait(response), body


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
