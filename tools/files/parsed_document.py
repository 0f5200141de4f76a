"""A document as text: its blocks, tables and title, and its sections with their places."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, count, pairwise, zip_longest
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict

from library.page_metadata import (
    PageMetadata,
    identify_language,
    to_author_names,
    to_published_date,
)
from text.boilerplate import is_boilerplate
from text.regex import regex
from text.script import CJK
from text.sentences import is_heading
from text.text_blocks import announces_following, find_blocks
from tools.files.formats import TEXT_SUFFIXES


class DocumentSection(TypedDict):
    """A part of a document; `place` follows `#` in its location."""

    title: str
    place: str
    text: str


class ParsedDocument(TypedDict):
    """A document as text, in reading order."""

    title: str
    sections: list[DocumentSection]
    metadata: NotRequired[PageMetadata]
    """What the file declares of itself; its genre is known here only if it is `hostile`."""


def declare_metadata(
    document: ParsedDocument, *, published: object = "", author: object = "", language: object = ""
) -> ParsedDocument:
    """Return a document with the date, the authors and the language that its file declares."""
    text = "\n".join(section["text"] for section in document["sections"][:2])
    known = PageMetadata(
        published=to_published_date(published),
        author=to_author_names(author),
        language=identify_language(text, language),
    )
    return {**document, "metadata": known}


class CellGrid(NamedTuple):
    """The cells of one table; rows have their numbers in the file, from 1."""

    name: str
    header: list[str]
    """Empty if no row looks like a header."""
    rows: list[tuple[int, list[str]]]
    """The rows below the header that are not empty."""
    header_row: int = 0
    """The number of the header in the file; 0 without one."""


MAX_SECTION = 6_000
"""The most characters of a section."""
MAX_HEADING = 300
"""The most characters of a title or heading; every page of a document has them."""

MIN_SECTION = 1_500
"""A shorter section is joined with the next one."""

EARLY = 0.6
"""A part may end at this share of the usual length if a new topic begins there."""

UNTIL = " … "
"""Separates the first and the last heading in the title of joined sections."""

# Where a long block may be cut, the best place first; each cut leaves its white space on the left.
_CUTS = [r"(?<=\n)", r"(?<=[.!?]\s)|(?<=[。！？；])"]
_WORDS = regex(r"[\s\S]{1,500}(?<=\s)|\S+\s?")


class DocumentPiece(NamedTuple):
    """A unit of the format itself: a page, a slide, a row, the text under a heading.

    `text` ends with the white space that separates it from the next piece.
    """

    title: str
    first: str
    last: str
    text: str
    until: str = ""
    """The last heading on the level of the first."""
    is_apart: bool = False
    """Whether it is not joined with others, such as a table of contents."""

    @property
    def name(self) -> str:
        """Its title; that of several sections names the first and the last."""
        title, until = self.title[:MAX_HEADING], self.until[:MAX_HEADING]
        return f"{title}{UNTIL}{until}" if until else title


def number_piece(number: int, text: str, title: str = "") -> DocumentPiece:
    """Return a piece whose place is a number."""
    return DocumentPiece(title, str(number), str(number), text)


def arrange_sections(
    pieces: Iterable[DocumentPiece], place: Callable[[str, str], str], least: int = MIN_SECTION
) -> list[DocumentSection]:
    """Cut long pieces, join those shorter than `least`, and name the place of each section."""
    parts = (part for piece in pieces if piece.text.strip() for part in _cut(piece))
    sections: dict[str, DocumentSection] = {}
    seen: Counter[str] = Counter()
    for group in join_pieces(parts, least):
        name = _unique_place(place(group.first, group.last), sections, seen)
        sections[name] = DocumentSection(title=group.name, place=name, text=group.text.strip())
    return list(sections.values())


def make_place_namer(word: str) -> Callable[[str, str], str]:
    """Return a function that names numbered places: `page=4`, or `page=4-6` for several."""
    return lambda first, last: f"{word}={first}" + (f"-{last}" if last != first else "")


def make_numbered_document(
    title: str, pieces: Iterable[DocumentPiece], word: str, least: int = MIN_SECTION
) -> ParsedDocument:
    """Return the document of numbered pieces: pages, slides, rows or cells."""
    sections = arrange_sections(pieces, make_place_namer(word), least)
    return ParsedDocument(title=title, sections=sections)


def _cut(piece: DocumentPiece) -> Iterator[DocumentPiece]:
    """Yield parts of about the same size, cut where a new topic begins if possible.

    What announces something stays with it.
    """
    if len(piece.text) <= MAX_SECTION:
        yield piece
        return
    target = len(piece.text) / math.ceil(len(piece.text) / MAX_SECTION)
    part: list[str] = []
    size = 0
    for unit in _split_blocks(piece.text):
        enough = target * EARLY if _begins_topic(unit) else target
        if part and (size + len(unit) > MAX_SECTION or size >= enough):
            moves = len(part) > 1 and announces_following(part[-1])
            moved = part[-1:] if moves and len(part[-1]) + len(unit) <= MAX_SECTION else []
            yield piece._replace(text="".join(part[: len(part) - len(moved)]))
            part, size = moved, sum(map(len, moved))
        part.append(unit)
        size += len(unit)
    yield piece._replace(text="".join(part))


def _split_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a text, and parts of those that are too long."""
    starts = [start for start, _ in find_blocks(text)][1:]
    for start, end in pairwise([0, *starts, len(text)]):
        yield from _split_long(text[start:end], _CUTS)


