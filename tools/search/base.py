"""What every search provider shares: its shape, its key, and what it makes of results."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Protocol

from pydantic import SecretStr
from typing_extensions import TypedDict

from config.errors import Problem
from retrieval.regex import regex
from retrieval.text import normalise


class Hit(TypedDict):
    """One result of a search; `snippet` is plain text and may be empty."""

    url: str
    title: str
    snippet: str


class Provider(Protocol):
    """A service that searches the web."""

    @property
    def name(self) -> str:
        """The name people choose it by."""

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return at most `limit` hits, best first.

        Raises:
            Problem: `search_unavailable` if the service does not answer as it should.
        """


QUERY = 400
"""The longest query, in characters; Tavily and Brave refuse longer ones."""

_URL = regex(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,2000}", re.IGNORECASE)
_MARKS = regex(r"</?(?:strong|b|em|i|mark|span|br)\b[^<>]*>", re.IGNORECASE)


def hits(results: object, snippet: str, limit: int) -> list[Hit]:
    """Return the usable ones among a provider's results.

    Args:
        results: What the provider calls its results.
        snippet: The key of the snippet in one of them.
        limit: How many are wanted.

    Raises:
        Problem: `search_unavailable` if that is no list.
    """
    if not isinstance(results, list):
        raise unreadable()
    found: list[Hit] = []
    for result in results:
        if len(found) >= limit:
            break
        url = result.get("url") if isinstance(result, dict) else None
        if isinstance(url, str) and _URL.fullmatch(url):
            found.append(
                Hit(
                    url=url,
                    title=_plain(result.get("title"), 300),
                    snippet=_plain(result.get(snippet), 2000),
                )
            )
    return found


def unreadable() -> Problem:
    """Return the problem that a provider's answer is not in the form it promises."""
    return Problem("search_unavailable", "its answer cannot be read")


def key(environ: Mapping[str, str], variable: str) -> SecretStr:
    """Return the key that a variable holds.

    Raises:
        Problem: `search_unavailable`, naming the variable and never its value.
    """
    value = environ.get(variable, "").strip()
    if not value:
        raise Problem("search_unavailable", f"{variable} is not set")
    if not (value.isascii() and value.isprintable()):
        raise Problem("search_unavailable", f"{variable} has characters that no key has")
    return SecretStr(value)


def _plain(value: object, most: int) -> str:
    """Return a text on one line, without the marks that some providers set in it."""
    text = html.unescape(_MARKS.sub("", value)) if isinstance(value, str) else ""
    return " ".join(normalise(text).split())[:most]
