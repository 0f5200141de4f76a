"""The blocks of a text: paragraphs with what belongs to them, headings, announced lists."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from text.normalization import cut_at_word, to_one_line
from text.pattern_files import PatternFile
from text.regex import regex
from text.sentences import BULLET, Span, is_entry, is_heading, split_sentences

_PATTERNS = PatternFile("text", "text_blocks.toml")


CODE = 2_500
"""Code of at most this many characters is one block, including blank lines."""

LEAD = 350
"""The most characters of a paragraph that introduces the one below it."""

LABEL = 40
"""The longest label of a note, in characters, with its marks."""

_BLANK = regex(r"\n\s*\n|\Z")
_MARKS = regex(r"\W*")
_COLONS = frozenset(":：")
_TERM_LINE = regex(r"\s*-{1,2}[A-Za-z][^\n]{0,120}$")
"""An option on a line of its own, followed by its description."""


@lru_cache(maxsize=256)
def split_blocks(text: str) -> tuple[tuple[int, int], ...]:
    """Return `find_blocks`, cached since every query of a run splits the same pages."""
    return tuple(find_blocks(text))


def find_blocks(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each block of a text: paragraphs with what belongs to them.

    A heading, the term of a definition and an announcement stay with the next paragraph, and code
    stays whole as far as its brackets show.
    """
    blocks: list[tuple[int, int]] = []
    introduces = is_code = False
    for start, end in _paragraphs(text):
        above = text[slice(*blocks[-1])] if blocks else ""
        paragraph = text[start:end]
        joins = introduces or _has_open_bracket(above) or (is_code and _is_code(paragraph))
        if len(above) <= CODE and joins:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((start, end))
        introduces, is_code = _introduces_next(paragraph), _is_code(paragraph)
    return blocks


def announces_following(text: str) -> bool:
    """Tell whether a text ends by announcing what follows it."""
    end = text[-200:]
    return _ends_in_colon(end) or bool(_PATTERNS.announces.search(end))


def is_note_label(text: str) -> bool:
    """Tell whether a text is only the label of a note: "Caution.", "Note:", "提示"."""
    return len(text) <= LABEL and bool(_PATTERNS.label.fullmatch(text))


