"""Fetch a page of the web as text: the one place where addresses from outside are opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx
from typing_extensions import TypedDict

from config.errors import Problem
from tools.files.reading import extract
from tools.guard import PublicOnly, Resolve, resolve
from tools.web.address import canonical, identity, shown
from tools.web.body import PACKING, read_body, too_large
from tools.web.kinds import HTML, PDF, expected, kind
from tools.web.text import read_text
from tools.web.trust import certificates
from tools.web.walls import nothing_in

__all__ = ["LIMITS", "FetchLimits", "Fetched", "canonical", "fetch", "identity"]


class Fetched(TypedDict):
    """A page as text; `url` is where it was found in the end, in canonical form."""

    url: str
    title: str
    text: str
    mime: str
    published: str


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
    "file_empty": "page_empty",
    "file_no_text": "page_empty",
    "file_timeout": "page_timeout",
    "file_too_large": "url_too_large",
}
_HEADERS = {
    "accept": "text/html, application/xhtml+xml, application/pdf, text/plain, */*;q=0.5",
    "accept-encoding": PACKING,
    "user-agent": "Mozilla/5.0 (compatible; Dossier/0.1; research assistant)",
}


class _Body(NamedTuple):
    """What came over the line; `mime` is what it is and not what it was called."""

    url: str
    mime: str
    charset: str
    data: bytes


async def fetch(
    url: str,
    limits: FetchLimits = LIMITS,
    *,
    allow_private: bool = False,
    resolve: Resolve = resolve,
) -> Fetched:
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
    with _told(shown(url)):
        guard = PublicOnly(await _network(), resolve, allow_private=allow_private)
        with anyio.fail_after(limits.seconds):
            body = await _download(guard, url, limits)
        return await (_pdf(body) if body.mime == PDF else _page(body, limits))


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Turn what goes wrong on the line into problems that name the address and nothing more."""
    try:
        yield
    except Problem as problem:
        problem.where = where
        raise
    except (TimeoutError, httpx.TimeoutException) as error:
        raise Problem("page_timeout", "the server is too slow", where=where) from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise Problem("url_scheme", "this is not a web address", where=where) from error
    except httpx.HTTPError as error:
        raise Problem("page_unavailable", "the server cannot be read", where=where) from error


async def _network() -> httpx.AsyncHTTPTransport:
    """Return connections that ask no proxy and are not used twice.

    A connection that is kept would belong to an address, and so to every name it was checked for.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(verify=await certificates(), trust_env=False, limits=limits)


async def _download(guard: PublicOnly, url: str, limits: FetchLimits) -> _Body:
    timeout = httpx.Timeout(limits.seconds, connect=limits.seconds / 3)
    async with (
        httpx.AsyncClient(
            transport=guard, headers=_HEADERS, timeout=timeout, trust_env=False
        ) as client,
        _answer(client, url, limits.hops) as response,
    ):
        if response.status_code >= 400:
            raise Problem("page_unavailable", f"the server answers {response.status_code}")
        name = expected(response.headers.get("content-type", ""))
        most = limits.page if name not in {"", PDF} else limits.pdf
        data = await read_body(response.aiter_raw(), response.headers, most)
        mime = kind(name, data)
        if mime != PDF and len(data) > limits.page:
            raise too_large(limits.page)
        charset = response.charset_encoding or ""
        return _Body(canonical(str(response.url)), mime, charset, data)


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
    raise Problem("url_redirects", f"it leads on more than {hops} times")


async def _page(body: _Body, limits: FetchLimits) -> Fetched:
    markup = body.mime == HTML
    found = await read_text(body.data, body.charset, markup=markup, seconds=limits.reading)
    nothing = nothing_in(found.title, found.text)
    if nothing:
        raise Problem("page_empty", nothing, hint="look for the same text elsewhere")
    return Fetched(
        url=body.url,
        title=found.title,
        text=found.text,
        mime=body.mime,
        published=found.published,
    )


async def _pdf(body: _Body) -> Fetched:
    """Read a PDF through a file, because a process of its own opens it."""
    async with anyio.NamedTemporaryFile(suffix=".pdf") as file:
        await file.write(body.data)
        await file.flush()
        path = Path(str(file.name))
        try:
            document = await extract(path)
        except Problem as problem:
            raise Problem(_PDF_CODES.get(problem.code, "page_not_text"), problem.what) from problem
    title = "" if document["title"] == path.stem else document["title"]
    text = "\n\n".join(section["text"] for section in document["sections"])
    return Fetched(url=body.url, title=title, text=text, mime=body.mime, published="")
