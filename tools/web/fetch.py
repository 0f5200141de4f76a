"""Fetch a page of the web as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
from typing_extensions import TypedDict

from config.errors import ErrorCode, Problem
from library.page_metadata import NO_METADATA, PageMetadata
from library.page_rows import NewPage
from text.pattern_files import PatternFile
from tools.files.extractor import extract_document
from tools.web.download import HTML, LIMITS, PDF, Body, Download, FetchLimits
from tools.web.page_text import PageText, judge_metadata, read_page_text
from tools.web.script_pages import needs_script, render_page
from tools.web.transport import HostResolver, resolve_host
from tools.web.urls import redact_url

_PATTERNS = PatternFile("tools.web", "fetch.toml")

_LETTERS = 20
_SHORT = 700
_LONG = 2_000
_START = 400


def explain_empty_page(title: str, text: str) -> str:
    """Return why a page is no source, or an empty string if it is one.

    A word such as "404" or "cookies" counts only where there is little else: a page about them is
    long.
    """
    if sum(map(str.isalnum, text[:_START])) < _LETTERS:
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


_PDF_CODES = {
    "file_empty": ErrorCode.PAGE_EMPTY,
    "file_no_text": ErrorCode.PAGE_EMPTY,
    "file_timeout": ErrorCode.PAGE_TIMEOUT,
    "file_too_large": ErrorCode.URL_TOO_LARGE,
}


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
            `site_blocked`, `site_busy`, `robots_refused`; `page_unavailable`, `page_timeout`,
            `page_empty`, `page_not_text`, `page_needs_script`.
    """
    with _explain_failures(redact_url(url)):
        download = Download(limits, allow_private=allow_private, resolve=resolve)
        body = await download.fetch(url)
        return await (_pdf(body) if body.mime == PDF else _page(body, url, download))


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


async def _page(body: Body, asked: str, download: Download) -> FetchedPage:
    """Find the text of a page, which a reader renders first if only scripts write it."""
    found = await _read_text(body, asked, download.limits)
    nothing = explain_empty_page(found.title, found.text)
    if nothing and body.mime == HTML and needs_script(body.data):
        body = await render_page(body.url, download)
        found = await _read_text(body, asked, download.limits)
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


async def _read_text(body: Body, asked: str, limits: FetchLimits) -> PageText:
    markup = body.mime == HTML
    return await read_page_text(
        body.data, body.charset, markup=markup, asked=asked, url=body.url, seconds=limits.reading
    )


async def _pdf(body: Body) -> FetchedPage:
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
