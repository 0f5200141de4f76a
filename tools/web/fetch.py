"""Fetch a page of the web as text: the one place where addresses from outside are opened."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import anyio
import httpx
from typing_extensions import TypedDict

from config.errors import ErrorCode, Problem
from library.page_metadata import NO_METADATA, PageMetadata
from library.page_rows import NewPage
from text.pattern_files import PatternFile
from text.regex import regex
from tools.files.extractor import extract_document
from tools.web.page_text import judge_metadata, read_page_text
from tools.web.transport import (
    PACKING,
    HostResolver,
    PublicTransport,
    body_too_large,
    load_certificates,
    read_body,
    resolve_host,
)
from tools.web.urls import canonicalise_url, redact_url

_PATTERNS = PatternFile("tools.web", "fetch.toml")


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


_LETTERS = 20
_SHORT = 700
_LONG = 2_000
_START = 400


def explain_empty_page(title: str, text: str) -> str:
    """Return why a page is no source, or an empty string if it is one.

    A word such as "404" or "cookies" counts only where there is little else: a page about them is
    long.
    """
    if sum(sign.isalnum() for sign in text[:_START]) < _LETTERS:
        return "there is no text on it"
    start = f"{title}\n{text[:_START]}"
    gone = len(text) < _LONG and _PATTERNS.gone_title.search(title)
    if gone or (len(text) < _SHORT and _PATTERNS.gone_text.search(start)):
        return "it says that the page does not exist"
    if len(text) < _SHORT and _PATTERNS.wall.search(start):
        return "it asks for consent, a login or a browser instead of showing a text"
    return ""


class FetchedPage(TypedDict):
    """A page as text; `url` is where it was found in the end, in canonical form."""

    url: str
    title: str
    text: str
    mime: str
    metadata: PageMetadata
    links: list[str]
    """The pages it links to, each as an address, a space and the words of the link."""
    sized: list[NewPage] | None
    """The page as it is stored; `None` if it has to be split or prepared first."""


@dataclass(frozen=True)
class FetchLimits:
    """How much one page may cost; sizes are in bytes, times in seconds."""

    seconds: float = 20.0
    """From the first look-up to the last byte."""
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

_PDF_CODES = {
    "file_empty": ErrorCode.PAGE_EMPTY,
    "file_no_text": ErrorCode.PAGE_EMPTY,
    "file_timeout": ErrorCode.PAGE_TIMEOUT,
    "file_too_large": ErrorCode.URL_TOO_LARGE,
}
_HEADERS = {
    "accept": "text/html, application/xhtml+xml, application/pdf, text/plain, */*;q=0.5",
    "accept-encoding": PACKING,
    "user-agent": "Mozilla/5.0 (compatible; Dossier/0.1; research assistant)",
}


class _Body(NamedTuple):
    """The body of a response; `mime` is what it is, not what the server called it."""

    url: str
    mime: str
    charset: str
    data: bytes


async def fetch_page(
    url: str,
    limits: FetchLimits = LIMITS,
    *,
    allow_private: bool = False,
    resolve: HostResolver = resolve_host,
) -> FetchedPage:
    """Return the text of a web page, a PDF or a plain text.

    Args:
        url: The address, as a search or a person gave it.
        limits: What the page may cost.
        allow_private: Whether servers in private networks and other ports may be read too.
        resolve: Looks up host names.

    Raises:
        Problem: `url_scheme`, `url_blocked`, `url_unresolved`, `url_redirects`, `url_too_large`;
            `page_unavailable`, `page_timeout`, `page_empty`, `page_not_text`.
    """
    with _explain_failures(redact_url(url)):
        guard = PublicTransport(_network(), resolve, allow_private=allow_private)
        with anyio.fail_after(limits.seconds):
            body = await _download(guard, url, limits)
        return await (_pdf(body) if body.mime == PDF else _page(body, url, limits))


@contextmanager
def _explain_failures(where: str) -> Iterator[None]:
    """Turn network errors into problems that name the address and nothing more."""
    try:
        yield
    except Problem as problem:
        problem.where = where
        raise
    except (TimeoutError, httpx.TimeoutException) as error:
        raise Problem(ErrorCode.PAGE_TIMEOUT, "the server is too slow", where=where) from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise Problem(ErrorCode.URL_SCHEME, "this is not a web address", where=where) from error
    except httpx.HTTPError as error:
        raise Problem(
            ErrorCode.PAGE_UNAVAILABLE, "the server cannot be read", where=where
        ) from error


def _network() -> httpx.AsyncHTTPTransport:
    """Return connections that ask no proxy and are not used twice.

    A connection that is kept would belong to an address, and so to every name it was checked for.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(verify=load_certificates(), trust_env=False, limits=limits)


