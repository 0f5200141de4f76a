"""A document as text.

Its blocks, its sections of a sensible size, each with a place, and its title.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from typing_extensions import TypedDict

from text.boilerplate import is_boilerplate
from text.regex import regex
from text.script import CJK
from text.sentences import is_heading
from text.text_blocks import announces_following, find_blocks
from tools.files.formats import TEXT_SUFFIXES


class DocumentSection(TypedDict):
    """A part of a document; `place` is what stands behind `#` in its location."""

    title: str
    place: str
    text: str


class CellGrid(NamedTuple):
    """The cells of one table; rows have the numbers they have in the file, from 1."""

    name: str
    header: list[str]
    """Empty where no row looks like one."""
    rows: list[tuple[int, list[str]]]
    """The rows below the header that hold anything."""


class ParsedDocument(TypedDict):
    """A document as text, in the order of reading."""

    title: str
    sections: list[DocumentSection]


MOST_IN_SECTION = 6_000
"""Characters that a section may have."""
FEWEST = 1_500
"""A shorter section is joined with what follows it."""

EARLY = 0.6
"""A part may end so much earlier than the others do where something new begins."""

UNTIL = " … "
"""What stands between the first and the last heading in the title of several sections."""

# Where a long block may be cut, the best place first; each cut keeps its white space on the left.
_CUTS = [r"(?<=\n)", r"(?<=[.!?]\s)|(?<=[。！？；])", r"(?<=\s)"]


class DocumentPiece(NamedTuple):
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


def arrange_sections(
    pieces: Iterable[DocumentPiece], place: Callable[[str, str], str], fewest: int = FEWEST
) -> list[DocumentSection]:
    """Cut long pieces, join short ones, and name the place of each from its first and last."""
    parts = (part for piece in pieces if piece.text.strip() for part in _cut(piece))
    taken: set[str] = set()
    sections = []
    for group in _join(parts, fewest):
        name = _free(place(group.first, group.last), taken)
        taken.add(name)
        sections.append(DocumentSection(title=group.name, place=name, text=group.text.strip()))
    return sections


def make_place_namer(word: str) -> Callable[[str, str], str]:
    """Return how to name places that are counted: `page=4`, or `page=4-6` for several."""
    return lambda first, last: f"{word}={first}" + (f"-{last}" if last != first else "")


def _cut(piece: DocumentPiece) -> Iterator[DocumentPiece]:
    """Yield parts of about the same size, cut where a new matter begins as far as there are some.

    What announces something stays with it.
    """
    if len(piece.text) <= MOST_IN_SECTION:
        yield piece
        return
    target = len(piece.text) / math.ceil(len(piece.text) / MOST_IN_SECTION)
    part: list[str] = []
    size = 0
    for unit in _of_blocks(piece.text):
        enough = target * EARLY if _begins(unit) else target
        if part and (size + len(unit) > MOST_IN_SECTION or size >= enough):
            kept = _announcing(part, MOST_IN_SECTION - len(unit))
            yield piece._replace(text="".join(part[: len(part) - len(kept)]))
            part, size = kept, sum(map(len, kept))
        part.append(unit)
        size += len(unit)
    yield piece._replace(text="".join(part))


def _announcing(part: list[str], room: int) -> list[str]:
    """Return the units at the end of a part that announce what follows it, if they have room."""
    last = part[-1:] if len(part) > 1 and announces_following(part[-1]) else []
    return last if len("".join(last)) <= room else []


def _of_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a text, and parts of those that are too long."""
    starts = [start for start, _ in find_blocks(text)][1:]
    for start, end in pairwise([0, *starts, len(text)]):
        block = text[start:end]
        yield from [block] if len(block) <= MOST_IN_SECTION // 2 else _units(block, _CUTS)


def _begins(unit: str) -> bool:
    """Tell whether a unit begins something new: with a heading or the term of a definition."""
    line, _, below = unit.partition("\n\n")
    return bool(below.strip()) and "\n" not in line and is_heading(line)


def _units(text: str, cuts: list[str]) -> Iterator[str]:
    """Yield the largest units of a text that are not too long."""
    if len(text) <= MOST_IN_SECTION // 4:
        yield text
    elif not cuts:
        yield from (
            text[start : start + MOST_IN_SECTION] for start in range(0, len(text), MOST_IN_SECTION)
        )
    else:
        for unit in filter(None, re.split(cuts[0], text)):
            yield from [unit] if len(unit) <= MOST_IN_SECTION // 2 else _units(unit, cuts[1:])


def _join(parts: Iterable[DocumentPiece], fewest: int) -> list[DocumentPiece]:
    """Join a part that is too short with the one after it; the last one with the one before."""
    groups: list[DocumentPiece] = []
    for part in parts:
        if groups and (len(groups[-1].text) < fewest or _leads(groups[-1], part)):
            groups[-1:] = _joined(groups[-1], part)
        else:
            groups.append(part)
    if len(groups) > 1 and len(groups[-1].text) < fewest:
        groups[-2:] = _joined(*groups[-2:])
    return groups


def _leads(group: DocumentPiece, part: DocumentPiece) -> bool:
    """Tell whether a group ends with announcing what a part begins with, and not a new section."""
    return announces_following(group.text.rstrip()) and not part.text.startswith("#")


