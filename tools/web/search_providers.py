"""Search the web with one provider after the other, until one has found something."""

from __future__ import annotations

import html
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import anyio
import httpx
from pydantic import SecretStr
from typing_extensions import TypedDict

from config.errors import ErrorCode, Problem
from models.faults import parse_retry_after
from text.normalization import normalize_text
from text.regex import regex
from tools.web.transport import PACKING, load_certificates, read_body


class SearchHit(TypedDict):
    """One result of a search; `snippet` is plain text and may be empty."""

    url: str
    title: str
    snippet: str


class SearchProvider(Protocol):
    """A service that searches the web."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return at most `limit` hits, best first.

        Raises:
            Problem: `search_unavailable` if the service does not answer as it should.
        """


_LONGEST_QUERY = 400
"""The longest query, in characters; Tavily and Brave refuse longer ones."""

_URL = regex(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2000}", re.IGNORECASE)
_MARKS = regex(r"</?(?:strong|b|em|i|mark|span|br)\b[^<>]*>", re.IGNORECASE)


def _parse_hits(results: object, snippet: str, limit: int) -> list[SearchHit]:
    """Return the usable ones among a provider's results.

    Args:
        results: What the provider calls its results.
        snippet: The key of the snippet in one of them.
        limit: How many are wanted.

    Raises:
        Problem: `search_unavailable` if that is no list.
    """
    if not isinstance(results, list):
        raise _unreadable_answer()
    named = ((one.get("url"), one) for one in results if isinstance(one, dict))
    usable = ((url, one) for url, one in named if isinstance(url, str) and _URL.fullmatch(url))
    return [
        SearchHit(
            url=url, title=_plain(one.get("title"), 300), snippet=_plain(one.get(snippet), 2000)
        )
        for url, one in islice(usable, limit)
    ]


def _unreadable_answer() -> Problem:
    """Return the problem that a provider's answer is not in the form it promises."""
    return Problem(ErrorCode.SEARCH_UNAVAILABLE, "its answer cannot be read")


def _read_key(environ: Mapping[str, str], variable: str) -> SecretStr:
    """Return the key that a variable holds.

    Raises:
        Problem: `search_unavailable`, naming the variable and never its value.
    """
    value = environ.get(variable, "").strip()
    if not value:
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"{variable} is not set")
    if not (value.isascii() and value.isprintable()):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"{variable} has characters that no key has")
    return SecretStr(value)


def _plain(value: object, most: int) -> str:
    """Return a text on one line, without the marks that some providers set in it."""
    text = html.unescape(_MARKS.sub("", value)) if isinstance(value, str) else ""
    return " ".join(normalize_text(text).split())[:most]


_SECONDS = 10.0
_MOST_BYTES = 5_000_000


async def _request_json(
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
        raise _unreadable_answer()
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


_MOST_HITS = 20
"""The most hits that Tavily and Brave may be asked for."""


@dataclass(frozen=True)
class SearXNG:
    """A SearXNG server."""

    url: SecretStr
    """Where it is, such as `http://localhost:8080`; it may hold a user and a password."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; see https://docs.searxng.org/dev/search_api.html."""
        address = f"{self.url.get_secret_value().rstrip('/')}/search"
        answer = await _request_json("GET", address, params={"q": query, "format": "json"})
        if not answer.get("results") and answer.get("unresponsive_engines"):
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, "none of the engines it asks answers")
        return _parse_hits(answer.get("results"), "content", limit)


@dataclass(frozen=True)
class Tavily:
    """The search of https://tavily.com."""

    key: SecretStr
    url: str = "https://api.tavily.com/search"

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; see https://docs.tavily.com."""
        answer = await _request_json(
            "POST",
            self.url,
            headers={"authorization": f"Bearer {self.key.get_secret_value()}"},
            body={"query": query[:_LONGEST_QUERY], "max_results": min(limit, _MOST_HITS)},
        )
        return _parse_hits(answer.get("results"), "content", limit)


_BRAVE_MOST_WORDS = 50


@dataclass(frozen=True)
class Brave:
    """The search of https://brave.com/search/api."""

    key: SecretStr
    url: str = "https://api.search.brave.com/res/v1/web/search"

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """Return the best hits; an answer without `web` found nothing."""
        answer = await _request_json(
            "GET",
            self.url,
            headers={"x-subscription-token": self.key.get_secret_value()},
            params={
                "q": " ".join(query.split()[:_BRAVE_MOST_WORDS])[:_LONGEST_QUERY],
                "count": min(limit, _MOST_HITS),
            },
        )
        web = answer.get("web", {"results": []})
        if not isinstance(web, dict):
            raise _unreadable_answer()
        return _parse_hits(web.get("results"), "description", limit)


_VARIABLES = {"searxng": "SEARXNG_URL", "tavily": "TAVILY_API_KEY", "brave": "BRAVE_API_KEY"}

SEARCH_PROVIDERS: dict[str, Callable[[Mapping[str, str]], SearchProvider]] = {
    "searxng": lambda environ: SearXNG(_read_key(environ, _VARIABLES["searxng"])),
    "tavily": lambda environ: Tavily(_read_key(environ, _VARIABLES["tavily"])),
    "brave": lambda environ: Brave(_read_key(environ, _VARIABLES["brave"])),
}
"""How each provider is made from the environment; a new one is a class and a line in both."""


class SearchUnanswered(Problem):
    """No provider answered."""

    def __init__(self, error: ErrorCode, failures: Mapping[str, str], *, hint: str) -> None:
        what = "; ".join(f"{name}: {why}" for name, why in failures.items())
        super().__init__(error, what or "no search provider is chosen", hint=hint)
        self.failures = failures
        """Why not, by the name of the provider."""


def list_available_providers(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the providers that the environment has an address or a key for."""
    return [name for name, variable in _VARIABLES.items() if environ.get(variable, "").strip()]


async def search_web(
    names: Sequence[str], query: str, limit: int, environ: Mapping[str, str]
) -> list[SearchHit]:
    """Return the hits of the first provider that has any; none if all that answer have none.

    Args:
        names: The providers to ask, in this order.
        query: What to search for.
        limit: How many hits are wanted at most.
        environ: Where addresses and keys are read from.

    Raises:
        SearchUnanswered: `search_unavailable` if none of them answers; `unknown_provider`.
    """
    check_provider_names(names)
    wanted = " ".join(query.split())
    if not wanted:
        return []
    failures: dict[str, str] = {}
    for name in names:
        try:
            found = await SEARCH_PROVIDERS[name](environ).search(wanted, limit)
        except Problem as problem:
            failures[name] = problem.what
        else:
            if found:
                return found
    if len(failures) == len(names):
        hint = f"set one of {', '.join(_VARIABLES.values())}, or look at what each of them says"
        raise SearchUnanswered(ErrorCode.SEARCH_UNAVAILABLE, failures, hint=hint)
    return []


def check_provider_names(names: Sequence[str]) -> None:
    """Make sure that there are providers of these names.

    Raises:
        SearchUnanswered: `unknown_provider`.
    """
    unknown = dict.fromkeys(set(names) - set(SEARCH_PROVIDERS), "there is no such search provider")
    if unknown:
        hint = f"choose from {', '.join(SEARCH_PROVIDERS)}"
        raise SearchUnanswered(ErrorCode.UNKNOWN_PROVIDER, unknown, hint=hint)