def _begins_topic(unit: str) -> bool:
    """Tell whether a unit begins with a heading or the term of a definition."""
    line, _, below = unit.partition("\n\n")
    return bool(below.strip()) and "\n" not in line and is_heading(line)


def _split_long(text: str, cuts: list[str]) -> Iterator[str]:
    """Yield a text that is not too long, or else its parts between the best cuts."""
    if len(text) <= MAX_SECTION // 2:
        yield text
    elif cuts:
        for unit in filter(None, re.split(cuts[0], text)):
            yield from _split_long(unit, cuts[1:])
    else:
        for words in _WORDS.findall(text):
            yield from (words[at : at + MAX_SECTION] for at in range(0, len(words), MAX_SECTION))


def join_pieces(parts: Iterable[DocumentPiece], least: int) -> list[DocumentPiece]:
    """Join a part shorter than `least` with the one after it; the last one with the one before."""
    groups: list[DocumentPiece] = []
    for part in parts:
        if groups and (len(groups[-1].text) < least or _leads(groups[-1], part)):
            groups[-1:] = _join_two(groups[-1], part)
        else:
            groups.append(part)
    if len(groups) > 1 and len(groups[-1].text) < least:
        groups[-2:] = _join_two(*groups[-2:])
    return groups


def _leads(group: DocumentPiece, part: DocumentPiece) -> bool:
    """Tell whether a group announces what a part begins with, which is not a new section."""
    return announces_following(group.text.rstrip()) and not part.text.startswith("#")


def _join_two(first: DocumentPiece, second: DocumentPiece) -> list[DocumentPiece]:
    is_long = len(first.text) + len(second.text) > MAX_SECTION
    if is_long or first.is_apart or second.is_apart:
        return [first, second]
    title = first.title or second.title
    is_sibling = first.title and second.title not in ("", title) and _level(second) <= _level(first)
    until = second.until or (second.title if is_sibling else first.until)
    return [DocumentPiece(title, first.first, second.last, first.text + second.text, until)]


def _level(piece: DocumentPiece) -> int:
    """Return the level of the heading that a piece begins with, 0 if it is not marked."""
    return len(piece.text) - len(piece.text.lstrip("#"))


def _unique_place(place: str, taken: Collection[str], seen: Counter[str]) -> str:
    """Return the place, with a number if it is taken: `bees-2`, `page=4&part=2`.

    Args:
        place: The place.
        taken: The places that are taken.
        seen: The last number that each place was given; the new one is recorded there.
    """
    if place not in taken:
        return place
    mark = "&part=" if "=" in place else "-"
    for number in count(max(seen[place], 1) + 1):
        if (name := f"{place}{mark}{number}") not in taken:
            seen[place] = number
            break
    return name


_NOT_IN_SLUG = regex(r"[^\w\- ]")
_BETWEEN = regex(f"(?<=[{CJK}])\\s+(?=[{CJK}])")

_PROSE = 12
"""A block of so many words is a paragraph and no byline, badge or motto."""


