"""Find the text of a web page, in a process that may be killed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple
from urllib.parse import urljoin

from config.errors import ErrorCode, Problem
from library.genres import JudgedPage, judge_genre
from library.page_metadata import (
    NO_METADATA,
    PageMetadata,
    extract_site,
    identify_language,
    to_author_names,
    to_published_date,
)
from library.page_rows import NewPage
from library.page_sizing import complete_short_page
from text.normalization import normalize_text
from tools.files.encoding import decode_web_page
from tools.files.formats import FileRefused
from tools.files.parsed_document import render_text_blocks, unwrap_line
from tools.web.urls import canonicalise_url
from tools.worker_pool import WorkerLost, run_in_worker

if sys.platform == "linux":
    import resource


class PageText(NamedTuple):
    """What a page says, and what is known of it beside that."""

    title: str
    text: str
    metadata: PageMetadata = NO_METADATA
    sized: list[NewPage] | None = None
    """The page as it is stored, with its search words; `None` if it is long."""
    links: Sequence[str] = ()
    """The pages it links to: of each the address, a space and the words of the link."""


class PageHead(NamedTuple):
    """What the head of a page says of it, as far as its genre depends on it."""

    type: str = ""
    """Its type of schema.org, in small letters."""
    title: str = ""


_NO_HEAD = PageHead()

SHORT_TEXT = 10_000
"""A text of at most so many characters is prepared for the store where it is found."""

_MEMORY = 512_000_000
# A new worker first imports the parsers.
_START = 30.0
_TITLE = 300
_LINK_WORDS = 120
MAX_LINKS = 200
"""How many links of a page are stored."""


async def read_page_text(
    data: bytes,
    charset: str,
    *,
    markup: bool,
    asked: str = "",
    url: str = "",
    seconds: float = 5.0,
) -> PageText:
    """Return the text and the title of a page, with its metadata and its genre.

    Args:
        data: The body of the page.
        charset: The encoding that the server named, or nothing.
        markup: Whether it is HTML; if not, all of it is text.
        asked: The address that was asked for, the title of a page that has none.
        url: The address where it was found, which tells its site and its genre.
        seconds: How long the processor may look for the text. A page that is too entangled to find
            its article in half of that is read as a whole.

    Raises:
        Problem: `page_not_text` or `page_timeout`.
    """
    for article in (True, False):
        addresses = (asked, url or asked)
        call = partial(
            _read, data, charset, markup, addresses, article=article, seconds=seconds / 2
        )
        try:
            return await run_in_worker(call, seconds + _START)
        except (TimeoutError, WorkerLost):
            continue
        except (FileRefused, MemoryError, UnicodeError) as error:
            raise Problem(
                ErrorCode.PAGE_NOT_TEXT, "its characters cannot be read as text"
            ) from error
    raise Problem(ErrorCode.PAGE_TIMEOUT, "its text could not be found in time")


def _read(
    data: bytes,
    charset: str,
    markup: bool,
    addresses: tuple[str, str],
    *,
    article: bool,
    seconds: float,
) -> PageText:
    with _capped(seconds):
        text = decode_web_page(data, charset, markup=markup)
        found, head = _page(text, article=article) if markup else (PageText("", text), _NO_HEAD)
        heading = unwrap_line(normalize_text(found.title))[:_TITLE]
        text = normalize_text(found.text).strip()
        asked, url = addresses
        links = _to_stored_links(url, found.links)
        metadata = judge_metadata(url, heading, text, found.metadata, head)
    page = NewPage(title=heading or asked, place="", text=text, metadata=metadata, links=links)
    return PageText(heading, text, metadata, _prepare_short_page(page), links)


def _to_stored_links(url: str, links: Sequence[str]) -> list[str]:
    """Return the first links of a page to other pages, each as an address, a space and its words.

    Args:
        url: The address of the page, to which relative addresses are joined.
        links: The links as the page writes them, in the same form.
    """
    stored: dict[str, str] = {}
    own = canonicalise_url(url)
    for target, _, words in (link.partition(" ") for link in links):
        with suppress(ValueError):
            address = canonicalise_url(urljoin(url, target))
            if address.startswith(("http://", "https://")) and address != own:
                stored.setdefault(address, f"{address} {words[:_LINK_WORDS]}")
        if len(stored) == MAX_LINKS:
            break
    return list(stored.values())


def judge_metadata(
    address: str, title: str, text: str, declared: PageMetadata, head: PageHead = _NO_HEAD
) -> PageMetadata:
    """Return what a page of the web declares, with its site, its language and its genre."""
    author, published = to_author_names(declared.author), to_published_date(declared.published)
    return PageMetadata(
        site=extract_site(address),
        published=published,
        author=author,
        language=identify_language(text, declared.language),
        genre=judge_genre(
            JudgedPage(address, title, text, head.type, author, published, head.title)
        ),
    )


def _prepare_short_page(page: NewPage) -> list[NewPage] | None:
    made = complete_short_page(page) if len(page["text"]) <= SHORT_TEXT else None
    return None if made is None else [made]


def _page(text: str, *, article: bool) -> tuple[PageText, PageHead]:
    """Return what a page says and declares."""
    if not text.strip():
        return PageText("", ""), _NO_HEAD
    # Only worker processes parse, and the parsers take 12 MB and a fifth of a second to load.
    from tools.files.web_page import PAGE_ERRORS, read_article  # noqa: PLC0415

    try:
        found = read_article(text, search=article)
    except PAGE_ERRORS as error:
        raise FileRefused(ErrorCode.FILE_NOT_TEXT, "it cannot be read as a page") from error
    declared = PageMetadata("", found.published, found.author, found.language)
    blocks = render_text_blocks(found.blocks)
    links = [f"{link.target.replace(' ', '%20')} {link.words}" for link in found.links]
    return PageText(found.title, blocks, declared, links=links), PageHead(
        found.declared_type, found.head_title
    )


@contextmanager
def _capped(seconds: float) -> Iterator[None]:
    """End this process if the block takes too much of the processor; refuse it much memory."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_size() + _MEMORY, hard))
    # Nobody handles the alarm, so that even a loop inside a C library ends.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _size() -> int:
    """Return how many bytes of address space this process has."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read().split()[0]) * resource.getpagesize()
