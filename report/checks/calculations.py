"""Verify the calculations of a text by repeating them on the numbers and dates of its sources."""

from __future__ import annotations

import re
from bisect import insort
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import chain, combinations, islice, permutations
from typing import Literal

from report.checks.caveats import is_stated_computation
from report.checks.date_sums import has_wrong_date_sum
from report.checks.numbers import (
    NUMBER_WORDS,
    TextNumber,
    combine_numbers,
    evaluate_terms,
    find_wrong_calculation,
    is_among_numbers,
    is_computed_number,
    is_known_number,
    list_calculations,
    list_checkable_numbers,
    list_values,
    strip_file_names,
)
from report.checks.quantities import find_wrong_duration, list_converted_numbers, list_durations
from text.dates import PartialDate, find_dates
from text.pattern_files import PatternFile

_MAX_NEARBY_NUMBERS = 16  # with more, almost any number could be computed
_COUNTS = {"十一": 11.0, "十二": 12.0} | {
    word: value for word, value in NUMBER_WORDS.items() if value > 1
}
_PATTERNS = PatternFile(
    "report.checks",
    "calculations.toml",
    counts="|".join(sorted(_COUNTS, key=len, reverse=True)),
)


def is_derivable(statement: str, around: str, known: Sequence[float]) -> bool:
    """Tell whether the computed numbers of a statement follow from the text around it.

    With fewer than two numbers there, or very many numbers or dates, the answer is true.

    Args:
        statement: The statement, without marks.
        around: The text near it.
        known: The numbers of its sources, sorted.
    """
    days = list(dict.fromkeys(one for one in find_dates(around) if one.year))
    beside = list(dict.fromkeys(iter_all_numbers(around)))
    if len(beside) < 2 or max(len(beside), len(days)) > _MAX_NEARBY_NUMBERS:
        return True
    made = sorted([*beside, *known, *_made(beside), *_apart(days)])
    return all(is_known_number(with_rounding(one), made) for one in iter_all_numbers(statement))


def iter_all_numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, including single digits and spelt-out counts with a unit."""
    bare = strip_file_names(text)
    found = (one[0].replace(",", "").rstrip(".") for one in _PATTERNS.digits.finditer(bare))
    yield from map(float, found)
    yield from list_values(bare)
    yield from (_COUNTS[one.lower()] for one in _PATTERNS.spelt_count.findall(bare))


def with_rounding(number: float) -> TextNumber:
    """Return a number with the tolerance of rounding in its last digit."""
    rest = f"{number:g}".partition(".")[2]
    zeros = 0.5 if rest or number % 10 else 5.0
    return TextNumber(number, min(zeros * 10.0 ** -len(rest), 0.06 * number))


def _made(beside: Sequence[float]) -> Iterator[float]:
    yield sum(beside)
    for one, other in permutations(beside, 2):
        yield from combine_numbers(one, other)


def _apart(days: Sequence[PartialDate]) -> Iterator[float]:
    """Yield the differences between any two dates in years, months and days."""
    for one, other in combinations(days, 2):
        yield float(abs(one.year - other.year))
        if one.month and other.month:
            months = abs(12 * (one.year - other.year) + one.month - other.month)
            yield from (float(months), months / 12)
        if one.month and other.month and one.day and other.day:
            yield float(abs(_day(one) - _day(other)))


def _day(one: PartialDate) -> int:
    """Return the ordinal of a day; a day past the end of its month is the last day."""
    last = monthrange(one.year, min(max(one.month, 1), 12))[1]
    return date(one.year, min(max(one.month, 1), 12), min(one.day, last)).toordinal()


CalculationOutcome = Literal["holds", "wrong", "unknown", ""]
"""The outcome for a calculation: correct, wrong, or with numbers that nobody has.

