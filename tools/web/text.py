"""Find the text of a web page, in a process that may be killed."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from trafilatura import extract_with_metadata

from config.errors import Problem
from retrieval.text import normalise
from tools.apart import WorkerLost, run_apart
from tools.files.markup import blocks, parse, title
from tools.files.outline import Block, one_line, written
from tools.files.shapes import Refused
from tools.web.charset import decoded

if sys.platform == "linux":
    import resource


class Text(NamedTuple):
    """What a page says; `published` is a date like `2024-05-31`, or empty."""

    title: str
    published: str
    text: str


_MEMORY = 512_000_000
# A new worker first imports the parsers.
_START = 30.0
_TITLE = 300
# Above this size trafilatura needs more than five seconds; a plain walk needs half a second.
_LONG = 2_000_000
# A page that is broken enough makes trafilatura and lxml raise any of these.
_BROKEN = (
    etree.LxmlError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_FIRST_SECTION = re.compile(
    r"<(?=(?:article|aside|details|figure|footer|header|main|nav|section)\b)", re.IGNORECASE
)


async def read_text(data: bytes, charset: str, *, markup: bool, seconds: float = 5.0) -> Text:
    """Return the text of a page, its title and its date, as far as the page tells them.

    Args:
        data: The body of the page.
        charset: The encoding that the server named, or nothing.
        markup: Whether it is HTML; if not, all of it is text.
        seconds: How long the processor may look for the text. A page that is too entangled to find
            its article in half of that is read as a whole.

    Raises:
        Problem: `page_not_text` or `page_timeout`.
    """
    for article in (True, False):
        call = partial(_read, data, charset, markup, article=article, seconds=seconds / 2)
        try:
            return await run_apart(call, seconds + _START)
        except (TimeoutError, WorkerLost):
            continue
        except (Refused, MemoryError, UnicodeError) as error:
            raise Problem("page_not_text", "its characters cannot be read as text") from error
    raise Problem("page_timeout", "its text could not be found in time")


def _read(data: bytes, charset: str, markup: bool, *, article: bool, seconds: float) -> Text:
    with _capped(seconds):
        text = decoded(data, charset, markup=markup)
        found = _page(text, article=article) if markup else Text("", "", text)
        heading = one_line(normalise(found.title))[:_TITLE]
        return Text(heading, found.published, normalise(found.text).strip())


def _page(text: str, *, article: bool) -> Text:
    whole = _with_body(text)
    with suppress(*_BROKEN):
        found = _article(whole) if article and len(whole) < _LONG else None
        if found:
            return found
    try:
        return _everything(whole)
    except _BROKEN as error:
        raise Refused("file_not_text", "it cannot be read as a page") from error


def _with_body(text: str) -> str:
    """Name the body where HTML 5 lets its tag out: libxml2 would take it for a part of the head."""
    return text if _BODY.search(text) else _FIRST_SECTION.sub("<body><", text, count=1)


def _article(text: str) -> Text | None:
    """Return the article of a page without what stands around it, or None if there is none."""
    found = extract_with_metadata(
        text,
        output_format="html",
        include_comments=False,
        # A date that is guessed from the text is worse than none.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    if found is None or not found.text:
        return None
    return Text(found.title or "", found.date or "", _joined(blocks(parse(found.text))))


def _everything(text: str) -> Text:
    if not text.strip():
        return Text("", "", "")
    root = parse(text)
    return Text(title(root), "", _joined(blocks(root, around=False)))


def _joined(found: Iterator[Block]) -> str:
    return "".join(written(block) for block in found)


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
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()
