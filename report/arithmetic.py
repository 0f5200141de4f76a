"""Work out again what a writer computed from numbers and dates that stand nearby."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations, permutations

from report.numbers import FILE, Number, made_of, near, values
from retrieval.dates import Date, dates
from retrieval.regex import regex

MOST = 16
"""With how many numbers near a statement it can be told what was computed from them."""

_COUNTS = {
    name: float(value)
    for value, names in enumerate(
        (
            *("two 两 兩 二", "three 三", "four 四", "five 五", "six 六", "seven 七", "eight 八"),
            *("nine 九", "ten 十", "eleven 十一", "twelve 十二"),
        ),
        2,
    )
    for name in names.split()
}
_UNIT = (
    r"(?:times|fold|months?|years?|days?|weeks?|hours?|minutes?|seconds?|percent|per\s+cent|%"
    r"|倍|[个個]?月|年|天|日|周|小[时時]|分[钟鐘]|秒)"
)
_NAMES = "|".join(sorted(_COUNTS, key=len, reverse=True))
_DIGITS = regex(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]*[A-Za-z_])", re.ASCII)
_SPELT = regex(
    rf"(?<![A-Za-z十])({_NAMES})(?=[\s-]*(?:(?:to|or|and|[到至或和])[\s-]*(?:{_NAMES})[\s-]*)?{_UNIT})",
    re.IGNORECASE,
)


def comes_out(said: str, around: str, known: Sequence[float]) -> bool:
    """Tell whether numbers that a statement computed follow from what stands around it.

    Where fewer than two numbers or dates stand there, or very many, nobody can tell, and it does.

    Args:
        said: The statement, without marks.
        around: The text near it.
        known: The numbers of its sources, sorted.
    """
    days = list(dict.fromkeys(one for one in dates(around) if one.year))
    beside = list(dict.fromkeys(numbers(around)))
    if len(beside) < 2 or max(len(beside), len(days)) > MOST:
        return True
    made = sorted([*beside, *known, *_made(beside), *_apart(days)])
    return all(near(_loose(one), made) for one in numbers(said))


def numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, single digits too, and counts in words that have a unit."""
    bare = FILE.sub(" ", text)
    found = (one[0].replace(",", "").rstrip(".") for one in _DIGITS.finditer(bare))
    yield from map(float, found)
    yield from values(bare)
    yield from (_COUNTS[one.lower()] for one in _SPELT.findall(bare))


def _loose(number: float) -> Number:
    """Return a number that may be rounded in its last digit."""
    rest = f"{number:g}".partition(".")[2]
    zeros = 0.5 if rest or number % 10 else 5.0
    return Number(number, min(zeros * 10.0 ** -len(rest), 0.06 * number))


def _made(beside: Sequence[float]) -> Iterator[float]:
    yield sum(beside)
    for one, other in permutations(beside, 2):
        yield from made_of(one, other)


def _apart(days: Sequence[Date]) -> Iterator[float]:
    """Yield how many years, months and days lie between two of some dates."""
    for one, other in combinations(days, 2):
        yield float(abs(one.year - other.year))
        if one.month and other.month:
            months = abs(12 * (one.year - other.year) + one.month - other.month)
            yield from (float(months), months / 12)
        if one.month and other.month and one.day and other.day:
            yield float(abs(_day(one) - _day(other)))


def _day(one: Date) -> int:
    """Return the number of a day; one that no month has is its last."""
    last = monthrange(one.year, min(max(one.month, 1), 12))[1]
    return date(one.year, min(max(one.month, 1), 12), min(one.day, last)).toordinal()
