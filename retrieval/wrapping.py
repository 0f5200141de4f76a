"""Tell a line that only ended because the page was not wider from one that ends there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from retrieval.entries import entry
from retrieval.regex import regex
from retrieval.script import CJK

NARROWEST, WIDEST = 40, 120
"""The columns of a page that lines are wrapped at, at least and at most."""

FULL = 0.9
"""A line is full if it and the next word would have taken more than this part of the page."""

BULLET = regex(r"\s*(?:[-*+•·▪◦>|]|\(?\d{1,3}[.)、]\s|[（(]?[一二三四五六七八九十]+[)）、])")
"""How an item of a list, a quoted line or a row of a table begins."""

HEADING = regex(r"#{1,6}\s")
"""How a heading begins in markdown."""

CLOSERS = "\"'\u2019\u201d\u300d\u300f\u300b\uff09)\\]\u3011"
"""What may close behind the mark that ends a sentence, for the inside of a character class."""

ENDED = regex(f"[.!?:;。！？；：…|][{CLOSERS}]*(?:\\[\\d+(?:, [^]\n]{{1,80}})?\\])*$")
"""How a line ends at which a sentence ends, too."""

_MARKS = frozenset(".!?:;。！？；：…|")
_LAST = _MARKS | set("\"'\u2019\u201d\u300d\u300f\u300b\uff09)]\u3011\n")
_GOES_ON = regex(
    r"(?:[,，、(（-]|\b(?:the|an?|of|and|or|but|to|in|into|for|with|by|on|at|from|as|than|that|which|who"
    r"|is|are|was|were|has|have|had|be|been|its?|their|his|her|not|if|when|because|between|about))$"
)
_WIDE = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]")
_FIRST = regex(f"[{CJK}]|[^\\s{CJK}]+")
_FIRST_CJK = regex(f"[{CJK}]")
_LONGEST_JOINING = len("between") + 1
_SIGNS = regex(r"[^\W\d_]+|\d+")
_DIGIT = regex(r"\d")


def page_width(lines: Sequence[str]) -> int:
    """Return the columns of the page that lines were wrapped at, or 0 if they were not.

    Nine in ten of the lines that have another one right below them are not longer, and most of
    them do not end with a sentence.
    """
    inside = [line for line, below in pairwise(map(str.rstrip, lines)) if line and below]
    widths = sorted(map(_columns, inside))
    width = widths[int(0.9 * (len(widths) - 1))] if widths else 0
    if not NARROWEST <= width <= WIDEST:
        return 0
    cut = sum(not ended(line) for line in inside)
    return width if 2 * cut > len(inside) else 0


def ended(line: str) -> bool:
    """Tell whether a line ends where a sentence ends, too."""
    last = line[-1:]
    return last in _MARKS or (last in _LAST and bool(ENDED.search(line)))


def goes_on(line: str, following: str, width: int) -> bool:
    """Tell whether the sentence of a line goes on in the line right below it.

    `width` is the width of their page, 0 if that is not known.
    """
    return may_join(line, following) and continues(line, following, width)


def continues(line: str, following: str, width: int) -> bool:
    """Do the same for two lines that are known to be prose."""
    bare = line.rstrip()
    after = following.strip()
    if ended(bare) or _columns(bare) < NARROWEST:
        return False
    if after[0].islower() or _FIRST_CJK.match(after):
        return True
    if _GOES_ON.search(bare, len(bare) - _LONGEST_JOINING):
        return True
    return full(bare, following, width)


def full(line: str, following: str, width: int) -> bool:
    """Tell whether the first word of the line below would not have fitted on a line."""
    word = _FIRST.match(following.lstrip())
    more = _columns(word[0]) if word else 0
    return bool(width) and _columns(line.rstrip()) + 1 + more > FULL * width


def may_join(line: str, following: str) -> bool:
    """Tell whether two lines are both prose: no headings, items, rows, settings or entries."""
    if not _is_prose(line) or BULLET.match(following) or not _is_prose(following):
        return False
    form = _form(line)
    return not form or form != _form(following)


# A line is asked about once with the line above it and once with the line below it.
@lru_cache(maxsize=64)
def _is_prose(line: str) -> bool:
    """Tell whether a line is no row, no heading and no entry; an empty line is none of them."""
    bare = line.strip()
    if not bare or "|" in bare or "\t" in bare or HEADING.match(bare):
        return False
    return not entry(line)


def _form(line: str) -> str:
    """Return how the first word of an entry is built, "0-0-0" for a date; of prose nothing."""
    words = line.split(maxsplit=1)
    word = words[0] if words else ""
    if not _DIGIT.search(word):
        return ""
    form = _SIGNS.sub(lambda sign: "0" if sign[0].isdecimal() else "a", word)
    return form if len(form) > 1 and not form[0].isspace() and "0" in form else ""


def _columns(text: str) -> int:
    """Return how wide a text is; a Chinese character is two columns wide."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
