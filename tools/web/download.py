"""Download what is at a public address, as its site, its robots.txt and its pace allow."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple
from urllib.parse import urljoin

import anyio
import httpx

from config.errors import ErrorCode, Problem
from models.faults import parse_retry_after
from text.regex import regex
from tools.web.pace import get_host_pace, host_turn
from tools.web.robots import AGENT, LARGEST, RobotsAnswer, check_robots
from tools.web.site_rules import check_site
from tools.web.transport import (
    PACKING,
    HostResolver,
    PublicTransport,
    body_too_large,
    is_private_host,
    load_certificates,
    read_body,
    resolve_host,
)
from tools.web.urls import canonicalise_url

PDF = "application/pdf"
HTML = "text/html"

_HTML_NAMES = frozenset({HTML, "application/xhtml+xml"})
_PDF_NAMES = frozenset({PDF, "application/x-pdf"})
_NO_NAMES = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_TEXT_NAMES = regex(r"text/|application/(?:json|ld\+json|yaml|toml)$")
_BEGINS_AS_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body)\b", re.I)


def parse_content_type(content_type: str) -> str:
    """Return the name of a kind that is read, or an empty string where the server gives none.

    Raises:
        Problem: `page_not_text` for images, archives and whatever else is no text.
    """
    name = content_type.split(";")[0].strip().lower()
    if name in _NO_NAMES:
        return ""
    if name in _HTML_NAMES:
        return HTML
    if name in _PDF_NAMES:
        return PDF
    if _TEXT_NAMES.match(name):
        return name
    raise Problem(ErrorCode.PAGE_NOT_TEXT, f"it is {name[:60]}, which is not read")


def detect_mime_type(name: str, data: bytes) -> str:
    """Return what a body is: `PDF`, `HTML`, or the name of a kind of plain text."""
    if b"%PDF-" in data[:1024]:
        return PDF
    if name == HTML or _BEGINS_AS_HTML.match(data):
        return HTML
    return "text/plain" if name in {"", PDF} else name


@dataclass(frozen=True)
class FetchLimits:
    """How much one page may cost; sizes are in bytes, times in seconds."""

    seconds: float = 20.0
    """From the first look-up to the last byte, without the waits for its turn."""
    reading: float = 5.0
    """To find the text of a web page; a PDF has the time that `tools.files` gives it."""
    page: int = 10_000_000
    """The size of a web page or a text when it is unpacked."""
    pdf: int = 30_000_000
    """The size of a PDF when it is unpacked."""
    hops: int = 5
    """How many redirects are followed."""


LIMITS = FetchLimits()
"""What a page may cost if nobody says otherwise."""

AGENT_HEADER = f"Mozilla/5.0 (compatible; {AGENT}/0.1; research assistant)"
"""How this program names itself to web servers."""

_HEADERS = {
    "accept": "text/html, application/xhtml+xml, application/pdf, text/plain, */*;q=0.5",
    "accept-encoding": PACKING,
    "user-agent": AGENT_HEADER,
}

_ROBOTS_SECONDS = 5.0
_BUSY = frozenset({429, 503})
_BUSY_SECONDS = 5.0
"""How long a server is left alone that is busy and does not say for how long."""
_LONGEST_WAIT = 5.0
"""The longest wait that a busy server may ask for before the same page is asked for again."""


class Body(NamedTuple):
    """The body of a response; `mime` is what it is, not what the server called it."""

    url: str
    mime: str
    charset: str
    data: bytes


@dataclass
class Download:
    """One page on its way: what it may cost, and through which guard it comes."""

    limits: FetchLimits = LIMITS
    allow_private: bool = False
    """Whether servers in private networks and other ports may be read too."""
    resolve: HostResolver = resolve_host
    polite: bool = True
    """Whether robots.txt and the pace of the host are kept, as for what is no part of a page."""
    headers: Mapping[str, str] = field(default_factory=lambda: _HEADERS)
    _clock: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def fetch(self, url: str) -> Body:
        """Return what is at an address, also where a page without text leads on to it.

        Raises:
            Problem: `url_scheme`, `url_blocked`, `url_unresolved`, `url_redirects`,
                `url_too_large`, `site_blocked`, `site_busy`, `robots_refused`, `page_unavailable`,
                `page_not_text`.
            TimeoutError: If it takes longer than it may.
            httpx.HTTPError: If the server cannot be read.
        """
        load_certificates()  # Once per process, and no fault of the server.
        with anyio.fail_after(self.limits.seconds) as self._clock:
            for _ in range(self.limits.hops):
                body = await self._get(url)
                onward = _find_refresh(body)
                if not onward:
                    return body._replace(url=canonicalise_url(body.url))
                url = onward
        raise Problem(ErrorCode.URL_REDIRECTS, f"it leads on more than {self.limits.hops} times")

    @asynccontextmanager
    async def open_client(self) -> AsyncIterator[httpx.AsyncClient]:
        """Open a client that reaches public servers only."""
        guard = PublicTransport(_network(), self.resolve, allow_private=self.allow_private)
        seconds = self.limits.seconds
        timeout = httpx.Timeout(seconds, connect=seconds / 3)
        async with httpx.AsyncClient(
            transport=guard, headers=self.headers, timeout=timeout, trust_env=False
        ) as client:
            yield client

    async def _get(self, url: str) -> Body:
        limits = self.limits
        async with self.open_client() as client, self.answer(client, url) as response:
            if response.status_code >= 400:
                what = f"the server answers {response.status_code}"
                raise Problem(ErrorCode.PAGE_UNAVAILABLE, what)
            name = parse_content_type(response.headers.get("content-type", ""))
            most = limits.page if name not in {"", PDF} else limits.pdf
            data = await read_body(response.aiter_raw(), response.headers, most)
            mime = detect_mime_type(name, data)
            if mime != PDF and len(data) > limits.page:
                raise body_too_large(limits.page)
            return Body(str(response.url), mime, response.charset_encoding or "", data)

    @asynccontextmanager
    async def answer(self, client: httpx.AsyncClient, url: str) -> AsyncIterator[httpx.Response]:
        """Follow redirects one by one, each with all checks, and open the last answer."""
        request, again, left = client.build_request("GET", url.strip()), True, self.limits.hops + 1
        while left:
            async with self._in_turn(request.url):
                response = await client.send(request, stream=True)
                try:
                    asked_again = again and _is_asked_to_wait(request.url.host, response)
                    if not asked_again and response.next_request is None:
                        yield response
                        return
                finally:
                    await response.aclose()
            if asked_again:
                again = False
            else:
                request, left = response.next_request or request, left - 1
        raise Problem(ErrorCode.URL_REDIRECTS, f"it leads on more than {self.limits.hops} times")

    @asynccontextmanager
    async def _in_turn(self, url: httpx.URL) -> AsyncIterator[None]:
        """Check that a page may be read, and wait for its turn on the host without losing time."""
        check_site(str(url))
        if not self.polite:
            yield
            return
        await check_robots(url, self._ask_robots)
        left = self._clock.deadline - anyio.current_time()
        self._clock.deadline = float("inf")
        try:
            async with host_turn(url.host):
                self._clock.deadline = anyio.current_time() + left
                yield
        finally:
            self._clock.deadline = min(self._clock.deadline, anyio.current_time() + left)

    async def _ask_robots(self, url: str) -> RobotsAnswer:
        """Fetch a robots.txt through the same guard as the page; redirects are checked as usual.

        Other pages may wait for the answer, so it has a client of its own.
        """
        with anyio.fail_after(_ROBOTS_SECONDS):
            async with self.open_client() as client:
                return await self._follow_robots(client, url)

    async def _follow_robots(self, client: httpx.AsyncClient, url: str) -> RobotsAnswer:
        request = client.build_request("GET", url)
        for _ in range(self.limits.hops + 1):
            check_site(str(request.url))
            response = await client.send(request, stream=True)
            try:
                if response.next_request is None:
                    return await _read_robots(response)
                request = response.next_request
            finally:
                await response.aclose()
        return RobotsAnswer(404)


async def _read_robots(response: httpx.Response) -> RobotsAnswer:
    """Return the beginning of a robots.txt; one that cannot be read has no rules."""
    if response.status_code != 200:
        return RobotsAnswer(response.status_code)
    try:
        data = await read_body(response.aiter_raw(), response.headers, LARGEST)
    except Problem:
        return RobotsAnswer(404)
    return RobotsAnswer(200, data.decode("utf-8", "replace"))


def _is_asked_to_wait(host: str, response: httpx.Response) -> bool:
    """Leave a busy server alone for as long as it wants; tell whether it is soon to be asked again.

    All branches of the process leave it alone.
    """
    if response.status_code not in _BUSY or is_private_host(host):
        return False
    seconds = parse_retry_after(response.headers.get("retry-after", ""))
    get_host_pace(host).pause(_BUSY_SECONDS if seconds is None else seconds)
    return seconds is not None and seconds <= _LONGEST_WAIT


def _network() -> httpx.AsyncHTTPTransport:
    """Return connections that ask no proxy and are not used twice.

    A connection that is kept would belong to an address, and so to every name it was checked for.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(verify=load_certificates(), trust_env=False, limits=limits)


_REFRESH_WITHIN = 4_000
_NO_SCRIPT = re.compile(rb"<noscript\b.*?(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL)
_REFRESH = re.compile(
    rb"""<meta\b(?=[^>]{0,500}http-equiv\s*=\s*["']?refresh\b)[^>]{0,500}content\s*=\s*["']?\s*[0-5]"""
    rb"""(?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"'\s>]+)""",
    re.IGNORECASE,
)


def _find_refresh(body: Body) -> str:
    """Return the other address to which a short page leads at once; "" for none."""
    if body.mime != HTML or len(body.data) > _REFRESH_WITHIN:
        return ""
    found = _REFRESH.search(_NO_SCRIPT.sub(b"", body.data))
    if not found:
        return ""
    onward = urljoin(body.url, unescape(found[1].decode("utf-8", "replace")))
    return "" if canonicalise_url(onward) == canonicalise_url(body.url) else onward
