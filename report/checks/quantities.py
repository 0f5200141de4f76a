"""Derive dates and numbers from a source: unit conversions, spans of years, decades."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise, permutations
from typing import NamedTuple

from report.checks.numbers import NUMBER_WORDS, list_values, normalize_numerals, strip_file_names
from text.dates import MONTH_NAMES, PartialDate, find_dates, write_out_datetimes
from text.pattern_files import PatternFile


def _extract_dates(text: str) -> set[PartialDate]:
    """Return the dates of a source that have at least a month."""
    found = {one for one in find_dates(text) if one.month}
    numeric = _PATTERNS.numeric_date.findall(text)
    found |= {PartialDate(int(y), int(m), int(d or 0)) for y, m, d in numeric}
    for one, other, year in _PATTERNS.short_date.findall(text):
        known = int(year) if len(year) == 4 else 0
        found |= {PartialDate(known, *each) for each in permutations((int(one), int(other)))}
    heads = {one.lower() for one in _PATTERNS.month_head.findall(text)}
    found |= {PartialDate(0, at) for at, name in enumerate(MONTH_NAMES, 1) if name in heads}
    return found | _ends(text)


def has_unknown_date(
    statement: str, sources: Sequence[Collection[PartialDate]], named: str = ""
) -> bool:
    """Tell whether a date with a month is in no source, while the sources have such dates.

    Args:
        statement: The statement. What it says to be without data is not looked for.
        sources: The dates of each of its sources.
        named: A text whose dates may be named, too: the titles and dates of the sources.
    """
    known = [date for source in sources for date in source]
    if not known:
        return False
    known += find_dates(named)
    said = _PATTERNS.lacking.sub(" ", strip_file_names(statement))
    told = [date for date in find_dates(said) if date.month]
    return any(not any(_fits(date, other) for other in known) for date in told)


def strip_dates(statement: str) -> str:
    """Return a text without Chinese months and days, which English writes in words."""
    return _PATTERNS.chinese_date.sub(" ", statement)


def _ends(text: str) -> set[PartialDate]:
    """Return both ends of spans of days, of which only one end names the month."""
    chinese = _PATTERNS.chinese_days.findall(text)
    found = {PartialDate(0, int(month), int(day)) for month, day in chinese}
    for span in _PATTERNS.day_range.finditer(text):
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


_PATTERNS = PatternFile(
    "report.checks",
    "quantities.toml",
    number_words="|".join(sorted(NUMBER_WORDS, key=len, reverse=True)),
)
_SECONDS = (1.0, 60.0, 3600.0, 86400.0)
_MAX_CONVERSION_ERROR = 0.006  # relative
_IN_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25}


class Quantity(NamedTuple):
    """A number with a unit, and its value in the base unit of its kind."""

    number: float
    kind: str
    base: float
    tolerance: float
    """Its rounding tolerance, in the base unit."""


class SourceNumbers(NamedTuple):
    """The sorted numbers of a source, and the quantities, years and dates in it."""

    numbers: list[float]
    quantities: list[Quantity]
    years: set[int]
    dates: set[PartialDate]


def extract_source_numbers(text: str) -> SourceNumbers:
    """Return the numbers, the quantities, the years and the dates of a source."""
    text = write_out_datetimes(text)
    glued = " ".join(_PATTERNS.glued_version.findall(text))
    texts = {text, normalize_numerals(text), glued}
    numbers = sorted({value for one in texts for value in list_values(one)})
    return SourceNumbers(numbers, list(_quantities(text)), _years(text), _extract_dates(text))


def list_derivable_numbers(
    statement: str, near: Sequence[str], sources: Sequence[SourceNumbers]
) -> list[float]:
    """Return the numbers of a statement that follow from its sources but are not in them.

    Args:
        statement: The statement, without marks and quotations.
        near: The sentences of its sources that share most of its words.
        sources: The numbers of its sources.
    """
    known = [one for source in sources for one in source.quantities]
    told = _quantities(statement) if known else ()
    found = [ours.number for ours in told if any(_same(ours, theirs) for theirs in known)]
    years = set[int]().union(*map(_list_years, (statement, *near)))
    every = {year for source in sources for year in source.years}
    return [*found, *_spans(statement, years), *_times(statement, every)]


class Duration(NamedTuple):
    """A length of time as it is written, its seconds, and their tolerance."""

    text: str
    seconds: float
    tolerance: float


def list_durations(text: str) -> list[Duration]:
    """Return the lengths of time written in more than one unit."""
    found = (one[0] for one in _PATTERNS.length.finditer(text))
    return [_duration(one) for one in found if len(_PATTERNS.piece.findall(one)) > 1]


def find_wrong_duration(text: str) -> str:
    """Return the first wrongly converted length of time as it is written, or ""."""
    return next((told for told, right in _iter_conversions(text) if not right), "")


def list_converted_numbers(text: str) -> list[float]:
    """Return the numbers of correctly converted lengths of time."""
    right = (converted for converted, is_right in _iter_conversions(text) if is_right)
    pieces = chain.from_iterable(map(_PATTERNS.piece.findall, right))
    return [float(number.replace(",", "")) for number, *_ in pieces]


def _iter_conversions(text: str) -> Iterator[tuple[str, bool]]:
    """Yield lengths of time after a phrase such as "that is", and whether they are correct.

    They may be rounded.
    """
    for one, other in pairwise(_PATTERNS.length.finditer(text)):
        ours, theirs = _duration(one[0]), _duration(other[0])
        if _PATTERNS.equals.fullmatch(text, one.end(), other.start()):
            apart = abs(ours.seconds - theirs.seconds)
            yield other[0], apart <= max(ours.tolerance, theirs.tolerance, 0.03 * ours.seconds)


def _duration(text: str) -> Duration:
    parts = [
        (float(number.replace(",", "")), _SECONDS[[bool(unit) for unit in units].index(True)])
        for number, *units in _PATTERNS.piece.findall(text)
    ]
    smallest = min(factor for _, factor in parts) / (1 if len(parts) > 1 else 2)
    return Duration(text, sum(number * factor for number, factor in parts), smallest)


def _quantities(text: str) -> Iterator[Quantity]:
    units, pattern = _read_units()
    for found in pattern.finditer(text):
        number = float(found[1].replace(",", ""))
        kind, factor, _ = units[(found.lastindex or 2) - 2]
        whole, _, rest = found[1].replace(",", "").partition(".")
        zeros = 0 if rest else len(whole) - len(whole.rstrip("0"))
        step = 10.0 ** (zeros - len(rest))
        yield Quantity(number, kind, number * float(factor), step * float(factor) / 2)


@cache
def _read_units() -> tuple[list[list[str]], re.Pattern[str]]:
    """Return what each unit measures, its size and its spelling, and a pattern for all."""
    units = sorted(_PATTERNS.get_rows("units"), key=lambda unit: len(unit[2]), reverse=True)
    spelt = "|".join(f"((?:{spelling})(?![A-Za-z²³/]))" for *_, spelling in units)
    pattern = rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?:[\s-]?)(?:{spelt})"
    return units, re.compile(pattern, re.ASCII)


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
        float(span[1])
        for span in _PATTERNS.span.finditer(statement)
        if int(span[1]) in (near if _PATTERNS.about.search(statement, 0, span.start()) else apart)
    ]
    ages = (int(next(filter(None, age.groups()))) for age in _PATTERNS.age.finditer(statement))
    return [*spans, *(float(age) for age in ages if age in near)]


def _times(statement: str, years: set[int]) -> list[float]:
    """Return the decades and centuries of a statement that contain a year of its sources."""
    decades = [int(one) for one in _PATTERNS.decade.findall(statement)]
    centuries = [int(one) for one in _PATTERNS.century.findall(statement)]
    return [
        *(float(one) for one in decades if any(one <= year < one + 10 for year in years)),
        *(float(one) for one in centuries if any((year + 99) // 100 == one for year in years)),
    ]


@lru_cache(maxsize=2048)
def _list_years(sentence: str) -> frozenset[int]:
    return frozenset(_years(sentence))


def _years(text: str) -> set[int]:
    return {int(one) for one in _PATTERNS.year.findall(text)}


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
    for found in _PATTERNS.small_span.finditer(text):
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