def _joined(one: DocumentPiece, two: DocumentPiece) -> list[DocumentPiece]:
    if len(one.text) + len(two.text) > MOST_IN_SECTION:
        return [one, two]
    title = one.title or two.title
    beside = two.title and one.title and two.title != title and _level(two) <= _level(one)
    until = two.until or (two.title if beside else one.until)
    return [DocumentPiece(title, one.first, two.last, one.text + two.text, until)]


def _level(piece: DocumentPiece) -> int:
    """Return the level of the heading that a piece begins with, 0 if it is not marked."""
    return len(piece.text) - len(piece.text.lstrip("#"))


def _free(place: str, taken: set[str]) -> str:
    """Return the place, with a number when it is taken: `bees-2`, `page=4&part=2`."""
    mark = "&part=" if "=" in place else "-"
    names = (f"{place}{mark}{number}" for number in range(2, len(taken) + 3))
    return place if place not in taken else next(name for name in names if name not in taken)


_NOT_IN_SLUG = regex(r"[^\w\- ]")
_BETWEEN = regex(f"(?<=[{CJK}])\\s+(?=[{CJK}])")

PROSE = 12
"""What has so many words is a paragraph, and no byline, badge or motto."""


class TextBlock(NamedTuple):
    """A paragraph (level 0) or a heading (level 1 to 9)."""

    text: str
    level: int = 0
    linked: float = 0.0
    """The share of its characters that are links."""
    in_margin: bool = False
    """Whether it stands in a menu, a footer or a margin of its page."""


def make_document(blocks: Iterable[TextBlock], title: str = "") -> ParsedDocument:
    """Return the document of these blocks, titled by its own heading if `title` is empty."""
    blocks = [*blocks]
    found = [("", "top", [""])]
    seen: Counter[str] = Counter()
    for block in blocks:
        if block.level:
            found.append((block.text, make_slug(block.text, seen), []))
        found[-1][2].append(render_text_block(block))
    pieces = [
        DocumentPiece(heading, place, place, "".join(texts)) for heading, place, texts in found
    ]
    sections = arrange_sections(pieces, lambda first, last: first)
    return ParsedDocument(title=title or _heading(blocks), sections=sections)


def _heading(blocks: Sequence[TextBlock]) -> str:
    """Return the heading of a whole document: what it begins with, or its one main heading.

    What stands below the first paragraphs is otherwise the heading of a part.
    """
    at = next((at for at, one in enumerate(blocks) if one.level and one.text.strip()), None)
    if at is None:
        return ""
    main = [one.text for one in blocks if one.level == 1]
    if len(main) != 1 and any(len(one.text.split()) >= PROSE for one in blocks[:at]):
        return ""
    return main[0] if len(main) == 1 else blocks[at].text


def render_text_block(block: TextBlock) -> str:
    """Return a block as it stands in the text of a section: headings are marked with `#`."""
    mark = "#" * min(block.level, 6) + " " if block.level else ""
    return f"{mark}{block.text}\n\n"


def make_slug(heading: str, seen: Counter[str]) -> str:
    """Return the anchor that GitHub gives to a heading; a second one like it gets `-1`."""
    name = _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name] - 1}"


def unwrap_line(text: str) -> str:
    """Return a text without its line ends; Chinese lines are joined without a space."""
    if not text.isascii():
        text = _BETWEEN.sub(lambda space: "" if "\n" in space[0] else " ", text)
    return " ".join(text.split())


def render_row(header: list[str], cells: list[str]) -> str:
    """Write a row of a table as a sentence: `hive: A; weight: 38.2.`."""
    names = header + [""] * (len(cells) - len(header))
    pairs = [(name, cell) for name, cell in zip(names, cells, strict=False) if cell]
    line = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)
    return f"{line}." if line and line[-1] not in ".!?。！？" else line


_HEADER = 12
_LONGEST = 80
_DECORATION = " \t#*=-_~.。"
_TITLED = regex(r"title\s*:\s*(\S.*)", re.IGNORECASE)
# What a manual page is called, and what it is about.
_MANUAL = regex(
    r"\A\s*(?:\S+\([\w.]+\)[^\n]*\n\s*)?NAME\n+[ \t]+(\S[^\n]* [-–—‐] [^\n]*(?:\n[ \t]+\S[^\n]*)?)"
)
# The header of a copy: where it is from, when it was made.
_ADDRESSED = regex(r"https?://|^(?:date|retrieved|saved|fetched|crawled)\b.*:", re.IGNORECASE)


def find_document_title(document: ParsedDocument, path: Path) -> str:
    """Return the title of a document, else its first line, else the name of its file."""
    return document["title"] or _first_line(document, path) or path.stem


def _first_line(document: ParsedDocument, path: Path) -> str:
    """Return the words that a text begins with; code, settings and tables begin with none."""
    if path.suffix.lower() not in TEXT_SUFFIXES:
        return ""
    text = document["sections"][0]["text"]
    if manual := _MANUAL.match(text):
        line = re.sub(" [–—‐] ", " - ", manual[1], count=1)
        return shorten(line, _LONGEST, placeholder="…")
    lines = text.splitlines()[:_HEADER]
    told = next(filter(None, map(_TITLED.match, lines)), None)
    if told:
        return told[1].strip()
    telling = (line for line in lines if not (_ADDRESSED.search(line) or is_boilerplate(line)))
    bare = (line.strip(_DECORATION) for line in telling)
    line = next((line for line in bare if any(map(str.isalpha, line))), "")
    return shorten(line, _LONGEST, placeholder="…") if " " in line else line[:_LONGEST]