async def _download(guard: PublicTransport, url: str, limits: FetchLimits) -> _Body:
    """Return what is at an address, also where a page without text leads on to it."""
    for _ in range(limits.hops):
        body = await _get(guard, url, limits)
        onward = _find_refresh(body)
        if not onward:
            return body._replace(url=canonicalise_url(body.url))
        url = onward
    raise Problem(ErrorCode.URL_REDIRECTS, f"it leads on more than {limits.hops} times")


_REFRESH_WITHIN = 4_000
_NO_SCRIPT = re.compile(rb"<noscript\b.*?(?:</noscript|\Z)", re.IGNORECASE | re.DOTALL)
_REFRESH = re.compile(
    rb"""<meta\b(?=[^>]{0,500}http-equiv\s*=\s*["']?refresh\b)[^>]{0,500}content\s*=\s*["']?\s*[0-5]"""
    rb"""(?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"'\s>]+)""",
    re.IGNORECASE,
)


def _find_refresh(body: _Body) -> str:
    """Return the other address to which a short page leads at once; "" for none."""
    if body.mime != HTML or len(body.data) > _REFRESH_WITHIN:
        return ""
    found = _REFRESH.search(_NO_SCRIPT.sub(b"", body.data))
    if not found:
        return ""
    onward = urljoin(body.url, unescape(found[1].decode("utf-8", "replace")))
    return "" if canonicalise_url(onward) == canonicalise_url(body.url) else onward


async def _get(guard: PublicTransport, url: str, limits: FetchLimits) -> _Body:
    timeout = httpx.Timeout(limits.seconds, connect=limits.seconds / 3)
    async with (
        httpx.AsyncClient(
            transport=guard, headers=_HEADERS, timeout=timeout, trust_env=False
        ) as client,
        _answer(client, url, limits.hops) as response,
    ):
        if response.status_code >= 400:
            raise Problem(ErrorCode.PAGE_UNAVAILABLE, f"the server answers {response.status_code}")
        name = parse_content_type(response.headers.get("content-type", ""))
        most = limits.page if name not in {"", PDF} else limits.pdf
        data = await read_body(response.aiter_raw(), response.headers, most)
        mime = detect_mime_type(name, data)
        if mime != PDF and len(data) > limits.page:
            raise body_too_large(limits.page)
        charset = response.charset_encoding or ""
        return _Body(str(response.url), mime, charset, data)


@asynccontextmanager
async def _answer(client: httpx.AsyncClient, url: str, hops: int) -> AsyncIterator[httpx.Response]:
    """Follow redirects one by one, so that the guard sees each, and open the last answer."""
    request = client.build_request("GET", url.strip())
    for _ in range(hops + 1):
        response = await client.send(request, stream=True)
        try:
            if response.next_request is None:
                yield response
                return
            request = response.next_request
        finally:
            await response.aclose()
    raise Problem(ErrorCode.URL_REDIRECTS, f"it leads on more than {hops} times")


async def _page(body: _Body, asked: str, limits: FetchLimits) -> FetchedPage:
    markup = body.mime == HTML
    found = await read_page_text(
        body.data, body.charset, markup=markup, asked=asked, url=body.url, seconds=limits.reading
    )
    nothing = explain_empty_page(found.title, found.text)
    if nothing:
        raise Problem(ErrorCode.PAGE_EMPTY, nothing, hint="look for the same text elsewhere")
    return FetchedPage(
        url=body.url,
        title=found.title,
        text=found.text,
        mime=body.mime,
        metadata=found.metadata,
        links=[*found.links],
        sized=found.sized,
    )


async def _pdf(body: _Body) -> FetchedPage:
    """Read a PDF through a file, because a process of its own opens it."""
    async with anyio.NamedTemporaryFile(suffix=".pdf") as file:
        await file.write(body.data)
        await file.flush()
        path = Path(str(file.name))
        try:
            document = await extract_document(path)
        except Problem as problem:
            raise Problem(
                _PDF_CODES.get(problem.error, ErrorCode.PAGE_NOT_TEXT), problem.what
            ) from problem
    title = "" if document["title"] == path.stem else document["title"]
    text = "\n\n".join(section["text"] for section in document["sections"])
    declared = document.get("metadata", NO_METADATA)
    metadata = await anyio.to_thread.run_sync(judge_metadata, body.url, title, text, declared)
    return FetchedPage(
        url=body.url,
        title=title,
        text=text,
        mime=body.mime,
        metadata=metadata,
        links=[],
        sized=None,
    )
