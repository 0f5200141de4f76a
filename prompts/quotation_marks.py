"""Find the quotation or code that a place in a text stands in.

A straight mark does not say whether it opens or closes, and some belong to no pair: inches, a
stray backtick, the end of a quotation whose beginning was cut off. Each is read by what stands
beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_REACH = 1_000  # characters of a paragraph that are looked through on each side
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_MARK = re.compile(r"`+|[\"“”‘’「」『』«»]")
_CLOSER = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_BEFORE_OPENING = "([{<>=:,;—–-/"
_BEHIND_CLOSING = ")]}<>:,;.!?…"
_FENCE = 3  # backticks that begin a block of code
_WORD = re.compile(r"\w")
# Behind these a string begins in JSON and in what programs print; nobody quotes anything there.
_SYNTAX = re.compile(r"(?:[\"']\s*:|[\"'],(?:\s*\n)?|[\[{]|(?:\n|^)\W*[\w-]+:)\s*$")


class Quotation(NamedTuple):
    """What stands between two marks: `text[start:end]`."""

    start: int
    end: int


class _Mark(NamedTuple):
    sign: str
    start: int
    end: int
    opens: bool
    closes: bool


def find_quotation(text: str, place: int) -> Quotation | None:
    """Return the quotation or code of its paragraph that a place stands in, if there is one.

    It is closed within the paragraph, and stands among words that are not quoted: a string of
    JSON is none, nor is a paragraph that is nothing but a quotation.

    Args:
        text: The text.
        place: Where in it.
    """
    first, last = _find_paragraph(text, place)
    opened: list[_Mark] = []
    for mark in _list_marks(text, first, last):
        pair = next((at for at, one in enumerate(opened) if _fits(one, mark)), None)
        if pair is not None and mark.start >= place:
            before, behind = text[first : opened[pair].start], text[mark.end : last]
            quotation = Quotation(opened[pair].end, mark.start)
            return quotation if mark.sign[0] == "`" or _has_words(before, behind) else None
        if pair is not None:
            del opened[pair:]
        elif mark.opens:
            # A second mark that opens the same: the first one is no half of a pair.
            opened = [one for one in opened if one.sign != mark.sign]
            opened += [mark] if mark.start < place else []
    return None


def _find_paragraph(text: str, place: int) -> tuple[int, int]:
    """Return the ends of the paragraph of a place, of a long one some way on both sides."""
    earliest, latest = max(place - _REACH, 0), min(place + _REACH, len(text))
    before = [found.end() for found in _BLANK_LINE.finditer(text, earliest, place)]
    behind = _BLANK_LINE.search(text, place, latest)
    return before[-1] if before else earliest, behind.start() if behind else latest


def _list_marks(text: str, first: int, last: int) -> Iterator[_Mark]:
    for found in _MARK.finditer(text, first, last):
        sign = found[0]
        if sign in _CLOSER:
            opens, closes = True, False
        elif sign in _CLOSER.values():
            opens, closes = False, True
        elif len(sign) >= _FENCE:
            opens, closes = True, True
        else:
            before = found.start() - 1
            while before >= first and text[before] == "\\":
                before -= 1
            left = text[before] if before >= first else ""
            opens, closes = _read_straight(left, text[found.end() : min(found.end() + 1, last)])
        yield _Mark(sign, *found.span(), opens, closes)


def _read_straight(before: str, behind: str) -> tuple[bool, bool]:
    """Tell whether a straight mark between two characters may open, and whether it may close."""
    spaced_before, spaced_behind = not before.strip(), not behind.strip()
    opens = not spaced_behind and (spaced_before or before in _BEFORE_OPENING)
    closes = not spaced_before and (spaced_behind or behind in _BEHIND_CLOSING)
    if opens or closes or spaced_before or spaced_behind:
        return opens, closes
    return not before.isdigit(), True


def _fits(opened: _Mark, mark: _Mark) -> bool:
    return mark.closes and mark.sign == _CLOSER.get(opened.sign, opened.sign)


def _has_words(before: str, behind: str) -> bool:
    """Tell whether words around a quotation quote it."""
    around = _WORD.search(before) or _WORD.search(behind)
    return bool(around) and not _SYNTAX.search(before)
