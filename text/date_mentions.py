"""Find the dates that a question names, in English, Chinese or as ISO."""

from __future__ import annotations

import re
from typing import NamedTuple

from text.regex import regex

MONTH_NUMBERS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]

_NAMES = "|".join(
    month if len(month) < 4 else f"{month[:3]}(?:{month[3:]})?" for month in MONTH_NUMBERS
)
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<year>\d{4}))?"
_SPELT = regex(
    rf"(?:(?<![\w.,:/-]){_DAY.format('before')}\s+(?:of\s+)?)?\b(?P<name>{_NAMES})\b\.?"
    rf"(?:\s+{_DAY.format('after')}\b)?{_YEAR}",
    re.IGNORECASE,
)
_NUMBERS = regex(r"\b(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_CHINESE = regex(
    r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号號])?"
)
_YEAR_ALONE = regex(r"(?<![\d-])(?P<year>(?:19|20)\d\d)(?![\d-]|\s*年\s*\d)")
_IN = regex(r"\b(?:in|of|on|since|until|till|by|during|from|between|early|late|mid)[\s-]+$", re.I)


NEAR = 40
"""Within so many characters before it stands the word that makes a month of "may"."""


class PartialDate(NamedTuple):
    """A year, a month, a day, or what of it is known; 0 is unknown."""

    year: int = 0
    month: int = 0
    day: int = 0


def find_dates(question: str) -> list[PartialDate]:
    """Return the dates a question names, in English, Chinese or as ISO; a year alone counts.

    The verbs "may" and "march" are no months: those need a day, a year or a word like "in".
    """
    found = [_spelt(match) for match in _SPELT.finditer(question) if _is_month(match)]
    for pattern in (_NUMBERS, _CHINESE):
        found += [_made(match) for match in pattern.finditer(question)]
    if not found:
        found = [_made(match) for match in _YEAR_ALONE.finditer(question)]
    return found


def match_dates(said: str, asked: list[PartialDate]) -> float:
    """Return how well an ISO date fits the best of some dates, in 0..1.

    The year and the month must be right where they are known; a day that is wrong costs a third,
    since people tell on one day what happened on another.
    """
    match = _NUMBERS.match(said)
    if not match or not asked:
        return 0.0
    own = _made(match)
    return max(_fit(own, date) for date in asked)


def _fit(own: PartialDate, date: PartialDate) -> float:
    if (date.year and date.year != own.year) or (date.month and date.month != own.month):
        return 0.0
    return 2 / 3 if date.day and date.day != own.day else 1.0


def _spelt(match: re.Match[str]) -> PartialDate:
    month = next(
        at for at, name in enumerate(MONTH_NUMBERS, 1) if name[:3] == match["name"].lower()[:3]
    )
    return PartialDate(int(match["year"] or 0), month, int(match["before"] or match["after"] or 0))


def _made(match: re.Match[str]) -> PartialDate:
    return PartialDate(**{name: int(value) for name, value in match.groupdict().items() if value})


def _is_month(match: re.Match[str]) -> bool:
    if match["name"].lower() not in ("may", "march", "mar"):
        return True
    known = match["before"] or match["after"] or match["year"]
    start = match.start()
    return bool(known or _IN.search(match.string, max(start - NEAR, 0), start))