class TextBlock(NamedTuple):
    """A paragraph (level 0) or a heading (level 1 to 9)."""

    text: str
    level: int = 0
    linked: float = 0.0
    """The share of its characters that are links."""
    in_margin: bool = False
    """Whether it is part of a menu, a footer or a margin of its page."""


def make_document(blocks: Iterable[TextBlock], title: str = "") -> ParsedDocument:
    """Return the document of these blocks, titled by its own heading if `title` is empty."""
    blocks = [*blocks]
    parts: list[tuple[str, str, list[TextBlock]]] = [("", "top", [])]
    seen: Counter[str] = Counter()
    for block in blocks:
        if block.level:
            parts.append((block.text, make_slug(block.text, seen), []))
        parts[-1][2].append(block)
    pieces = [
        DocumentPiece(heading, place, place, render_text_blocks(own))
        for heading, place, own in parts
    ]
    sections = arrange_sections(pieces, lambda first, last: first)
    return ParsedDocument(title=title or _heading(blocks), sections=sections)


def _heading(blocks: Sequence[TextBlock]) -> str:
    """Return the heading of a whole document: its first one, or its only one of level 1.

    A first heading below the first paragraphs is the heading of a part.
    """
    first = next((at for at, one in enumerate(blocks) if one.level and one.text.strip()), None)
    if first is None:
        return ""
    main = [one.text for one in blocks if one.level == 1]
    if len(main) == 1:
        return main[0]
    has_prose = any(len(one.text.split()) >= _PROSE for one in blocks[:first])
    return "" if has_prose else blocks[first].text


def render_text_blocks(blocks: Iterable[TextBlock]) -> str:
    """Return blocks as the text of a section: headings are marked with `#`."""
    marks = ((f"{'#' * min(one.level, 6)} " if one.level else "", one.text) for one in blocks)
    return "".join(f"{mark}{text}\n\n" for mark, text in marks)


def make_slug(heading: str, seen: Counter[str]) -> str:
    """Return the anchor that GitHub gives to a heading; a second one like it gets `-1`."""
    name = _NOT_IN_SLUG.sub("", heading.strip()[:MAX_HEADING].lower()).replace(" ", "-")
    name = name or "section"
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name] - 1}"


def unwrap_line(text: str) -> str:
    """Return a text on one line; Chinese lines are joined without a space."""
    if not text.isascii():
        text = _BETWEEN.sub(lambda space: "" if "\n" in space[0] else " ", text)
    return " ".join(text.split())


def render_row(header: list[str], cells: list[str]) -> str:
    """Write a row of a table as a sentence: `hive: A; weight: 38.2.`."""
    names = header + [""] * (len(cells) - len(header))
    pairs = [(name, cell) for name, cell in zip(names, cells, strict=False) if cell]
    line = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)
    return f"{line}." if line and line[-1] not in ".!?。！？" else line


def table_blocks(rows: Sequence[list[str]]) -> Iterator[TextBlock]:
    """Yield the rows of a table as sentences; the first with several cells is the header.

    A row above it, such as a title across the table, is text. A single row has no header.
    """
    wide = (at for at, cells in enumerate(rows) if sum(map(bool, cells)) > 1)
    first = next(wide, len(rows))
    is_header = first < len(rows) - 1
    header = rows[first] if is_header else []
    for at, cells in enumerate(rows):
        if any(cells) and not (is_header and at == first):
            yield TextBlock(render_row(header if at > first else [], cells))


HEADER_WITHIN = 5
"""The header of a table to compute with is among its first five rows that are not empty."""


def make_grid(name: str, rows: Iterable[list[str]]) -> CellGrid:
    """Return the cells of the rows below their header, whose names are all different."""
    header: list[str] = []
    header_row = 0
    body: list[tuple[int, list[str]]] = []
    for number, cells in _numbered(rows):
        if not header and len(body) < HEADER_WITHIN and _is_header(cells):
            above = body[-1][1] if body else []
            header, header_row, body = _tell_apart(cells, above), number, []
        elif header and not body and _continues_header(header, cells):
            header, header_row = _tell_apart(cells, header), number
        else:
            body.append((number, cells))
    return CellGrid(name, header, body, header_row)


def _continues_header(header: Sequence[str], cells: list[str]) -> bool:
    """Tell whether a row has the names of columns below years that stand above several of them."""
    names = zip_longest(header, cells, fillvalue="")
    below = any(cell and not name for name, cell in names)
    return below and any(map(_YEAR.fullmatch, header)) and _is_header(cells)


