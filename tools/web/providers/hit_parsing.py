"""Make hits of what providers answer: plain text, and addresses that can be opened."""

from __future__ import annotations

import html
import re
from itertools import islice

from config.errors import ErrorCode, Problem
from text.normalization import normalize_text
from text.regex import regex
from tools.web.providers.provider import SearchHit

LONGEST_TITLE, LONGEST_SNIPPET = 300, 2000
"""In characters; what is longer is cut."""

_URL = regex(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2000}", re.IGNORECASE)
_MARKS = regex(r"</?(?:strong|b|em|i|mark|span|br)\b[^<>]*>", re.IGNORECASE)


def parse_hits(results: object, snippet: str, limit: int) -> list[SearchHit]:
    """Return the usable ones among a provider's results.

    Args:
        results: What the provider calls its results.
        snippet: The key of the snippet in one of them.
        limit: How many are wanted.

    Raises:
        Problem: `search_unavailable` if that is no list.
    """
    if not isinstance(results, list):
        raise unreadable_answer()
    named = ((one.get("url"), one) for one in results if isinstance(one, dict))
    usable = ((url, one) for url, one in named if isinstance(url, str) and _URL.fullmatch(url))
    return [
        SearchHit(
            url=url,
            title=to_plain_text(one.get("title"), LONGEST_TITLE),
            snippet=to_plain_text(one.get(snippet), LONGEST_SNIPPET),
        )
        for url, one in islice(usable, limit)
    ]


def unreadable_answer() -> Problem:
    """Return the problem that a provider's answer is not in the form it promises."""
    return Problem(ErrorCode.SEARCH_UNAVAILABLE, "its answer cannot be read")


def to_plain_text(value: object, most: int) -> str:
    """Return a text on one line, without the marks that some providers set in it."""
    text = html.unescape(_MARKS.sub("", value)) if isinstance(value, str) else ""
    return " ".join(normalize_text(text).split())[:most]
