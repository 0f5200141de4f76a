"""What a page says of itself beside its text: site, date, author, language and genre."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from graph.records import Genre
from text.dates import to_iso_timestamp
from text.regex import regex
from text.script import CJK, HAN
from text.words import STOPWORDS

LONGEST_AUTHOR = 100
"""The most characters of the names of authors; longer ones are cut after a whole name."""

_LANGUAGE_CHARS = 2_000
_MIN_HAN_SHARE = 0.2  # of the letters, of which a word of Chinese has two and one of English five
_MIN_KANA_SHARE = 0.1
_MAX_AUTHORS = 10_000  # characters of a field that are read
_MIN_WORDS = 20
_MIN_STOPWORD_SHARE = 0.25  # of the words of an English text
_PDF_DATE = regex(r"(?:D:)?((?:19|20)\d\d)(\d\d)(\d\d)")
_ISO_DATE = regex(r"((?:19|20)\d\d)(?:[-/.](\d\d)(?:[-/.](\d\d))?)?(?![\d年])")
_TAG = regex(r"[A-Za-z]{2,3}(?![A-Za-z])")
_NO_AUTHOR = regex(r"https?:|www\.|@|^(?:admin(?:istrator)?|user|root|unknown|author|none)$", re.I)
_LETTER = regex(r"[^\W\d_]")
_WORD = regex(r"[A-Za-z][A-Za-z'’]*")
_HAN_CHARACTER = regex(f"[{HAN}]")
_KANA = regex("[\u3040-\u30ff]")
_HANGUL = regex("[\uac00-\ud7af]")
_EAST_ASIAN = regex(f"[{CJK}]")


class PageMetadata(NamedTuple):
    """What is known of a page beside its title and text; what is not known is empty."""

    site: str = ""
    """The host of a web page without `www`; files have none, since they may be copied."""
    published: str = ""
    """An ISO date: a day, or as much of it as is known."""
    author: str = ""
    language: str = ""
    """The primary subtag of its language, such as `en`."""
    genre: Genre | Literal[""] = ""


NO_METADATA = PageMetadata()
"""The metadata of a page of which nothing is known."""


def extract_site(address: str) -> str:
    """Return the host of a web address without `www`; "" if it has none."""
    with suppress(ValueError):
        return (urlsplit(address).hostname or "").lower().removeprefix("www.")
    return ""


def to_published_date(text: object) -> str:
    """Return a date as documents declare it (ISO, PDF or in words) as an ISO date, or ""."""
    stated = str(text or "").strip()
    found = _ISO_DATE.match(stated) or _PDF_DATE.match(stated)
    if not found:
        return to_iso_timestamp(stated)[:10]
    parts = [part for part in found.groups() if part]
    with suppress(ValueError):
        date(*[int(part) for part in [*parts, "01", "01"][:3]])
        return "-".join(parts)
    return ""


def to_author_names(text: object) -> str:
    """Return the names of authors in one line; "" for accounts, addresses and mail addresses."""
    stated = str(text or "")[:_MAX_AUTHORS]
    names = [" ".join(name.split()) for name in stated.split(";")]
    kept = [name for name in names if _LETTER.search(name) and not _NO_AUTHOR.search(name)]
    while len("; ".join(kept)) > LONGEST_AUTHOR and len(kept) > 1:
        kept.pop()
    return "; ".join(dict.fromkeys(kept))[:LONGEST_AUTHOR]


def identify_language(text: str, declared: object = "") -> str:
    """Return the language of a text as a primary subtag; "" if it is not known.

    What the script shows counts more than what a page declares, since templates declare `en` over
    any text. Without a declaration a western text is English if it has the usual share of English
    stop words.
    """
    start = text[:_LANGUAGE_CHARS]
    if _EAST_ASIAN.search(start) and (found := _identify_by_script(start)):
        return found
    tag = _TAG.match(str(declared or "").strip())
    if tag and tag[0].lower() not in ("zh", "ja", "ko"):
        return tag[0].lower()
    words = [word.lower() for word in _WORD.findall(start)]
    known = sum(word in STOPWORDS for word in words)
    return "en" if len(words) >= _MIN_WORDS and known >= _MIN_STOPWORD_SHARE * len(words) else ""


def _identify_by_script(text: str) -> str:
    letters = len(_LETTER.findall(text))
    if len(_HANGUL.findall(text)) >= _MIN_HAN_SHARE * letters:
        return "ko"
    if len(_KANA.findall(text)) >= _MIN_KANA_SHARE * letters:
        return "ja"
    return "zh" if len(_HAN_CHARACTER.findall(text)) >= _MIN_HAN_SHARE * letters else ""
