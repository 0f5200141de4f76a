"""Find the part of a web page that is its text.

Trafilatura says where it begins and ends, and what it drops between is put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from lxml import etree
from trafilatura import extract_with_metadata

from text.regex import regex
from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent
from tools.files.html import find_html_title, iterate_html_blocks, parse_html, strip_permalink
from tools.files.parsed_document import ParsedDocument, TextBlock, make_document

PAGE_ERRORS = (
    etree.LxmlError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What trafilatura and lxml raise when a page is broken enough."""

LONG = 2_000_000
"""Above this size trafilatura needs more than five seconds; a plain walk needs a second or less."""

_SHINGLE = 12
_MOST = 0.6
_MENU = 3
_LINKED = 0.6
_ENOUGH = 0.75
_BODY = regex(r"<body\b", re.IGNORECASE)
_FIRST_SECTION = regex(
    r"<(?=(?:article|aside|details|figure|footer|header|main|nav|section)\b)", re.IGNORECASE
)
_NOT_LETTERS = regex(r"[\W_]+")
_COLON = regex(r"(?<!\W)(?>\W*?[:：])\W*$")
_LISTED = regex(r"-\s|\d+\.\s")


class Article(NamedTuple):
    """The blocks of a page's text, its title, and its date as far as the page declares one."""

    title: str
    published: str
    blocks: list[TextBlock]


def read_article(text: str, *, search: bool = True) -> Article:
    """Return the text of a page without what stands around it, or else all of it.

    Args:
        text: The page as HTML.
        search: Whether to look for the article; without it only menus and footers are left out.
    """
    whole = _with_body(text)
    root = parse_html(whole)
    found = None
    with suppress(*PAGE_ERRORS):
        found = _searched(whole) if search and len(whole) < LONG else None
    if found is None or not found.text:
        return Article(
            strip_permalink(find_html_title(root)), "", _plain(list(iterate_html_blocks(root)))
        )
    kept = _chosen(root, found.text)
    return Article(strip_permalink(found.title or find_html_title(root)), found.date or "", kept)


def _with_body(text: str) -> str:
    """Name the body where HTML 5 lets its tag out: libxml2 would take it for a part of the head."""
    return text if _BODY.search(text) else _FIRST_SECTION.sub("<body><", text, count=1)


def _searched(text: str) -> Any:
    return extract_with_metadata(
        text,
        output_format="txt",
        include_comments=False,
        # A date that is guessed from the text is worse than none.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )


def _chosen(root: Any, article: str) -> list[TextBlock]:
    """Return the blocks that hold an article, and what it lacks between them."""
    known = _shingles(article)
    for part in _main_parts(root):
        found = list(iterate_html_blocks(part))
        if _is_known(_letters(article), _shingles("".join(block.text for block in found))):
            return _from_main(found, _marked(found, known))
    found = list(iterate_html_blocks(root))
    return _from_body(found, _marked(found, known))


def _main_parts(root: Any) -> Iterator[Any]:
    """Yield the element that a page itself names as its main part, if it names just one."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        parts = root.xpath(path)
        if len(parts) == 1:
            yield parts[0]


def _from_main(found: Sequence[TextBlock], marked: Sequence[bool]) -> list[TextBlock]:
    menus = _in_menus(found, marked)
    return [
        block
        for block, keep, menu in zip(found, marked, menus, strict=True)
        if keep or not (menu or block.in_margin)
    ]


def _from_body(found: Sequence[TextBlock], marked: Sequence[bool]) -> list[TextBlock]:
    """Return what stands between the ends of an article, or all text if that is clearly more."""
    whole = _from_main(found, marked)
    ends = [at for at, keep in enumerate(marked) if keep]
    if not ends:
        return whole
    first, last = _opened(found, ends[0]), _closed(found, ends[-1]) + 1
    inside = _from_main(found[first:last], marked[first:last])
    return inside if _size(inside) >= _ENOUGH * _size(whole) else whole


def _opened(found: Sequence[TextBlock], first: int) -> int:
    """Return where the headings above an article begin."""
    while first and found[first - 1].level and not found[first - 1].in_margin:
        first -= 1
    return first


def _closed(found: Sequence[TextBlock], last: int) -> int:
    """Return where the list ends that the last words of an article announce."""
    if not _COLON.search(found[last].text) and not _LISTED.match(found[last].text):
        return last
    while last + 1 < len(found) and _LISTED.match(found[last + 1].text):
        last += 1
    return last


def _in_menus(found: Sequence[TextBlock], marked: Sequence[bool]) -> list[bool]:
    """Say of each block whether it is one of several links in a row that no sentence announces."""
    menus: list[bool] = []
    linked = [
        block.linked > _LINKED and not keep for block, keep in zip(found, marked, strict=True)
    ]
    for is_linked, run in groupby(linked):
        size = len(list(run))
        announced = bool(menus) and _COLON.search(found[len(menus) - 1].text) is not None
        menus += [is_linked and size >= _MENU and not announced] * size
    return menus


def _plain(found: list[TextBlock]) -> list[TextBlock]:
    """Return a page without what is around its text, or all of it where there is nothing else."""
    return [block for block in found if not block.in_margin] or found


def _size(found: Iterable[TextBlock]) -> int:
    return sum(len(_letters(block.text)) for block in found)


def _marked(found: Sequence[TextBlock], known: set[str]) -> list[bool]:
    """Say of each block whether most of its words are in an article; of a short one nothing."""
    return [_is_known(_letters(block.text), known) for block in found]


def _is_known(letters: str, known: set[str]) -> bool:
    starts = range(0, len(letters) - _SHINGLE + 1, _SHINGLE)
    pieces = [letters[at : at + _SHINGLE] for at in starts]
    return bool(pieces) and sum(piece in known for piece in pieces) > _MOST * len(pieces)


def _shingles(text: str) -> set[str]:
    letters = _letters(text)
    return {letters[at : at + _SHINGLE] for at in range(len(letters) - _SHINGLE + 1)}


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).lower()


_HEADER = 4_000
# What browsers and mirroring programs write into the head of a copy.
_MIRRORED = regex(
    r"<!--[^>]{0,200}?(?:saved from url=\(\d+\)|mirrored from |source: ?|archived from )"
    r"((?:https?://)?[\w-]+\.[^\s<>\"']{3,500})",
    re.IGNORECASE,
)


def read_html(file: FileContent) -> ParsedDocument:
    """Read the text of a page; its title is in its metadata or its first heading."""
    text = decode_bytes(file.data, markup=True)
    found = read_article(text)
    mirrored = _MIRRORED.search(text[:_HEADER])
    origin = [TextBlock(f"Source: {_address(mirrored[1])}")] if mirrored else []
    return make_document([*origin, *found.blocks], found.title)


def _address(text: str) -> str:
    return text if "://" in text else f"https://{text}"
