"""Find what a piece of a page stands under: the headings above it, and the term it explains."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

from retrieval.blocks import TERM
from retrieval.regex import regex

LONGEST = 80
"""Of a heading so many characters are shown at most."""

_HEADING = regex(r"(#{1,6})\s+(\S.*)")
_ALONE = regex(r"(?:\A|(?<=\n\n))[#-][^\n]*(?=\n\s*\n|\s*\Z)")

_TERM_LEVEL = 7
"""A term stands below every heading."""


class _Mark(NamedTuple):
    """A heading or a term: where it begins, its level (1 is the highest), and its words."""

    start: int
    level: int
    text: str


def under(text: str, start: int) -> list[str]:
    """Return the headings that a piece of a text stands under, the highest first, and its term.

    A piece that begins with a heading or a term stands under what is above that.
    """
    marks = _marks(text)
    at = bisect_left(marks, (start,))
    first = marks[at].level if at < len(marks) and marks[at].start == start else _TERM_LEVEL + 1
    found: list[_Mark] = []
    for mark in marks[:at]:
        found = [one for one in found if one.level < mark.level] + [mark]
    return [one.text for one in found if one.level < first]


@lru_cache(maxsize=256)
def _marks(text: str) -> list[_Mark]:
    found = (_mark(line) for line in _ALONE.finditer(text))
    return [mark for mark in found if mark]


def _mark(line: re.Match[str]) -> _Mark | None:
    """Return the heading or the term that a line is, if it is one."""
    if found := _HEADING.fullmatch(line[0]):
        return _Mark(line.start(), len(found[1]), _short(found[2]))
    term = TERM.fullmatch(line[0])
    return _Mark(line.start(), _TERM_LEVEL, _short(line[0])) if term else None


def _short(words: str) -> str:
    words = words.strip()
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1].rstrip()}…"
