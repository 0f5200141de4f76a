"""Work out what a text says of dates: sums, the time between two of them, and the day of today."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

from text.dates import DateSpan, PartialDate, locate_dates
from text.pattern_files import PatternFile
from text.regex import replace_spans

_PATTERNS = PatternFile("report.checks", "date_sums.toml")

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": 12}
_MAX_DATES = 12  # of a statement; with more, almost any time lies between two of them
_MAX_NUMBER = 100_000
_SPELT = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: value for value, word in enumerate(_SPELT.split(), 1)}
_COUNTS |= {sign: value for value, sign in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_PERIODS = {"month": 1, "quarter": 3, "year": 12}
"""How many months each period has that a date may end with."""


class TimeSpan(NamedTuple):
    """A length of time in one unit, and where a text has it: `text[start:end]`."""

    start: int
    end: int
    number: int
    unit: str


class DateSum(NamedTuple):
    """A calculation with two dates and a length of time: `text[start:end]`."""

    start: int
    end: int
    operands: str
    """Its text without the result."""
    result: PartialDate | None
    """The date that it results in, unless that is a length of time."""
    right: bool


def add_time(day: PartialDate, number: int, unit: str) -> PartialDate | None:
    """Return the date that a number of units later is; None where the date is not exact enough.

    The month of a date without a day is enough for months and years. A month that is too short
    ends the sum on its last day.

    Args:
        day: The date.
        number: How many units later; a negative number is earlier.
        unit: One of `day`, `week`, `month` and `year`.
    """
    if unit in _DAYS:
        exact = _to_date(day)
        try:
            later = exact + timedelta(number * _DAYS[unit]) if exact else None
        except OverflowError:
            return None
        return PartialDate(later.year, later.month, later.day) if later else None
    if not (day.year and 1 <= day.month <= 12):
        return None
    year, month = divmod(12 * day.year + day.month - 1 + number * _MONTHS[unit], 12)
    if not 1 <= year <= 9999:
        return None
    return PartialDate(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _to_date(day: PartialDate) -> date | None:
    if not (day.year and 1 <= day.month <= 12):
        return None
    return date(*day) if 1 <= day.day <= monthrange(day.year, day.month)[1] else None


def _is_later_by(first: PartialDate, last: PartialDate, number: int, unit: str) -> bool:
    """Tell whether one date is a number of units after another one."""
    return bool(first.day) == bool(last.day) and add_time(first, number, unit) == last


def list_time_spans(text: str) -> list[TimeSpan]:
    """Return the lengths of time of a text that are in days, weeks, months or years."""
    return [
        TimeSpan(*found.span(), number, str(found.lastgroup))
        for found in _PATTERNS.time_span.finditer(text)
        if (number := _to_number(found["number"])) <= _MAX_NUMBER
    ]


def _to_number(written: str) -> int:
    lower = written.lower()
    return _COUNTS[lower] if lower in _COUNTS else int(lower.replace(",", ""))


def _end_of_period(day: PartialDate, period: str) -> PartialDate:
    """Return the last day of the month, the quarter or the year that a date is in."""
    size = _PERIODS[period]
    month = -(-day.month // size) * size
    return PartialDate(day.year, month, monthrange(day.year, month)[1])


def _list_periods(text: str) -> set[str]:
    """Return the periods whose end a text names: "to the end of a quarter"."""
    return {str(one.lastgroup).removeprefix("zh_") for one in _PATTERNS.period_end.finditer(text)}


@lru_cache(maxsize=512)
def list_date_sums(text: str) -> tuple[DateSum, ...]:
    """Return the calculations with dates that a text writes out.

    They are "17 March 2024 + 36 months = 17 March 2027" and "5 May 2026 − 1 May 2026 = 4 days".
    """
    if not _PATTERNS.any_sum.search(text):
        return ()
    return tuple(_iter_sums(text, locate_dates(text)))


def _iter_sums(text: str, dates: Sequence[DateSpan]) -> Iterator[DateSum]:
    for one, other in pairwise(dates):
        added = _PATTERNS.added.fullmatch(text, one.end, other.start)
        if added:
            number = int(added["number"]) * (-1 if added["less"] else 1)
            unit = next(name for name in (*_DAYS, *_MONTHS) if added[name])
            right = add_time(one.date, number, unit) == other.date
            operands = f"{text[one.start : one.end]}, {added['number']} {added[unit]}"
            yield DateSum(one.start, other.end, operands, other.date, right)
        elif _PATTERNS.subtracted.fullmatch(text, one.end, other.start):
            apart = _PATTERNS.apart.match(text, other.end)
            if apart:
                unit = next(name for name in (*_DAYS, *_MONTHS) if apart[name])
                right = _is_later_by(other.date, one.date, int(apart["number"]), unit)
                operands = f"{text[one.start : one.end]}, {text[other.start : other.end]}"
                yield DateSum(one.start, apart.end(), operands, None, right)


def has_wrong_date_sum(text: str) -> bool:
    """Tell whether a calculation with dates does not come out."""
    return any(not one.right for one in list_date_sums(text))


def reduce_date_sums(text: str) -> str:
    """Return a text with only the operands of its right calculations with dates."""
    right = [one for one in list_date_sums(text) if one.right]
    return replace_spans(text, ((one.start, one.end, one.operands) for one in right))


class KnownDates:
    """The dates that a text may name although its sources do not, and the time between them.

    They are the day of today, and what the text computes from other dates, lengths of time and
    ends of periods that it names.

    Args:
        today: The day on which the text is written, where it may be named.
    """

    def __init__(self, today: date | None = None) -> None:
        self.today = PartialDate(today.year, today.month, today.day) if today else None
        self.computed: set[PartialDate] = set()
        self.told: dict[tuple[int, str], None] = {}
        """The lengths of time that the text has named so far."""
        self.periods: set[str] = set()
        """The periods whose end the text has named so far."""
        self.beside: set[PartialDate] = set()
        """The dates of the statement that is looked at."""
        self.summed: set[PartialDate] = set()
        """Those of them that are the result of a calculation in it."""

    def look_at(self, statement: str, quoted: str = "") -> None:
        """Note the dates of a sentence or a row, and those that follow from others in it.

        A date follows where it is as much later than another one as a length of time that the
        text has named before, such as an interval; or where it is the end of the period that this
        leads to, such as "six months to the end of a quarter".

        Args:
            statement: Its own words.
            quoted: Its words with those of its quotations.
        """
        self.beside = {one.date for one in locate_dates(statement)}
        sums = [one for one in list_date_sums(statement) if one.right and one.result]
        self.summed = {one.result for one in sums if one.result}
        self.computed |= self.summed
        if len(self.beside) <= _MAX_DATES:
            self.computed |= {
                last
                for first, last in combinations(sorted(one for one in self.beside if one.day), 2)
                if any(_is_later_by(first, last, *length) for length in self.told)
            }
            self._add_ends_of_periods()
        self.told |= {(one.number, one.unit): None for one in list_time_spans(quoted or statement)}
        self.periods |= _list_periods(quoted or statement)

    def _add_ends_of_periods(self) -> None:
        """Add the ends of periods that others of the dates lead to, and today's in such a pair."""
        current = {_end_of_period(self.today, one) for one in self.periods} if self.today else set()
        current |= {one._replace(day=0) for one in current}
        for first, last in permutations(self.beside, 2):
            led = [one for length in self.told if (one := add_time(first, *length))]
            ends = {_end_of_period(one, period) for one in led for period in self.periods}
            back = any(add_time(last, -number, unit) == first for number, unit in self.told)
            if last in ends:
                self.computed |= {last, *({first} & current)}
            if back and last in current:
                self.computed |= {first, last}

    def has_computed(self, text: str) -> bool:
        """Tell whether a text names a date that was worked out."""
        return bool(self.computed) and any(one.date in self.computed for one in locate_dates(text))

    def strip(self, text: str) -> str:
        """Return a text without what needs no source: these dates, and the time between two.

        Of a right calculation with dates, only the operands are left.
        """
        text = reduce_date_sums(text)
        allowed = self.computed | ({self.today} if self.today else set[PartialDate]())
        dates = [one for one in locate_dates(text) if one.date in allowed] if allowed else []
        spans = [one for one in list_time_spans(text) if self._lies_between(one)]
        cuts = [*((one.start, one.end) for one in dates), *((one.start, one.end) for one in spans)]
        return replace_spans(text, ((start, end, " ") for start, end in sorted(cuts)))

    def _lies_between(self, span: TimeSpan) -> bool:
        """Tell whether a length of time is that between two dates of the statement, or to today.

        Nothing bears out the length of time in a calculation, as its result does not.
        """
        today = {self.today} if self.today else set[PartialDate]()
        days = self.beside | today
        if not 1 < len(days) <= _MAX_DATES:
            return False
        pairs = combinations(sorted(days), 2)
        return any(
            _is_later_by(first, last, span.number, span.unit)
            and (last not in self.summed or first in today)
            and (first not in self.summed or last in today)
            for first, last in pairs
        )
