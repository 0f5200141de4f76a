"""Derive dates and numbers from a source: unit conversions, spans of years, decades."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from report.checks.numbers import FILE_NAME, NUMBER_WORDS, list_values, normalize_numerals
from text.dates import PartialDate, find_dates
from text.regex import regex

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


def _extract_dates(text: str) -> set[PartialDate]:
    """Return the dates of a source that have at least a month."""
    found = {one for one in find_dates(text) if one.month}
    found |= {PartialDate(int(y), int(m), int(d or 0)) for y, m, d in _SPELT.findall(text)}
    for one, other, year in _SHORT.findall(text):
        known = int(year) if len(year) == 4 else 0
        found |= {
            PartialDate(known, int(one), int(other)),
            PartialDate(known, int(other), int(one)),
        }
    return found | _ends(text)


def has_unknown_date(statement: str, sources: Sequence[Collection[PartialDate]]) -> bool:
    """Tell whether a date with a month is in no source, while the sources have such dates."""
    known = [date for source in sources for date in source]
    told = (
        [date for date in find_dates(FILE_NAME.sub(" ", statement)) if date.month] if known else []
    )
    return any(not any(_fits(date, other) for other in known) for date in told)


def strip_dates(statement: str) -> str:
    """Return a text without Chinese months and days, which English writes in words."""
    return _CHINESE.sub(" ", statement)


def _ends(text: str) -> set[PartialDate]:
    """Return both ends of spans of days, of which only one end names the month."""
    found = {PartialDate(0, int(month), int(day)) for month, day in _DAYS.findall(text)}
    for span in _RANGE.finditer(text):
        month = span["month"] or text[span.end() : span.end() + 14]
        days = [span[name] for name in ("first", "last", "from", "until") if span[name]]
        for day in days:
            found |= {
                one for one in find_dates(f"{day} {month}") if one.month and one.day == int(day)
            }
    return found


def _fits(date: PartialDate, other: PartialDate) -> bool:
    """Tell whether a date agrees with another one in the parts it has."""
    same_year = not date.year or not other.year or date.year == other.year
    same_day = not date.day or date.day == other.day
    return same_year and date.month == other.month and same_day


_UNITS: dict[str, tuple[str, float]] = {
    r"k(?:ilo)?m(?:et(?:er|re)s?)?|公里|千米": ("length", 1000.0),
    r"cm|centimet(?:er|re)s?|厘米|公分|釐米": ("length", 0.01),
    r"mm|millimet(?:er|re)s?|毫米|公厘": ("length", 0.001),
    r"m|met(?:er|re)s?|公尺|米": ("length", 1.0),
    r"miles?|mi|英里": ("length", 1609.344),
    r"feet|foot|ft|英尺|英呎|呎": ("length", 0.3048),
    r"inch(?:es)?|英寸|英吋|吋": ("length", 0.0254),
    r"yards?|yd|码|碼": ("length", 0.9144),
    r"hectares?|ha|公顷|公頃": ("area", 1e4),
    r"acres?|英亩|英畝": ("area", 4046.856),
    r"sq(?:uare)?\.?\s?(?:kilomet(?:er|re)s?|km)|km[²2]|平方公里|平方千米": ("area", 1e6),
    r"sq(?:uare)?\.?\s?(?:miles?|mi)|平方英里": ("area", 2.589988e6),
    r"sq(?:uare)?\.?\s?(?:met(?:er|re)s?|m)|m[²2]|平方米|平方公尺": ("area", 1.0),
    r"sq(?:uare)?\.?\s?(?:feet|foot|ft)|sqft|平方英尺|平方呎": ("area", 0.09290304),
    r"kg|kilograms?|kilos?|公斤|千克": ("mass", 1.0),
    r"g|grams?|克|公克": ("mass", 0.001),
    r"tons?|tonnes?|吨|噸|公吨|公噸": ("mass", 1000.0),
    r"lbs?|pounds?|磅": ("mass", 0.45359237),
    r"ounces?|oz|盎司": ("mass", 0.028349523),
    r"lit(?:er|re)s?|l|L|升|公升": ("volume", 1.0),
    r"ml|millilit(?:er|re)s?|毫升": ("volume", 0.001),
    r"gallons?|gal|加仑|加侖": ("volume", 3.785412),
    r"ms|milliseconds?|毫秒": ("time", 0.001),
    r"s|secs?|seconds?|秒": ("time", 1.0),
    r"min|mins|minutes?|分钟|分鐘": ("time", 60.0),
    r"h|hrs?|hours?|小时|小時|个小时": ("time", 3600.0),
    r"days?|天": ("time", 86400.0),
    r"weeks?|周|星期": ("time", 604800.0),
}
_LONGEST_FIRST = sorted(_UNITS, key=len, reverse=True)
_QUANTITY = regex(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?:[\s-]?)(?:"
    + "|".join(f"((?:{unit})(?![A-Za-z²³/]))" for unit in _LONGEST_FIRST)
    + ")",
    re.ASCII,
)
_SECONDS = {
    r"s|secs?|seconds?|秒[钟鐘]?": 1.0,
    r"min|mins|minutes?|分[钟鐘]?": 60.0,
    r"h|hrs?|hours?|[个個]?小[时時]|[个個]?[钟鐘][头頭]": 3600.0,
    r"days?|天": 86400.0,
}
_ONE = rf"(?<![\w.,])\d[\d,]*(?:\.\d+)?[\s-]?(?:{'|'.join(_SECONDS)})(?![A-Za-z])"
_LENGTH = regex(rf"{_ONE}(?:(?:\s*[,，、]\s*|\s+)?(?:(?:and|plus|又|零|和)\s*)?{_ONE})*")
_PIECE = regex(
    rf"(\d[\d,]*(?:\.\d+)?)[\s-]?(?:{'|'.join(f'({one})' for one in _SECONDS)})(?![A-Za-z])"
)
_IS = regex(
    r"\s*[,，(（—–-]*\s*(?:(?:which|that)\s+(?:is|makes|equals|comes\s+to)|i\.\s?e\.,?|=|≈|[约約]?[合为為]|即|也就是"
    r"|相[当當]于|等[于於]|折合)\s*(?:about|roughly|around|nearly|almost|just\s+(?:over|under)|[大约約]*)\s*",
    re.IGNORECASE,
)
_MAX_CONVERSION_ERROR = 0.006  # relative
_YEAR = regex(r"(?<![\d.,])(1[0-9]\d\d|20\d\d|[5-9]\d\d(?=年))(?![\d,]*\d|\.\d|%)")
_SPAN = regex(
    r"(?<![\d.,])(\d{1,3})(?:(?:-|\s+(?:\w+\s+)?)years?\b(?![\s-]old)|\s*(?:余|餘|多)?年(?!\d))"
)
_AGE = regex(
    r"(?<![\d.,])(\d{1,3})(?:(?:-|\s+)years?[\s-]old|\s*[岁歲])"
    r"|\b(?:aged?|at|turned|in\s+(?:his|her|their))\s+(\d{1,3})(?:st|nd|rd|th)?\b"
    r"|\b(\d{1,3})(?:st|nd|rd|th)\s+(?:birthday|anniversary)|享[年寿壽](\d{1,3})"
)
_ABOUT = regex(r"(?:about|around|roughly|some|nearly|almost|over|more\s+than|[约約近])\s*$", re.I)
_DECADE = regex(r"(?<!\d)(\d{3}0)(?:['’]?s\b|年代)")
_CENTURY = regex(r"(?<!\d)(\d{1,2})(?:(?:st|nd|rd|th)[\s-]+centur(?:y|ies)\b|\s*世[纪紀])")

_SPAN_UNITS = {
    "month": r"months?|[个個]月",
    "year": r"years?|年(?!\d|代|[初底末中])",
    "week": r"weeks?|[个個]?(?:星期|[周週])",
    "day": r"days?|天",
    "hour": r"hours?|[个個]?小[时時]",
    "minute": r"minutes?|分[钟鐘]",
    "second": r"seconds?|秒[钟鐘]?",
}
_IN_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25}
_SMALL = regex(
    r"(?<![\w.,:/-])(?P<number>\d{1,3}|"
    + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    + r")[\s-]?(?:"
    + "|".join(f"(?P<{name}>{unit})" for name, unit in _SPAN_UNITS.items())
    + r")(?![A-Za-z])",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number with a unit, and its value in the base unit of its kind."""

    number: float
    kind: str
    base: float
    tolerance: float
    """Its rounding tolerance, in the base unit."""


