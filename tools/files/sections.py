"""Cut a document into sections of a sensible size, each with a place of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tools.files.shapes import Section

MOST = 6_000
"""Characters that a section may have."""
FEWEST = 1_500
"""A shorter section is joined with what follows it."""

UNTIL = " … "
"""What stands between the first and the last heading in the title of several sections."""

# Where a long text may be cut, the best place first; each cut keeps its white space on the left.
_CUTS = [r"(?<=\n\n)", r"(?<=\n)", r"(?<=[.!?]\s)|(?<=[。！？；])", r"(?<=\s)"]


class Piece(NamedTuple):
    """What a format itself sets apart: a page, a slide, a row, the text under a heading.

    `text` ends with the white space that keeps it from the next piece.
    """

    title: str
    first: str
    last: str
    text: str
    until: str = ""
    """The last heading that stands beside the first, and not below it."""

    @property
    def name(self) -> str:
        """Its title; that of several sections names the first and the last."""
        return f"{self.title}{UNTIL}{self.until}" if self.until else self.title


def arrange(
    pieces: Iterable[Piece], place: Callable[[str, str], str], fewest: int = FEWEST
) -> list[Section]:
    """Cut long pieces, join short ones, and name the place of each from its first and last."""
    parts = (part for piece in pieces if piece.text.strip() for part in _cut(piece))
    taken: set[str] = set()
    sections = []
    for group in _join(parts, fewest):
        name = _free(place(group.first, group.last), taken)
        taken.add(name)
        sections.append(Section(title=group.name, place=name, text=group.text.strip()))
    return sections


def numbered(word: str) -> Callable[[str, str], str]:
    """Return how to name places that are counted: `page=4`, or `page=4-6` for several."""
    return lambda first, last: f"{word}={first}" + (f"-{last}" if last != first else "")


def _cut(piece: Piece) -> Iterator[Piece]:
    """Yield parts of about the same size, cut at the ends of paragraphs where there are some."""
    target = len(piece.text) / math.ceil(len(piece.text) / MOST)
    text = ""
    for unit in _units(piece.text, _CUTS):
        if text and (len(text) + len(unit) > MOST or len(text) >= target):
            yield piece._replace(text=text)
            text = ""
        text += unit
    yield piece._replace(text=text)


def _units(text: str, cuts: list[str]) -> Iterator[str]:
    """Yield the largest units of a text that are not too long."""
    if len(text) <= MOST // 4:
        yield text
    elif not cuts:
        yield from (text[start : start + MOST] for start in range(0, len(text), MOST))
    else:
        for unit in filter(None, re.split(cuts[0], text)):
            yield from [unit] if len(unit) <= MOST // 2 else _units(unit, cuts[1:])


def _join(parts: Iterable[Piece], fewest: int) -> list[Piece]:
    """Join a part that is too short with the one after it; the last one with the one before."""
    groups: list[Piece] = []
    for part in parts:
        if groups and len(groups[-1].text) < fewest:
            groups[-1:] = _joined(groups[-1], part)
        else:
            groups.append(part)
    if len(groups) > 1 and len(groups[-1].text) < fewest:
        groups[-2:] = _joined(*groups[-2:])
    return groups


def _joined(one: Piece, two: Piece) -> list[Piece]:
    if len(one.text) + len(two.text) > MOST:
        return [one, two]
    title = one.title or two.title
    beside = two.title and one.title and two.title != title and _level(two) <= _level(one)
    until = two.until or (two.title if beside else one.until)
    return [Piece(title, one.first, two.last, one.text + two.text, until)]


def _level(piece: Piece) -> int:
    """Return the level of the heading that a piece begins with, 0 if it is not marked."""
    return len(piece.text) - len(piece.text.lstrip("#"))


def _free(place: str, taken: set[str]) -> str:
    """Return the place, with a number when it is taken: `bees-2`, `page=4&part=2`."""
    mark = "&part=" if "=" in place else "-"
    names = (f"{place}{mark}{number}" for number in range(2, len(taken) + 3))
    return place if place not in taken else next(name for name in names if name not in taken)
