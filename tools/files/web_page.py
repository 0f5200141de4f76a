"""Find the main text of a web page.

Trafilatura finds where it begins and ends; what it drops in between is put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from lxml import etree
from trafilatura import bare_extraction

from text.regex import regex
from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent
from tools.files.html import find_html_title, iterate_html_blocks, parse_html, strip_permalink
from tools.files.parsed_document import (
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_document,
)
from tools.files.stated_date import find_stated_date

PAGE_ERRORS = (
    etree.LxmlError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What trafilatura and lxml raise on a badly broken page."""

LONG = 2_000_000
"""Above this size trafilatura needs more than five seconds; a plain walk needs a second or less."""

_MENUS = frozenset({"nav", "header", "footer", "aside", "form"})
_SHINGLE = 12
_MIN_KNOWN = 0.6
_MIN_MENU = 3
_MIN_LINKED = 0.6
_MIN_INSIDE = 0.75
_MIN_TITLE = 6
_MIN_PROSE, _MAX_LINKED = 120, 0.3
_BODY = regex(r"<body\b", re.IGNORECASE)
_FIRST_SECTION = regex(
    r"<(?=(?:article|aside|details|figure|footer|header|main|nav|section)\b)", re.IGNORECASE
)
_NOT_LETTERS = regex(r"[\W_]+")
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_LOWER = bytes(range(128)).lower() + bytes(range(128, 256))
_COLON = regex(r"(?<!\W)(?>\W*?[:：])\W*$")
_FOOTNOTE = regex(r"\[\d{1,3}\]\s")
_LISTED = regex(r"-\s|\d+\.\s")


class PageLink(NamedTuple):
    """A link as a page writes it: the address, perhaps a relative one, and its words."""

    target: str
    words: str


class Article(NamedTuple):
    """The title of a page, the blocks of its text, and what the page declares of itself."""

    title: str
    blocks: list[TextBlock]
    published: str = ""
    author: str = ""
    language: str = ""
    declared_type: str = ""
    """Its type of schema.org, in small letters."""
    links: tuple[PageLink, ...] = ()
    """What it links to outside its menus, in its order."""
    head_title: str = ""
    """The title in its head, which may say more than its heading."""


def read_article(text: str, *, search: bool = True) -> Article:
    """Return the main text of a page in HTML, or else all of its text.

    Without `search`, only menus and footers are left out.
    """
    # HTML 5 allows a body without its tag, which libxml2 would read as a part of the head.
    if not _BODY.search(text):
        text = _FIRST_SECTION.sub("<body><", text, count=1)
    root = parse_html(text)
    every = list(iterate_html_blocks(root))
    article = None
    with suppress(*PAGE_ERRORS):
        article = _extract(text) if search and len(text) < LONG else None
    title, language = find_html_title(root), root.get("lang") or root.get("xml:lang") or ""
    links = tuple(_list_links(root))
    if article is None or not article.text:
        blocks = [block for block in every if not block.in_margin] or every
        heading = strip_permalink(title)
        stated = find_stated_date(root, every)
        return Article(heading, blocks, stated, "", language, "", links, title)
    found = _choose_title(root, article.title or "", title)
    published = article.date if article.date and _declares_date(root, article.date) else ""
    return Article(
        strip_permalink(found),
        _choose_blocks(root, every, article.text, found),
        published or find_stated_date(root, every),
        article.author or "",
        language,
        (article.pagetype or "").lower(),
        links,
        title,
    )


_PARTED = regex(r"\s[-–—|·:»]+\s|\s[|»]")


def _choose_title(root: Any, found: str, declared: str) -> str:
    """Return the title that was found if a heading of the page bears it out, else what it declares.

    Otherwise a manual page with a warning in it would be called "Warning". A part of what the page
    declares may be the site ("Postfix manual - anvil(8)"). Where the two say the same, it is spelt
    as declared: what was found has spaces around words in code.
    """
    letters = _letters(found)
    if not letters or letters == _letters(declared):
        return declared
    headings = [_letters("".join(one.itertext())) for one in root.iterfind(".//h1")]
    whole = not headings and not _PARTED.search(declared) and letters in _letters(declared)
    return found if letters in headings or whole else declared or found


def _declares_date(root: Any, date: str) -> bool:
    """Tell whether a page declares a date: dates are also found in examples and in comments."""
    declared = [*root.xpath("//meta/@content"), *root.xpath("//time/@datetime")]
    declared += root.xpath("//script[@type='application/ld+json']/text()")
    declared += root.xpath("//*[@itemprop]/@content")
    return any(date[:10] in one or date[:4] in one for one in map(str, declared))


def _list_links(root: Any) -> Iterator[PageLink]:
    """Yield the links of a page that have words and stand in none of its menus."""
    for link in root.iterfind(".//a[@href]"):
        words = " ".join("".join(link.itertext()).split())
        if words and not any(above.tag in _MENUS for above in link.iterancestors()):
            yield PageLink(link.get("href").strip(), words)