Empty if nothing is calculated.
"""

_STATEMENTS_BACK = 2  # whose numbers a statement may use
_ROWS_BACK = 1  # whose numbers a row may use
_MAX_RESULTS = 12  # of earlier statements
_MAX_TWO_STEP_NUMBERS = 6  # of a statement, for two steps
_MAX_OPERANDS = 60
_MAX_SMALL_FACTOR = 10  # a smaller factor is read though it is a single digit
_UNIT_FACTORS = {
    "times_of_day": (60.0, 3600.0, 86400.0, 24.0, 7.0),
    "bytes": (1000.0, 1024.0, 1e6, 1024.0**2),
}


class CalculationChecker:
    """Collects the numbers of a text so far, and computes those that follow from them."""

    def __init__(self, asked: str) -> None:
        self.asked = [*dict.fromkeys(iter_all_numbers(asked))][:_MAX_TWO_STEP_NUMBERS]
        self.told: list[list[float]] = []
        self.results: dict[float, None] = {}
        self.before = sorted(self.asked)
        """The numbers of the question, and all numbers written or computed so far, sorted."""
        self.made: list[float] = []
        """The results computed for the last statement."""

    def record(self, statement: str) -> None:
        """Record the numbers of the evaluated statement, and its results."""
        self._keep(self.made)
        self.made = []
        self.told.append([*dict.fromkeys(iter_all_numbers(statement))])
        self._add(self.told[-1])
        for expression in [] if find_wrong_calculation(statement) else list_calculations(statement):
            self._keep(evaluate_terms(expression))

    def _keep(self, made: Iterable[float]) -> None:
        new = [one for one in dict.fromkeys(made) if one not in self.results]
        self.results |= dict.fromkeys(new)
        self._add(new)

    def _add(self, told: Iterable[float]) -> None:
        for number in told:
            insort(self.before, number)

    def evaluate(
        self, statement: str, known: Sequence[float], *, row: bool = False, cited: bool = False
    ) -> CalculationOutcome:
        """Return the outcome of the calculation in a statement.

        Args:
            statement: The statement, without marks and quotations.
            known: The numbers of its sources, sorted.
            row: Whether it is a row of a table, where a cell may be computed from the others.
            cited: Whether it cites sources; then it counts only if it says that it calculates.
        """
        written = bool(_worked_out(statement))
        self.made = []
        own = written or is_stated_computation(statement)
        sums = bool(_PATTERNS.reckons.search(statement))
        if not (row or own or sums or (not cited and _PATTERNS.concludes.search(statement))):
            return ""
        if has_wrong_calculation(statement):
            return "wrong"
        wanted = self._wanted(statement)
        there = self.before, known
        given = {one for one in wanted if any(is_computed_number(one, each) for each in there)}
        missing = [one for one in wanted if one not in given]
        made = self._made(
            statement, missing, _ROWS_BACK if row else _STATEMENTS_BACK, twice=own or not cited
        )
        if len(made) < len(missing):
            operands = given or len(self.before) > 1
            return "wrong" if operands and (own or sums) else "unknown" if own else ""
        self.made = made
        told = sums and any(is_computed_number(one, sorted(self.results)) for one in wanted)
        return "holds" if made or written or told or self._repeats(statement) else ""

    def _wanted(self, statement: str) -> list[TextNumber]:
        """Return the numbers of a statement that need a source, in its order."""
        own = sorted(_named(statement)) if (told := list_durations(statement)) else []
        for duration, seconds, slack in told:
            units = (TextNumber(seconds / unit, slack / unit) for unit in (1.0, 60.0, 3600.0))
            if any(is_known_number(one, self.before) or is_known_number(one, own) for one in units):
                statement = statement.replace(duration, " ")
        return [*_counting(statement)]

    def _made(
        self, statement: str, missing: Sequence[TextNumber], back: int, *, twice: bool
    ) -> list[float]:
        """Return the leading numbers that can be computed, each also from those before it."""
        made: list[float] = []
        if _is_unnamed(statement) or len(missing) > _MAX_OPERANDS:
            return []
        worked_out, units = _worked_out(statement), _units(statement)
        lost = {one.value for one in missing}
        own = [one for one in _named(statement) if one not in lost]
        results = [*reversed([*islice(reversed(self.results), _MAX_RESULTS)])]
        before = [*self.asked, *chain(*self.told[-back:]), *results]
        for number in missing:
            beside = [*dict.fromkeys([*before, *own, *made])][-_MAX_OPERANDS:]
            further = _twice([*own, *made][-_MAX_TWO_STEP_NUMBERS:]) if twice else ()
            if not is_among_numbers(number, chain(worked_out, _steps(beside, units), further)):
                break
            made.append(number.value)
        return made

    def _repeats(self, statement: str) -> bool:
        """Tell whether a statement repeats an earlier result together with its operands."""
        own = _named(statement)
        for result in filter(self.results.__contains__, own):
            others = [one for one in own[: _MAX_TWO_STEP_NUMBERS + 1] if one != result]
            made = _twice(others[:_MAX_TWO_STEP_NUMBERS]) if len(others) > 1 else ()
            if any(abs(result - one) < 1e-6 for one in made):
                return True
        return False


@lru_cache(maxsize=512)
def _worked_out(statement: str) -> tuple[float, ...]:
    """Return the values of the calculations and durations in a statement."""
    return (
        *(value for one in list_calculations(statement) for value in evaluate_terms(one)),
        *list_converted_numbers(statement),
    )


@lru_cache(maxsize=512)
def _named(statement: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(iter_all_numbers(statement)))


@lru_cache(maxsize=512)
def _counting(statement: str) -> tuple[TextNumber, ...]:
    """Return the numbers of a statement that need a source, and small factors."""
    times = (float(one or other) for one, other in _PATTERNS.times.findall(statement))
    return (
        *list_checkable_numbers(statement),
        *(TextNumber(one, 0.5) for one in times if one < _MAX_SMALL_FACTOR),
    )


@lru_cache(maxsize=512)
def _is_unnamed(statement: str) -> bool:
    """Tell whether a calculation has no result that the statement names."""
    return any(not _is_named(one, statement) for one in _without_result(statement))


@lru_cache(maxsize=512)
def has_wrong_calculation(statement: str) -> bool:
    """Tell whether a written-out calculation is wrong."""
    explained = (
        one
        for one in _without_result(statement)
        if _PATTERNS.namely.search(statement, 0, max(0, statement.find(one)))
    )
    wrong = any(not _is_named(one, statement) for one in explained)
    wrong = wrong or has_wrong_date_sum(statement)
    return wrong or bool(find_wrong_calculation(statement) or find_wrong_duration(statement))


def _without_result(statement: str) -> list[str]:
    """Return the calculations of a statement that are not followed by a result."""
    return [one for one in list_calculations(statement) if not re.search("[=≈≒≃]", one)]


def _is_named(expression: str, statement: str) -> bool:
    """Tell whether a statement names the result of a calculation, in some unit."""
    beside = sorted(iter_all_numbers(statement.replace(expression, " ")))
    total = evaluate_terms(expression)[0]
    units = [total, *(one for unit in _units(statement) for one in (total * unit, total / unit))]
    return any(is_computed_number(TextNumber(one, 0.006 * one), beside) for one in units)


def _units(statement: str) -> list[float]:
    """Return the factors between the units that a statement names."""
    named = (units for kind, units in _UNIT_FACTORS.items() if _PATTERNS.any_found(statement, kind))
    return [*chain.from_iterable(named)]


def _steps(given: Sequence[float], units: Sequence[float]) -> Iterator[float]:
    """Yield the results of one step on some numbers, and their conversions to other units."""
    yield from (2 * one for one in given)
    for one in given:
        yield from (value for unit in units for value in (one * unit, one / unit))
    for one, other in permutations(given, 2):
        yield from combine_numbers(one, other)
        yield from ((one - other) / unit for unit in units)


def _twice(given: Sequence[float]) -> list[float]:
    """Return the results of one or two steps on some numbers; a count may be off by one."""
    pairs = {(one, other): [*combine_numbers(one, other)] for one, other in permutations(given, 2)}
    found = [value for values in pairs.values() for value in values]
    for one, other in permutations(given, 2):
        thirds = [third for third in given if third not in (one, other)]
        for third in thirds:
            found += [
                value for first in pairs[one, other] for value in combine_numbers(first, third)
            ]
            found += [third + count * other for count in (one - 1, one + 1)]
    return found