def refers_back(text: str) -> bool:
    """Tell whether a text begins with words that refer to what precedes it."""
    return bool(_PATTERNS.back.match(text))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of paragraphs, which blank lines separate, without white space."""
    start = 0
    for blank in _BLANK.finditer(text):
        piece = text[start : blank.start()]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield first, start + len(piece.rstrip())
        start = blank.end()


def _introduces_next(paragraph: str) -> bool:
    """Tell whether a paragraph only introduces the one below it."""
    if len(paragraph) > LEAD:
        return False
    if is_note_label(paragraph):
        return True
    if "\n" not in paragraph and (_TERM_LINE.match(paragraph) or is_heading(paragraph)):
        return not BULLET.match(paragraph) or bool(_TERM_LINE.match(paragraph))
    return _ends_in_colon(paragraph) and not is_entry(paragraph.split("\n")[-1])


def _ends_in_colon(text: str) -> bool:
    """Tell whether a colon follows the last word of a text."""
    end = _MARKS.match(text[::-1])
    return bool(end and not _COLONS.isdisjoint(end[0]))


def _is_code(paragraph: str) -> bool:
    """Tell whether every line of a paragraph looks like code and none like a sentence."""
    return all(_PATTERNS.code.search(line) for line in paragraph.split("\n"))


def _has_open_bracket(block: str) -> bool:
    """Tell whether a block of code ends before a bracket is closed."""
    return "\n" in block and block.count("{") > block.count("}")


LONGEST = 80
"""The longest heading that is shown, in characters."""

_HEADING = regex(r"(#{1,6})\s+(\S.*)")
_ALONE = regex(r"(?:\A|(?<=\n\n))[#-][^\n]*(?=\n\s*\n|\s*\Z)")

_TERM_LEVEL = 7
"""The level of a term, below every heading."""


class Heading(NamedTuple):
    """A heading or a term: its start, its level (1 is the highest), and its words."""

    start: int
    level: int
    text: str


def find_headings_above(text: str, start: int) -> list[str]:
    """Return the headings above a place in a text, the highest first, and its term.

    A heading or a term that begins at the place is not above it.
    """
    marks = _marks(text)
    number = bisect_left(marks, (start,))
    begins_mark = number < len(marks) and marks[number].start == start
    level = marks[number].level if begins_mark else _TERM_LEVEL + 1
    above: list[Heading] = []
    for mark in marks[:number]:
        above = [one for one in above if one.level < mark.level] + [mark]
    return [one.text for one in above if one.level < level]


def find_headings(text: str) -> list[Heading]:
    """Return the marked headings of a text in their order, without the terms of definitions."""
    return [mark for mark in _marks(text) if mark.level < _TERM_LEVEL]


@lru_cache(maxsize=256)
def _marks(text: str) -> list[Heading]:
    return list(filter(None, map(_mark, _ALONE.finditer(text))))


def _mark(line: re.Match[str]) -> Heading | None:
    """Return the heading or the term that a line is, if it is one."""
    if heading := _HEADING.fullmatch(line[0]):
        return Heading(line.start(), len(heading[1]), cut_at_word(heading[2], LONGEST))
    term = _TERM_LINE.fullmatch(line[0])
    return Heading(line.start(), _TERM_LEVEL, to_one_line(line[0], LONGEST)) if term else None


LEAST = 2
"""The fewest items of a list."""

TERM = 60
"""The longest term of a definition list, in characters."""

_ROW = regex(r"\s*(?P<header>[^:：;；]{1,60}[:：] )[^;；]*[;；] [^:：;；]{1,60}[:：] ")
_TITLE = regex(r"#{1,6}\s+")
_RULE = regex(r"\s*[-=*_~^.]{3,}\s*$")
_ENDED = regex(r"(?<!\W)(?>\W*?[.!?;,。！？；，、…])\W*$")

Kind = Literal["item", "row", "term", "text", "heading"]


class AnnouncedList(NamedTuple):
    """A list: the sentence or heading that announces it, the heading above, and its items."""

    lead: Span
    above: str
    items: tuple[Span, ...]
    cut: bool = False
    """Whether the text ends with a term whose description is missing."""

    @property
    def end(self) -> int:
        """Where the last item ends."""
        return self.items[-1].end


class _Unit(NamedTuple):
    kind: Kind
    start: int
    end: int
    text: str


def find_lists(text: str) -> list[AnnouncedList]:
    """Return the lists of a text that something announces, in order.

    A list has marked items, the rows of one table, or terms that each precede their description.
    """
    return list(_announced(text, _with_terms(_units(text))))


def extend_to_list(text: str, span: Span, most: int) -> Span:
    """Return a piece of a text, extended to the end of the list it begins, within `most`."""
    ends = [one.end for one in find_lists(text) if span.start <= one.lead.start < span.end]
    end = max([span.end, *(one for one in ends if one - span.start <= most)])
    return Span(span.start, end, text[span.start : end])


def _announced(text: str, units: Sequence[_Unit]) -> Iterator[AnnouncedList]:
    above, at = "", 0
    for _, group in groupby(units, key=_same):
        run = list(group)
        before = units[at - 1] if at else None
        listed = run[0].kind in ("item", "row", "term") and len(run) >= LEAST
        lead = _lead(before, run[0].kind) if listed and before else None
        if lead:
            items = tuple(Span(*_inside(text, one)) for one in run)
            last = at + len(run) == len(units) - 1
            cut = run[0].kind == "term" and last and _is_short(units[-1])
            yield AnnouncedList(lead, above if above != lead.text else "", items, cut)
        headings = [one.text for one in run if _is_heading(one)]
        above = _TITLE.sub("", headings[-1]) if headings else above
        at += len(run)


def _same(unit: _Unit) -> str:
    """Return the key that items of one list share; rows have the same first header."""
    row = _ROW.match(unit.text) if unit.kind == "row" else None
    return f"{unit.kind} {row['header'].strip()}" if row else unit.kind


def _lead(unit: _Unit, kind: Kind) -> Span | None:
    """Return the last sentence above a list, or its heading; for terms it must announce them."""
    if unit.kind not in ("text", "heading"):
        return None
    mark = _TITLE.match(unit.text)
    if mark:
        return Span(unit.start + mark.end(), unit.end, unit.text[mark.end() :])
    last = split_sentences(unit.text)[-1]
    if kind == "term" and not (_PATTERNS.announces_list.search(last.text) or is_heading(last.text)):
        return None
    return Span(unit.start + last.start, unit.start + last.end, last.text)


def _inside(text: str, unit: _Unit) -> tuple[int, int, str]:
    """Return an item without its mark."""
    mark = _PATTERNS.mark.match(unit.text) if unit.kind == "item" else None
    start = unit.start + (mark.end() if mark else 0)
    return start, unit.end, text[start : unit.end]


def _is_heading(unit: _Unit) -> bool:
    return unit.kind == "heading" or (unit.kind == "text" and is_heading(unit.text))


def _units(text: str) -> list[_Unit]:
    """Return the headings, items, rows and paragraphs of a text."""
    units: list[_Unit] = []
    start, blank, depth = 0, True, 0
    for line in text.split("\n"):
        end = start + len(line.rstrip())
        deeper = _indent(line) > depth
        if not line.strip() or _RULE.match(line):
            blank = True
        elif units and _goes_on(units[-1], line, blank, deeper):
            last = units[-1]
            # A paragraph is a term if its description is indented right below it.
            kind: Kind = "term" if deeper and not blank and _is_short(last) else last.kind
            # The text of a unit is cut once, when its end is known.
            units[-1] = _Unit(kind, last.start, end, "\n")
            blank = False
        else:
            at = start + _indent(line)
            units.append(_Unit(_kind(line), at, end, text[at:end]))
            blank, depth = False, _indent(line)
        start += len(line) + 1
    return [unit._replace(text=text[unit.start : unit.end]) for unit in units]


def _kind(line: str) -> Kind:
    if _TITLE.match(line):
        return "heading"
    if _PATTERNS.mark.match(line):
        return "item"
    return "row" if _ROW.match(line) else "text"


def _goes_on(last: _Unit, line: str, blank: bool, deeper: bool) -> bool:
    """Tell whether a line belongs to the unit above it."""
    if last.kind == "heading" or _kind(line) in ("heading", "item", "row"):
        return False
    return deeper and last.kind in ("item", "term") if blank else last.kind != "row"


def _with_terms(units: list[_Unit]) -> list[_Unit]:
    """Join short lines that each stand above a paragraph with that paragraph."""
    whole: list[_Unit] = []
    terms = {at for at, (one, after) in enumerate(pairwise(units)) if _heads(one, after)}
    for at, unit in enumerate(units):
        describes = unit.kind == "text" and at not in terms
        near_term = not terms.isdisjoint((at - 1, at + 1))
        last = whole[-1] if whole else None
        in_term = last is not None and last.kind == "term"
        if last and in_term and describes and near_term:
            whole[-1] = _Unit("term", last.start, unit.end, f"{last.text}\n\n{unit.text}")
            continue
        announced = last and last.kind == "text" and _PATTERNS.announces_list.search(last.text)
        is_term = at in terms and (in_term or bool(announced))
        whole.append(unit._replace(kind="term") if is_term else unit)
    return whole


def _heads(unit: _Unit, after: _Unit) -> bool:
    if after.kind != "text" or len(after.text) <= len(unit.text):
        return False
    return _is_short(unit) and bool(_ENDED.search(after.text))


def _is_short(unit: _Unit) -> bool:
    """Tell whether a paragraph may be a term: one short line that ends no sentence."""
    short = unit.kind == "text" and len(unit.text) <= TERM and "\n" not in unit.text
    return short and not re.search(r"(?<!\W)(?>\W*?[.!?;:,。！？；：，、…])\W*$", unit.text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