class Measures(NamedTuple):
    """The quantities and years of a source, from which numbers may follow."""

    quantities: list[Quantity]
    years: set[int]


class SourceNumbers(NamedTuple):
    """The sorted numbers, the measures and the dates of a source."""

    numbers: list[float]
    measures: Measures
    dates: set[PartialDate]


def extract_source_numbers(text: str) -> SourceNumbers:
    """Return the numbers, the quantities and the dates of a source."""
    found = sorted({*list_values(text), *list_values(normalize_numerals(text))})
    return SourceNumbers(found, extract_measures(text), _extract_dates(text))


def extract_measures(text: str) -> Measures:
    """Return the quantities and the years of a source."""
    return Measures(list(_quantities(text)), _years(text))


def list_derivable_numbers(
    statement: str, near: Sequence[str], sources: Sequence[Measures]
) -> list[float]:
    """Return the numbers of a statement that follow from its sources but are not in them.

    Args:
        statement: The statement, without marks and quotations.
        near: The sentences of its sources that share most of its words.
        sources: The measures of its sources.
    """
    known = [one for source in sources for one in source.quantities]
    told = _quantities(statement) if known else ()
    found = [ours.number for ours in told if any(_same(ours, theirs) for theirs in known)]
    years = {year for text in (statement, *near) for year in _years(text)}
    every = {year for source in sources for year in source.years}
    return [*found, *_spans(statement, years), *_times(statement, every)]