def _cell_or_last(last: str, cell: str) -> str:
    return cell or last


def _tell_apart(header: list[str], above: Sequence[str]) -> list[str]:
    """Return the names of columns, those that occur several times with what tells them apart.

    That is a heading above some of them (`2022 Sales`), or else the place (`Sales (column 4)`).
    """
    counts = Counter(name.casefold() for name in header)
    wide = [*above, *[""] * len(header)][: len(header)]
    heads = accumulate(wide, _cell_or_last)
    headed = [
        f"{head} {name}" if counts[name.casefold()] > 1 and head and name else name or own
        for name, head, own in zip(header, heads, wide, strict=True)
    ]
    named = headed if sum(map(bool, above)) > 1 else header
    counts = Counter(name.casefold() for name in named)
    return [
        f"{name} (column {at})" if name and counts[name.casefold()] > 1 else name
        for at, name in enumerate(named, start=1)
    ]


def make_row_pieces(rows: Iterable[list[str]], title: str = "") -> Iterator[DocumentPiece]:
    """Yield each row as a sentence; the first with two or more cells is the header."""
    header: list[str] = []
    for number, cells in _numbered(rows):
        if not header and _is_header(cells):
            header = cells
        else:
            yield number_piece(number, render_row(header, cells) + "\n", title)


def _numbered(rows: Iterable[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty with their numbers, from 1."""
    for number, row in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            yield number, cells


def _is_header(cells: list[str]) -> bool:
    """Tell whether a row has several cells and none is a number, except years in their order."""
    bare = [cell.replace(".", "", 1).replace(",", "").lstrip("-+") for cell in cells]
    numbers = [cell for cell, digits in zip(cells, bare, strict=True) if digits.isdecimal()]
    return sum(map(bool, cells)) > 1 and (not numbers or _are_columns(numbers, cells))


_YEAR = regex(r"(?:1[89]|20)\d\d")


def _are_columns(numbers: Sequence[str], cells: Sequence[str]) -> bool:
    """Tell whether numbers are the years of the columns of a table, whose rows have names."""
    if len(numbers) == sum(map(bool, cells)) or not all(map(_YEAR.fullmatch, numbers)):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(numbers)}
    # Two years in a row of data are most often the beginning and the end of something.
    return bool(steps) and (
        steps in ({1}, {-1}) or (len(numbers) > 2 and len(steps) == 1 and 0 not in steps)
    )


_HEADER_LINES = 12
_MAX_TITLE = 80
_DECORATION = " \t#*=-_~.。"
_TITLED = regex(r"title\s*:\s*(\S.*)", re.IGNORECASE)
# The name and purpose in a manual page.
_MANUAL = regex(
    r"\A\s*(?:\S+\([\w.]+\)[^\n]*\n\s*)?NAME\n+[ \t]+(\S[^\n]* [-–—‐] [^\n]*(?:\n[ \t]+\S[^\n]*)?)"
)
# The header of a downloaded copy: its address or its date.
_ADDRESSED = regex(r"https?://|^(?:date|retrieved|saved|fetched|crawled)\b.*:", re.IGNORECASE)


def find_document_title(document: ParsedDocument, path: Path) -> str:
    """Return the title of a document, else its first line, else the name of its file."""
    return document["title"] or _first_line(document, path) or path.stem


def _first_line(document: ParsedDocument, path: Path) -> str:
    """Return the words that a prose text begins with; code, settings and tables have none."""
    if path.suffix.lower() not in TEXT_SUFFIXES:
        return ""
    text = document["sections"][0]["text"]
    if manual := _MANUAL.match(text):
        line = re.sub(" [–—‐] ", " - ", manual[1], count=1)
        return shorten(line, _MAX_TITLE, placeholder="…")
    lines = text.splitlines()[:_HEADER_LINES]
    if titled := next(filter(None, map(_TITLED.match, lines)), None):
        return titled[1].strip()
    content = (line for line in lines if not (_ADDRESSED.search(line) or is_boilerplate(line)))
    bare = (line.strip(_DECORATION) for line in content)
    line = next((line for line in bare if any(map(str.isalpha, line))), "")
    return shorten(line, _MAX_TITLE, placeholder="…") if " " in line else line[:_MAX_TITLE]
