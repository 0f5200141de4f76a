"""Compare the dates of a report with those of its sources, in whatever language they are spelt."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from report.numbers import FILE
from retrieval.dates import Date, dates
from retrieval.regex import regex

_SPELT = regex(r"(?<!\d)(\d{4})[./-](\d{1,2})(?:[./-](\d{1,2}))?(?!\d)")
_SHORT = regex(r"(?<![\d./-])(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?![\d./-])")
_RANGE = regex(
    r"\b(?P<first>\d{1,2})(?:st|nd|rd|th)?(?:\s*(?:[-–—/&]|to|and|until)\s*)"
    r"(?P<last>\d{1,2})(?:st|nd|rd|th)?(?=\s+(?:of\s+)?[A-Z][a-z]{2})"
    r"|(?P<month>[A-Z][a-z]{2,8})\.?\s+(?P<from>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:\s*(?:[-–—/&]|to|and|until)\s*)(?P<until>\d{1,2})\b"
)
_DAYS = regex(r"(\d{1,2})\s*月[^月。；]{0,24}?[至到~—–、和与-]\s*(\d{1,2})\s*[日号號]")
_CHINESE = regex(r"\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号號])?")


def calendar(text: str) -> set[Date]:
    """Return the dates that a source names, with a month at least."""
    found = {one for one in dates(text) if one.month}
    found |= {Date(int(y), int(m), int(d or 0)) for y, m, d in _SPELT.findall(text)}
    for one, other, year in _SHORT.findall(text):
        known = int(year) if len(year) == 4 else 0
        found |= {Date(known, int(one), int(other)), Date(known, int(other), int(one))}
    return found | _ends(text)


def strange_date(said: str, sources: Sequence[Collection[Date]]) -> bool:
    """Tell whether a date with a month is in none of the sources, one of which has such dates."""
    known = [date for source in sources for date in source]
    told = [date for date in dates(FILE.sub(" ", said)) if date.month] if known else []
    return any(not any(_fits(date, other) for other in known) for date in told)


def without_dates(said: str) -> str:
    """Return a text without the Chinese months and days in it, which English spells in words."""
    return _CHINESE.sub(" ", said)


def _ends(text: str) -> set[Date]:
    """Return the days that only one end of a span of days is spelt out for."""
    found = {Date(0, int(month), int(day)) for month, day in _DAYS.findall(text)}
    for span in _RANGE.finditer(text):
        month = span["month"] or text[span.end() : span.end() + 14]
        days = [span[name] for name in ("first", "last", "from", "until") if span[name]]
        for day in days:
            found |= {one for one in dates(f"{day} {month}") if one.month and one.day == int(day)}
    return found


def _fits(date: Date, other: Date) -> bool:
    """Tell whether what a date says is what another one says, as far as that one goes."""
    same_year = not date.year or not other.year or date.year == other.year
    same_day = not date.day or date.day == other.day
    return same_year and date.month == other.month and same_day
