"""Find the lists of a page: what announces each, and its items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from retrieval.regex import regex
from retrieval.text import Span, heading, sentences

LEAST = 2
"""A list has at least so many items."""

TERM = 60
"""The term of a definition list has at most so many characters."""

_MARK = regex(
    r"\s*(?:[-*+•·▪◦]\s+|\(?(?:\d{1,3}|[a-z])[.)]\s+|\d{1,3}、\s*|[（(]?[一二三四五六七八九十]+[)）、.]\s*)"
    r"(?=\S)"
)
_ROW = regex(r"\s*(?P<header>[^:：;；]{1,60}[:：] )[^;；]*[;；] [^:：;；]{1,60}[:：] ")
_TITLE = regex(r"#{1,6}\s+")
_RULE = regex(r"\s*[-=*_~^.]{3,}\s*$")
_ENDED = regex(r"(?<!\W)(?>\W*?[.!?;,。！？；，、…])\W*$")
_ANNOUNCES = regex(
    r"(?<!\W)(?>\W*?[:：])\W*$|\bfollowing\b|\bbelow\b|如下|以下|下面|下列", re.IGNORECASE
)

Kind = Literal["item", "row", "term", "text", "heading"]


class Listing(NamedTuple):
    """A list: the sentence or heading that announces it, the heading above, and its items."""

    lead: Span
    above: str
    items: tuple[Span, ...]
    cut: bool = False
    """Whether the text ends with a term that nothing is said of any more."""

    @property
    def end(self) -> int:
        """Where the last item ends."""
        return self.items[-1].end


class _Unit(NamedTuple):
    kind: Kind
    start: int
    end: int
    text: str


def listings(text: str) -> list[Listing]:
    """Return the lists of a text that something announces, in order.

    A list has marked items, the rows of one table, or terms that each stand above or before what
    is said of them.
    """
    return list(_announced(text, _with_terms(_units(text))))


def with_lists(text: str, span: Span, most: int) -> Span:
    """Return a piece of a text that goes on to the end of the list it begins, within `most`."""
    begun = [one.end for one in listings(text) if span.start <= one.lead.start < span.end]
    fitting = [end for end in begun if end - span.start <= most]
    end = max([span.end, *fitting])
    return Span(span.start, end, text[span.start : end])


def _announced(text: str, units: Sequence[_Unit]) -> Iterator[Listing]:
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
            yield Listing(lead, above if above != lead.text else "", items, cut)
        headings = [one.text for one in run if _is_heading(one)]
        above = _TITLE.sub("", headings[-1]) if headings else above
        at += len(run)


def _same(unit: _Unit) -> str:
    """Return what neighbours share that are items of one list; rows have the same first header."""
    row = _ROW.match(unit.text) if unit.kind == "row" else None
    return f"{unit.kind} {row['header'].strip()}" if row else unit.kind


def _lead(unit: _Unit, kind: Kind) -> Span | None:
    """Return the last sentence of what stands above a list, or the heading.

    What stands above terms must say that they follow.
    """
    if unit.kind not in ("text", "heading"):
        return None
    mark = _TITLE.match(unit.text)
    if mark:
        return Span(unit.start + mark.end(), unit.end, unit.text[mark.end() :])
    last = sentences(unit.text)[-1]
    if kind == "term" and not (_ANNOUNCES.search(last.text) or heading(last.text)):
        return None
    return Span(unit.start + last.start, unit.start + last.end, last.text)


def _inside(text: str, unit: _Unit) -> tuple[int, int, str]:
    """Return an item without its mark."""
    mark = _MARK.match(unit.text) if unit.kind == "item" else None
    start = unit.start + (mark.end() if mark else 0)
    return start, unit.end, text[start : unit.end]


def _is_heading(unit: _Unit) -> bool:
    return unit.kind == "heading" or (unit.kind == "text" and heading(unit.text))


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
            kind: Kind = (
                "term" if last.kind == "text" and _is_term(last, blank, deeper) else last.kind
            )
            # What it says is taken out of the text at the end, once.
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
    if _MARK.match(line):
        return "item"
    return "row" if _ROW.match(line) else "text"


def _goes_on(last: _Unit, line: str, blank: bool, deeper: bool) -> bool:
    """Tell whether a line belongs to the unit above it."""
    if last.kind == "heading" or _kind(line) in ("heading", "item", "row"):
        return False
    return deeper and last.kind in ("item", "term") if blank else last.kind != "row"


def _is_term(unit: _Unit, blank: bool, deeper: bool) -> bool:
    """Tell whether a paragraph is a term, with its meaning indented right below it."""
    return deeper and not blank and _is_short(unit)


def _with_terms(units: list[_Unit]) -> list[_Unit]:
    """Put short lines that follow each other, each above a paragraph, together with it."""
    whole: list[_Unit] = []
    terms = {at for at, (one, after) in enumerate(pairwise(units)) if _heads(one, after)}
    for at, unit in enumerate(units):
        told = unit.kind == "text" and at not in terms and not terms.isdisjoint((at - 1, at + 1))
        if told and whole and whole[-1].kind == "term":
            text = f"{whole[-1].text}\n\n{unit.text}"
            whole[-1] = _Unit("term", whole[-1].start, unit.end, text)
            continue
        announced = bool(whole) and (
            whole[-1].kind == "term"
            or (whole[-1].kind == "text" and bool(_ANNOUNCES.search(whole[-1].text)))
        )
        whole.append(unit._replace(kind="term") if at in terms and announced else unit)
    return whole


def _heads(unit: _Unit, after: _Unit) -> bool:
    said = after.kind == "text" and len(after.text) > len(unit.text) and _ENDED.search(after.text)
    return _is_short(unit) and bool(said)


def _is_short(unit: _Unit) -> bool:
    """Tell whether a paragraph may be a term: one short line that ends no sentence."""
    short = unit.kind == "text" and len(unit.text) <= TERM and "\n" not in unit.text
    return short and not re.search(r"(?<!\W)(?>\W*?[.!?;:,。！？；：，、…])\W*$", unit.text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