def _extract(text: str) -> Any:
    # The other functions compute a fingerprint too, which takes a fifth of their time.
    return bare_extraction(
        text,
        with_metadata=True,
        include_comments=False,
        # A date that is guessed from the text is worse than none.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )


def _choose_blocks(
    root: Any, every: Sequence[TextBlock], article: str, title: str
) -> list[TextBlock]:
    """Return those of all blocks that contain an article, and what it lacks between them."""
    known = _KnownText(article)
    for path in (".//main", ".//*[@role='main']", ".//article"):
        parts = root.xpath(path)
        blocks = list(iterate_html_blocks(parts[0])) if len(parts) == 1 else []
        text = "".join(block.text for block in blocks)
        if blocks and _KnownText(text).contains(article):
            return _from_main(blocks, _mark(blocks, known))
    return _from_body(every, _mark(every, known), title)


def _from_main(blocks: Sequence[TextBlock], marked: Sequence[bool]) -> list[TextBlock]:
    menus = _find_menus(blocks, marked)
    return [
        block
        for block, keep, menu in zip(blocks, marked, menus, strict=True)
        if keep or not (menu or block.in_margin)
    ]


def _from_body(blocks: Sequence[TextBlock], marked: Sequence[bool], title: str) -> list[TextBlock]:
    """Return what is between the ends of an article, or all text if that is clearly more.

    It begins with the heading that is the title of the page, and ends with prose and footnotes.
    All text, too, begins with that heading where only short lines stand above it.
    """
    start = _find_title(blocks, title, 0)
    if not (any(marked[:start]) or any(len(one.text) >= _MIN_PROSE for one in blocks[:start])):
        blocks, marked = blocks[start:], marked[start:]
    whole = _from_main(blocks, marked)
    ends = [at for at, keep in enumerate(marked) if keep]
    if not ends:
        return whole
    first, end = ends[0], _find_list_end(blocks, ends[-1]) + 1
    while end < len(blocks) and _goes_on(blocks[end]):
        end += 1
    first = _find_title(blocks[:first], title, first)
    while first and blocks[first - 1].level and not blocks[first - 1].in_margin:
        first -= 1
    inside = _from_main(blocks[first:end], marked[first:end])
    return inside if _size(inside) >= _MIN_INSIDE * _size(whole) else whole


def _goes_on(block: TextBlock) -> bool:
    """Tell whether a block behind the last known words of an article still belongs to it."""
    if _FOOTNOTE.match(block.text):
        return True
    prose = len(block.text) >= _MIN_PROSE and block.linked < _MAX_LINKED
    return prose and not (block.level or block.in_margin)


def _find_title(before: Sequence[TextBlock], title: str, first: int) -> int:
    """Return where the heading stands that is the title of a page; `first` if it has none."""
    wanted = _letters(title)
    for at, block in enumerate(before):
        said = _letters(block.text)
        is_title = said == wanted or (len(said) >= _MIN_TITLE and said in wanted)
        if said and is_title and block.level and not block.in_margin:
            return at
    return first


def _find_list_end(blocks: Sequence[TextBlock], last: int) -> int:
    """Return the last item of a list that the last words of an article announce or begin."""
    if not _COLON.search(blocks[last].text) and not _LISTED.match(blocks[last].text):
        return last
    while last + 1 < len(blocks) and _LISTED.match(blocks[last + 1].text):
        last += 1
    return last


def _find_menus(blocks: Sequence[TextBlock], marked: Sequence[bool]) -> list[bool]:
    """Tell of each block whether it is one of several links in a row that nothing announces."""
    menus: list[bool] = []
    linked = [
        block.linked > _MIN_LINKED and not keep for block, keep in zip(blocks, marked, strict=True)
    ]
    for is_linked, run in groupby(linked):
        size = len(list(run))
        announced = bool(menus) and _COLON.search(blocks[len(menus) - 1].text) is not None
        menus += [is_linked and size >= _MIN_MENU and not announced] * size
    return menus


def _size(blocks: Iterable[TextBlock]) -> int:
    return sum(len(_letters(block.text)) for block in blocks)


def _mark(blocks: Sequence[TextBlock], known: _KnownText) -> list[bool]:
    """Tell of each block whether most of its words are in an article; a short one never is."""
    return [known.contains(block.text) for block in blocks]


class _KnownText:
    """A text, and whether it has most words of another."""

    def __init__(self, text: str) -> None:
        self.letters = _letters(text)

    @cached_property
    def shingles(self) -> set[str]:
        """All pieces of `_SHINGLE` letters."""
        letters = self.letters
        return {letters[at : at + _SHINGLE] for at in range(len(letters) - _SHINGLE + 1)}

    def contains(self, text: str) -> bool:
        """Tell whether most of a text is here; a short one never is."""
        letters = _letters(text)
        starts = range(0, len(letters) - _SHINGLE + 1, _SHINGLE)
        # Nearly all texts that are here are here as a whole, which is found much sooner.
        if not starts or letters in self.letters:
            return bool(starts)
        known = sum(letters[at : at + _SHINGLE] in self.shingles for at in starts)
        return known > _MIN_KNOWN * len(starts)


def _letters(text: str) -> str:
    """Return a text in small letters without its spaces and signs."""
    # What is left for the pattern are the signs beyond ASCII, of which most texts have few.
    bare = text.encode("utf-8", "surrogatepass").translate(_LOWER, _SIGNS)
    return _NOT_LETTERS.sub("", bare.decode("utf-8", "surrogatepass")).lower()


_HEADER = 4_000
# What browsers and mirroring programs write at the top of a copy.
_MIRRORED = regex(
    r"<!--[^>]{0,200}?(?:saved from url=\(\d+\)|mirrored from |source: ?|archived from )"
    r"((?:https?://)?[\w-]+\.[^\s<>\"']{3,500})",
    re.IGNORECASE,
)


def read_html(file: FileContent) -> ParsedDocument:
    """Read the text of a page; its title is in its metadata or its first heading."""
    text = decode_bytes(file.data, markup=True)
    article = read_article(text)
    origin: list[TextBlock] = []
    if mirrored := _MIRRORED.search(text[:_HEADER]):
        address = mirrored[1] if "://" in mirrored[1] else f"https://{mirrored[1]}"
        origin = [TextBlock(f"Source: {address}")]
    made = make_document([*origin, *article.blocks], article.title)
    return declare_metadata(
        made, author=article.author, published=article.published, language=article.language
    )
