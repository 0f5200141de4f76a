"""Cut a document into sections of a sensible size, each with a place of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from retrieval.blocks import announces, find_blocks
from retrieval.text import heading
from tools.files.shapes import Section

MOST = 6_000
"""Characters that a section may have."""
FEWEST = 1_500
"""A shorter section is joined with what follows it."""

EARLY = 0.6
"""A part may end so much earlier than the others do where something new begins."""

UNTIL = " … "
"""What stands between the first and the last heading in the title of several sections."""

# Where a long block may be cut, the best place first; each cut keeps its white space on the left.
_CUTS = [r"(?<=\n)", r"(?<=[.!?]\s)|(?<=[。！？；])", r"(?<=\s)"]


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
    """Yield parts of about the same size, cut where a new matter begins as far as there are some.

    What announces something stays with it.
    """
    if len(piece.text) <= MOST:
        yield piece
        return
    target = len(piece.text) / math.ceil(len(piece.text) / MOST)
    part: list[str] = []
    size = 0
    for unit in _of_blocks(piece.text):
        enough = target * EARLY if _begins(unit) else target
        if part and (size + len(unit) > MOST or size >= enough):
            kept = _announcing(part, MOST - len(unit))
            yield piece._replace(text="".join(part[: len(part) - len(kept)]))
            part, size = kept, sum(map(len, kept))
        part.append(unit)
        size += len(unit)
    yield piece._replace(text="".join(part))


def _announcing(part: list[str], room: int) -> list[str]:
    """Return the units at the end of a part that announce what follows it, if they have room."""
    last = part[-1:] if len(part) > 1 and announces(part[-1]) else []
    return last if len("".join(last)) <= room else []


def _of_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a text, and parts of those that are too long."""
    starts = [start for start, _ in find_blocks(text)][1:]
    for start, end in pairwise([0, *starts, len(text)]):
        block = text[start:end]
        yield from [block] if len(block) <= MOST // 2 else _units(block, _CUTS)


def _begins(unit: str) -> bool:
    """Tell whether a unit begins something new: with a heading or the term of a definition."""
    line, _, below = unit.partition("\n\n")
    return bool(below.strip()) and "\n" not in line and heading(line)


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
        if groups and (len(groups[-1].text) < fewest or _leads(groups[-1], part)):
            groups[-1:] = _joined(groups[-1], part)
        else:
            groups.append(part)
    if len(groups) > 1 and len(groups[-1].text) < fewest:
        groups[-2:] = _joined(*groups[-2:])
    return groups


def _leads(group: Piece, part: Piece) -> bool:
    """Tell whether a group ends with announcing what a part begins with, and not a new section."""
    return announces(group.text.rstrip()) and not part.text.startswith("#")


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