class Duration(NamedTuple):
    """A length of time as it is written, its seconds, and their tolerance."""

    text: str
    seconds: float
    tolerance: float


def list_durations(text: str) -> list[Duration]:
    """Return the lengths of time written in more than one unit."""
    found = [(one[0], _PIECE.findall(one[0])) for one in _LENGTH.finditer(text)]
    return [_duration(told, pieces) for told, pieces in found if len(pieces) > 1]


def find_wrong_duration(text: str) -> str:
    """Return the first wrongly converted length of time as it is written, or ""."""
    return next((told for told, right in _iter_conversions(text) if not right), "")


def list_converted_numbers(text: str) -> list[float]:
    """Return the numbers of correctly converted lengths of time."""
    told = [one for one, right in _iter_conversions(text) if right]
    return [float(number.replace(",", "")) for one in told for number, *_ in _PIECE.findall(one)]


def _iter_conversions(text: str) -> Iterator[tuple[str, bool]]:
    """Yield lengths of time after a phrase such as "that is", and whether they are correct.

    They may be rounded.
    """
    for one, other in pairwise(_LENGTH.finditer(text)):
        ours, theirs = (_duration(each[0], _PIECE.findall(each[0])) for each in (one, other))
        if _IS.fullmatch(text, one.end(), other.start()):
            apart = abs(ours.seconds - theirs.seconds)
            yield other[0], apart <= max(ours.tolerance, theirs.tolerance, 0.03 * ours.seconds)


