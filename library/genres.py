"""Judge the genre of a page: what kind of text it is, and so what its word is worth.

The address decides where it can: sites whose genre is known, then hosts and paths, then what the
page declares itself to be. The text decides of papers, of pages that sell, and of content farms.
Those are known by several signs together, since each alone is found on honest pages: the signs are
those of Ntoulas et al., "Detecting spam web pages through content analysis", WWW 2006 (repetition
of the words of the title, little different text), phrases of such pages, and what earns them money:
a disclosure of commissions, urging to buy, a title that promises the best of this year.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from graph.records import Genre
from prompts.prompt_injection import has_injection
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK
from text.sentences import split_sentences
from text.words import search_words

_PATTERNS = PatternFile("library", "genres.toml")
_WORD = regex(r"\w+")
_SIGNS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_CHINESE = regex(f"[{CJK}]")

_SITES: tuple[Genre, ...] = ("paper", "encyclopedia", "forum", "news", "blog", "documentation")
"""The genres with lists of sites, in the order in which they are asked."""

_ADDRESSES: tuple[Genre, ...] = ("paper", "forum", "documentation", "news", "blog")
_TYPES: tuple[Genre, ...] = ("paper", "forum", "news", "documentation", "blog", "vendor")

_JUDGED_CHARS = 40_000
_MIN_FARM_POINTS = 6
_MIN_WORDING = 2
_MIN_FARM_WORDS = 80  # a shorter text says too little of how it was made
_MIN_PAID_WORDS = 40  # unless it says itself that it earns commissions
_MIN_URGING = 2
_STUFFED_SHARE = 0.05  # of the words of a text, that its most frequent pair of words makes up
_MIN_STUFFED = 8
_REPEATED_SHARE = 0.15  # of the sentences, that were said before
_MIN_FILLER, _MANY_FILLER = 3, 5  # different phrases
_MIN_SELLING, _MIN_SELLING_AT_SHOP = 3, 1
_MIN_FORUM_LINES = 4
_MIN_SCHOLARLY = 5


class JudgedPage(NamedTuple):
    """A page of the web as far as its genre depends on it."""

    address: str
    title: str = ""
    text: str = ""
    declared_type: str = ""
    """The type of schema.org that it declares, in small letters."""
    author: str = ""
    published: str = ""
    head_title: str = ""
    """The title in the head of its markup, which often says more than the heading."""


def judge_genre(page: JudgedPage) -> Genre:
    """Return the genre of a page of the web; `unknown` where nothing decides.

    One that gives instructions to the model that reads it is `hostile`, wherever it stands.
    """
    if has_injection(f"{page.title}\n\n{page.text}"):
        return "hostile"
    host, place = _split_address(page.address)
    listed = next((genre for genre in _SITES if _is_listed(host, genre)), None)
    if listed:
        # An official site may have papers, as that of a library of medicine has.
        official = listed == "documentation" and _PATTERNS.paper_address.search(place)
        return "paper" if official else listed
    by_place = next(
        (genre for genre in _ADDRESSES if _PATTERNS.get(f"{genre}_address").search(place)), None
    )
    text = page.text[:_JUDGED_CHARS]
    wording = _Wording(text)
    if by_place in ("paper", "forum", "documentation"):
        return by_place
    if _is_paper(text):
        return "paper"
    if count_farm_points(page, wording) >= _MIN_FARM_POINTS:
        return "farm"
    return by_place or _judge_declared(page) or _judge_wording(place, wording)


def _split_address(address: str) -> tuple[str, str]:
    """Return the host without `www`, and the host with the path."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower().removeprefix("www.")
    except ValueError:
        return "", ""
    return host, f"{host}{parts.path or '/'}"


def _is_listed(host: str, genre: Genre) -> bool:
    """Tell whether a host or a domain above it is in the list of a genre."""
    labels = host.split(".")
    names = _PATTERNS.get_words(f"{genre}_sites")
    return any(".".join(labels[at:]) in names for at in range(len(labels)))


def _judge_declared(page: JudgedPage) -> Genre | None:
    declared = page.declared_type.lower()
    return next(
        (genre for genre in _TYPES if declared in _PATTERNS.get_words(f"{genre}_types")), None
    )


