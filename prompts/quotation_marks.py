"""Find the quotation or code that a place in a text stands in.

A straight mark does not say whether it opens or closes, and some belong to no pair: inches, a
stray backtick, the end of a quotation whose beginning was cut off. Each is read by what stands
beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 2_000  # characters of a quotation
_AROUND = 300  # characters on each side in which words quote it
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_MARK = re.compile(r"`+|[\"“”‘’「」『』«»]")
_CLOSER = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_CLOSERS = frozenset(_CLOSER.values())
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
    pairs, ends = _list_pairs(text)
    for pair in pairs[bisect_right(ends, place - 1) :]:
        if pair.end > place + _LONGEST:
            break
        if pair.start <= place:
            return pair if text[pair.start - 1] == "`" or _has_words(text, pair) else None
    return None


@lru_cache(maxsize=4)
def _list_pairs(text: str) -> tuple[list[Quotation], list[int]]:
    """Return what stands between the marks of each pair, by where it ends, and these ends."""
    pairs: list[Quotation] = []
    opened: list[_Mark] = []
    done = 0
    for mark in _list_marks(text):
        if opened and _BLANK_LINE.search(text, done, mark.start):
            opened = []
        done = mark.start
        pair = next((at for at, one in enumerate(opened) if _fits(one, mark)), None)
        if pair is not None:
            if mark.start - opened[pair].end <= _LONGEST:
                pairs.append(Quotation(opened[pair].end, mark.start))
            del opened[pair:]
        elif mark.opens:
            # A second mark that opens the same: the first one is no half of a pair.
            opened = [*(one for one in opened if one.sign != mark.sign), mark]
    return pairs, [one.end for one in pairs]


def _list_marks(text: str) -> Iterator[_Mark]:
    for found in _MARK.finditer(text):
        sign = found[0]
        if sign in _CLOSER:
            opens, closes = True, False
        elif sign in _CLOSERS:
            opens, closes = False, True
        elif len(sign) >= _FENCE:
            opens, closes = True, True
        else:
            before = found.start() - 1
            while before >= 0 and text[before] == "\\":
                before -= 1
            left = text[before] if before >= 0 else ""
            opens, closes = _read_straight(left, text[found.end() : found.end() + 1])
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


def _has_words(text: str, pair: Quotation) -> bool:
    """Tell whether words of its paragraph quote what stands between two marks."""
    first, last = max(pair.start - 1 - _AROUND, 0), min(pair.end + 1 + _AROUND, len(text))
    starts = [found.end() for found in _BLANK_LINE.finditer(text, first, pair.start)]
    stop = _BLANK_LINE.search(text, pair.end, last)
    before = text[starts[-1] if starts else first : pair.start - 1]
    behind = text[pair.end + 1 : stop.start() if stop else last]
    around = _WORD.search(before) or _WORD.search(behind)
    return bool(around) and not _SYNTAX.search(before)