def _duration(text: str, pieces: Sequence[Sequence[str]]) -> Duration:
    factors = [*_SECONDS.values()]
    parts = [
        (float(number.replace(",", "")), factors[[bool(unit) for unit in units].index(True)])
        for number, *units in pieces
    ]
    smallest = min(factor for _, factor in parts) / (1 if len(parts) > 1 else 2)
    return Duration(text, sum(number * factor for number, factor in parts), smallest)


def _quantities(text: str) -> Iterator[Quantity]:
    for found in _QUANTITY.finditer(text):
        number = float(found[1].replace(",", ""))
        kind, factor = _UNITS[_LONGEST_FIRST[(found.lastindex or 2) - 2]]
        whole, _, rest = found[1].replace(",", "").partition(".")
        zeros = 0 if rest else len(whole) - len(whole.rstrip("0"))
        step = 10.0 ** (zeros - len(rest))
        yield Quantity(number, kind, number * factor, step * factor / 2)


def _same(ours: Quantity, theirs: Quantity) -> bool:
    if ours.kind != theirs.kind:
        return False
    slack = min(ours.tolerance, 0.05 * ours.base)
    return abs(ours.base - theirs.base) <= max(slack, _MAX_CONVERSION_ERROR * theirs.base)


def _spans(statement: str, years: set[int]) -> list[float]:
    """Return the spans of years in a statement that match the distance of two known years.

    An age may be off by one, since only years are compared.
    """
    apart = {abs(one - other) for one in years for other in years if one != other}
    near = apart | {one + off for one in apart for off in (-1, 1)}
    spans = [
        (int(one[1]), _ABOUT.search(statement, 0, one.start())) for one in _SPAN.finditer(statement)
    ]
    ages = [int(next(filter(None, found.groups()))) for found in _AGE.finditer(statement)]
    told = [one for one, about in spans if one in (near if about else apart)]
    return [float(one) for one in (*told, *(one for one in ages if one in near))]


def _times(statement: str, years: set[int]) -> list[float]:
    """Return the decades and centuries of a statement that contain a year of its sources."""
    decades = [int(one) for one in _DECADE.findall(statement)]
    centuries = [int(one) for one in _CENTURY.findall(statement)]
    return [
        *(float(one) for one in decades if any(one <= year < one + 10 for year in years)),
        *(float(one) for one in centuries if any((year + 99) // 100 == one for year in years)),
    ]


def _years(text: str) -> set[int]:
    return {int(one) for one in _YEAR.findall(text)}


def has_other_duration(statement: str, sources: Sequence[str]) -> bool:
    """Tell whether a statement has a length of time where its sources have others in that unit.

    Sums, differences and small multiples of the sources' lengths count as theirs.
    """
    ours = [(unit, number) for unit, number in _lengths(statement) if number < 10]
    theirs = [one for source in sources for one in _lengths(source)] if ours else []
    years = {year for source in sources for year in _years(source)} if ours else set()
    spans = {abs(one - other) for one in years for other in years}
    ours = [(unit, number) for unit, number in ours if unit != "year" or number not in spans]
    return any(_is_other(unit, number, theirs) for unit, number in ours)


def _lengths(text: str) -> Iterator[tuple[str, float]]:
    for found in _SMALL.finditer(text):
        number = found["number"].lower()
        yield str(found.lastgroup), NUMBER_WORDS.get(number) or float(number)


def _is_other(unit: str, number: float, theirs: Sequence[tuple[str, float]]) -> bool:
    known = {other for name, other in theirs if name == unit}
    if not known or number in known:
        return False
    made = {abs(one - other) for one in known for other in known}
    made |= {one + other for one in known for other in known}
    made |= {one * other for one in known for other in range(2, 5)}
    days = number * _IN_DAYS.get(unit, 0.0)
    same = (other * _IN_DAYS[name] for name, other in theirs if days and name in _IN_DAYS)
    return number not in made and not any(abs(one - days) <= 0.1 * days for one in same)