def _judge_wording(place: str, wording: _Wording) -> Genre:
    if len(_PATTERNS.forum_text.findall(wording.text)) >= _MIN_FORUM_LINES:
        return "forum"
    at_shop = _PATTERNS.vendor_address.search(place)
    least = _MIN_SELLING_AT_SHOP if at_shop else _MIN_SELLING
    return "vendor" if wording.count("selling") >= least else "unknown"


def _is_paper(text: str) -> bool:
    """Tell whether a text has an abstract, a list of references, and citations between them."""
    head = text[:6_000]
    if not _PATTERNS.abstract.search(head):
        return False
    marks = len(_PATTERNS.scholarly.findall(text))
    return marks >= _MIN_SCHOLARLY and (
        bool(_PATTERNS.references.search(text)) or len(text) >= _JUDGED_CHARS
    )


class _Wording:
    """A text in which phrases are counted, in small letters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()

    @cached_property
    def words(self) -> frozenset[str] | None:
        """The words of a western text; `None` for one that may have Chinese phrases."""
        if not self.lower.isascii() and _CHINESE.search(self.lower):
            return None
        if self.lower.isascii():
            return frozenset(self.lower.translate(_SIGNS).split())
        return frozenset(_WORD.findall(self.lower))

    def count(self, name: str) -> int:
        """Return how many different phrases of a kind the text has."""
        rows = _PATTERNS.get_rows(f"{name}_words")
        if self.words is not None and not any(map(self.words.issuperset, rows)):
            return 0
        return _count_different(_PATTERNS.get(name), self.lower)


def _count_different(pattern: re.Pattern[str], lower: str) -> int:
    """Return how many different phrases a text in small letters has."""
    return len({" ".join(found[0].split()) for found in pattern.finditer(lower)})


def count_farm_points(page: JudgedPage, wording: _Wording | None = None) -> int:
    """Return how much speaks for a text that is made to be found and not to be read.

    Phrases of such pages must be among the signs: honest pages repeat words and sentences, too. To
    have no author and no date, or to list the best of something without a source, is worth a point
    beside them.
    """
    wording = wording or _Wording(page.text[:_JUDGED_CHARS])
    text = wording.text
    paid = min(2, wording.count("affiliate"))
    phrases = wording.count("filler")
    filler = 3 if phrases >= _MANY_FILLER else 2 if phrases >= _MIN_FILLER else 0
    if filler + paid < _MIN_WORDING:
        return 0
    words = search_words(text)
    if len(words) < (_MIN_PAID_WORDS if paid else _MIN_FARM_WORDS):
        return 0
    repeated = 3 * _is_stuffed(words) + 2 * _repeats_itself(text)
    return filler + paid + repeated + _count_sales_points(page, text)


def _count_sales_points(page: JudgedPage, text: str) -> int:
    """Return what the title, the lack of a name and of sources, and the urging to buy speak for."""
    titles = f"{page.title}\n{page.head_title}"
    unsigned = not page.published and (not page.author or bool(_PATTERNS.team.search(page.author)))
    promises = bool(_PATTERNS.promising_title.search(titles))
    listed = bool(_PATTERNS.listicle.search(page.title)) or promises
    unsourced = listed and not _PATTERNS.sourced.search(text)
    urging = _count_different(_PATTERNS.urging, text.lower()) >= _MIN_URGING
    return unsigned + unsourced + 2 * promises + 2 * urging


def _is_stuffed(words: list[str]) -> bool:
    """Tell whether one pair of words, such as the one to be found by, is all over a text."""
    pairs = Counter(pair for pair in pairwise(words) if pair[0] != pair[1])
    _, most = pairs.most_common(1)[0] if pairs else (("", ""), 0)
    return most >= _MIN_STUFFED and most >= _STUFFED_SHARE * len(words)


def _repeats_itself(text: str) -> bool:
    """Tell whether many sentences of a text stand in it more than once."""
    sentences = [" ".join(one.text.lower().split()) for one in split_sentences(text)]
    long = [one for one in sentences if len(one) > 40]
    return len(long) >= 6 and len(long) - len(set(long)) >= _REPEATED_SHARE * len(long)
