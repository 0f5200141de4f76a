"""Make hits of what providers answer: plain text, and addresses that can be opened."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, cast

from config.errors import ErrorCode, Problem
from library.page_metadata import to_author_names, to_published_date
from text.normalization import normalize_text
from text.regex import regex
from tools.web.providers.provider import HitKind, SearchHit

LONGEST_TITLE, LONGEST_SNIPPET, LONGEST_TEXT = 300, 2000, 50_000
"""In characters; what is longer is cut."""

_URL = regex(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2000}", re.IGNORECASE)
_MARKS = regex(r"</?(?:strong|b|em|i|mark|span|code|su[bp]|jats:[\w-]+)\b[^<>]*>", re.I)
_BLOCKS = regex(r"</?(?:p|div|h\d|li|ul|ol|jats:(?:p|title|sec|list-item)|br)\b[^<>]*>", re.I)
_TAGS = regex(r"</?[A-Za-z][\w:.-]{0,40}(?:\s[^<>]{0,500})?/?>")
_DOI = regex(r"10\.\d{4,9}/\S{1,300}")


def parse_hits(
    results: object, limit: int, snippet: str, *, url: str = "url", date: str = ""
) -> list[SearchHit]:
    """Return the usable ones among results that are flat objects with a title.

    Args:
        results: What the provider calls its results.
        limit: How many are wanted.
        snippet: The key of the snippet in one of them.
        url: The key of the address.
        date: The key of the date, if they have one.

    Raises:
        Problem: `search_unavailable` if that is no list.
    """
    return collect_hits(
        results,
        limit,
        lambda one: make_hit(
            one.get(url), one.get("title"), one.get(snippet), date=one.get(date) if date else ""
        ),
    )


def collect_hits(
    results: object, limit: int, read: Callable[[dict[str, Any]], SearchHit | None]
) -> list[SearchHit]:
    """Return the hits that a function makes of results; those of which it makes none are left out.

    Raises:
        Problem: `search_unavailable` if the results are no list.
    """
    if not isinstance(results, list):
        raise unreadable_answer()
    read_ones = (read(one) for one in results if isinstance(one, dict))
    return list(islice((hit for hit in read_ones if hit), limit))


def make_hit(
    url: object,
    title: object,
    snippet: object = "",
    *,
    date: object = "",
    authors: Iterable[object] = (),
    site: object = "",
    doi: object = "",
    kind: HitKind | None = None,
    alternatives: Iterable[object] = (),
    text: object = "",
) -> SearchHit | None:
    """Return a hit of what a provider says, with the details that it knows; None without address.

    Whatever is not of the form that was promised counts as not known.
    """
    if not is_web_address(url):
        return None
    others = [one for one in dict.fromkeys(alternatives) if is_web_address(one) and one != url]
    details = {
        "date": to_published_date(date),
        "authors": join_authors(authors),
        "site": to_plain_text(site, LONGEST_TITLE),
        "doi": clean_doi(doi),
        "kind": kind,
        "alternatives": others,
        "text": to_plain_paragraphs(text, LONGEST_TEXT),
    }
    hit = {
        "url": url,
        "title": to_plain_text(title, LONGEST_TITLE),
        "snippet": to_plain_text(snippet, LONGEST_SNIPPET),
    }
    return cast("SearchHit", hit | {name: value for name, value in details.items() if value})


def is_web_address(value: object) -> bool:
    """Tell whether a value is an address that can be opened."""
    return isinstance(value, str) and _URL.fullmatch(value) is not None


def first_address(*values: object) -> str:
    """Return the first of some values that is an address that can be opened; "" if none is."""
    return next((str(one) for one in values if is_web_address(one)), "")


def unreadable_answer() -> Problem:
    """Return the problem that a provider's answer is not in the form it promises."""
    return Problem(ErrorCode.SEARCH_UNAVAILABLE, "its answer cannot be read")


def to_plain_text(value: object, most: int) -> str:
    """Return a text on one line, without the marks that some providers set in it."""
    text = html.unescape(_MARKS.sub("", _BLOCKS.sub(" ", value))) if isinstance(value, str) else ""
    return " ".join(normalize_text(text).split())[:most]


def to_plain_paragraphs(value: object, most: int) -> str:
    """Return a text in paragraphs, without tags of HTML or JATS."""
    if not isinstance(value, str):
        return ""
    marked = _TAGS.sub("", _BLOCKS.sub("\n\n", value[: 2 * most]))
    lines = normalize_text(html.unescape(marked)).split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(" ".join(one.split()) for one in lines)).strip()[
        :most
    ]


def join_authors(names: Iterable[object]) -> str:
    """Return the names of authors as pages have them."""
    return to_author_names(";".join(to_plain_text(one, 100).replace(";", ",") for one in names))


def clean_doi(value: object) -> str:
    """Return a DOI in lower case, without the address of a resolver; "" if it is none."""
    found = _DOI.search(value.lower()) if isinstance(value, str) else None
    return found[0].rstrip(".,;") if found else ""


def doi_address(doi: object) -> str:
    """Return the address of the page that a DOI leads to; "" without a DOI."""
    name = clean_doi(doi)
    return f"https://doi.org/{name}" if name else ""


def look_up(value: object, *path: str | int) -> Any:
    """Return what stands at a place of an answer; None where the answer has no such place."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def each_of(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in what should be a list of them."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def parse_xml(data: bytes) -> Any:
    """Return the root of an XML document, of which no entity is resolved and nothing is loaded.

    Raises:
        Problem: `search_unavailable` if it is no XML.
    """
    # Loading lxml takes long, and most searches need none.
    from lxml import etree  # noqa: PLC0415

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise unreadable_answer() from None


def text_of(element: Any, path: str, names: dict[str, str] | None = None) -> str:
    """Return all text of the first element at a path; "" if there is none."""
    found = element.find(path, names)
    # An entity that is not resolved is a node whose text is its name.
    return "" if found is None else "".join(found.itertext("*"))
