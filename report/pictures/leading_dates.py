"""Read the date with which a line or a sentence begins."""

from __future__ import annotations

from typing import NamedTuple

from text.dates import DateSpan, PartialDate, locate_dates
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("report.pictures", "leading_dates.toml")
_GAP = " :：,，.。、;；)）—–-\u00a0"
_LOOK_AHEAD = 60  # characters that are searched for a date


class LeadingDate(NamedTuple):
    """A date or a range of dates at the head of a text."""

    written: str
    first: PartialDate
    """With a year."""
    last: PartialDate
    """The same as the first if it is no range, or if its end is open."""
    rest: str
    """The text behind it."""


class _Range(NamedTuple):
    first: PartialDate
    last: PartialDate
    end: int


def read_leading_date(text: str) -> LeadingDate | None:
    """Return the date that a text begins with, or None.

    A date without a year, one before Christ, and one by or since which something is so are none. A
    year alone needs "in" before it, or punctuation behind it.
    """
    opening = _PATTERNS.opening.match(text)
    start = opening.end() if opening else 0
    is_introduced = bool(text[:start].strip())
    begins = _PATTERNS.part.match(text, start)
    at = begins.end() if begins else start
    found = _read_range(text, at, is_introduced=is_introduced or at > start)
    if not found or not found.first.year or _PATTERNS.before_christ.match(text, found.end):
        return None
    behind = _PATTERNS.part_behind.match(text, found.end)
    end = behind.end() if behind else found.end
    rest = text[end:].lstrip(_GAP)
    return LeadingDate(text[start:end].strip(), found.first, found.last, rest.strip())


def _read_range(text: str, at: int, *, is_introduced: bool) -> _Range | None:
    """Return the dates at a place of a text."""
    if days := _PATTERNS.days_before.match(text, at):
        span = _locate(text, days.end())
        if span and span.date.day:
            first = span.date._replace(day=int(days["first"]))
            return _Range(first, span.date, span.end) if first < span.date else None
    span = _locate(text, at) or _locate_year(text, at)
    if not span:
        return None
    found = _read_end(text, span)
    is_bare_year = not span.date.month and found.end == span.end
    if is_bare_year and not is_introduced and not _ends_year(text, span.end):
        return None
    return found if found.first <= found.last else None


def _ends_year(text: str, end: int) -> bool:
    return text[end - 1] == "年" or bool(_PATTERNS.year_end.match(text, end))


def _read_end(text: str, span: DateSpan) -> _Range:
    """Return a date with the end of its range, if it is one."""
    alone = _Range(span.date, span.date, span.end)
    joined = _PATTERNS.to.match(text, span.end)
    if not joined:
        return alone
    at = joined.end()
    if ongoing := _PATTERNS.open_end.match(text, at):
        return alone._replace(end=ongoing.end())
    if span.date.day and (day := _PATTERNS.day_behind.match(text, at)):
        year = int(day["year"] or span.date.year)
        first = span.date._replace(year=year)
        return _Range(first, first._replace(day=int(day["last"])), day.end())
    if until := _locate(text, at) or _locate_year(text, at):
        first = span.date if span.date.year else span.date._replace(year=until.date.year)
        last = until.date if until.date.year else until.date._replace(year=first.year)
        return _Range(first, last, until.end)
    short = None if span.date.month else _PATTERNS.short_year.match(text, at)
    if short and int(short["end"]) > span.date.year % 100:
        year = span.date.year - span.date.year % 100 + int(short["end"])
        return _Range(span.date, PartialDate(year), short.end())
    return alone


def _locate(text: str, at: int) -> DateSpan | None:
    """Return the date with a month at a place of a text."""
    near = text[at : at + _LOOK_AHEAD]
    spans = (one for one in locate_dates(near) if one.start == 0 and _is_possible(one.date))
    span = next(spans, None)
    return span._replace(start=at, end=at + span.end) if span else None


def _is_possible(date: PartialDate) -> bool:
    return date.month <= 12 and date.day <= 31


def _locate_year(text: str, at: int) -> DateSpan | None:
    year = _PATTERNS.year.match(text, at)
    return DateSpan(at, year.end(), PartialDate(int(year["year"]))) if year else None
