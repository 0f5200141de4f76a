"""Parse the dates that a sentence names, and timestamps in common formats."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from text.regex import regex

MONTH_NAMES = re.findall(
    r"\w+",
    "january february march april may june july august september october november december",
)

_MONTH_NUMBERS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
_NAMES = "sept|" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTH_NAMES)
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<year>\d{4}))?"
_ENGLISH = regex(
    rf"(?:(?<![\w.,:/-]){_DAY.format('before')}\s+(?:of\s+)?)?\b(?P<name>{_NAMES})\b\.?"
    rf"(?:\s+{_DAY.format('after')}\b)?{_YEAR}",
    re.IGNORECASE,
)
_ISO = regex(r"\b(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_CHINESE = regex(
    r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号號])?"
)
_YEAR_ALONE = regex(r"(?<![\d-])(?P<year>(?:19|20)\d\d)(?![\d-]|\s*年\s*\d)")
_PREPOSITION = regex(
    r"\b(?:in|of|on|since|until|till|by|during|from|between|early|late|mid)[\s-]+$", re.I
)

PREPOSITION_CHARS = 40
"""How many characters before "may" are searched for a preposition that makes it a month."""


class PartialDate(NamedTuple):
    """A year, a month and a day; a part that the text does not name is 0."""

    year: int = 0
    month: int = 0
    day: int = 0


def find_dates(text: str) -> list[PartialDate]:
    """Return the dates that a text names in English, in Chinese or in ISO form.

    A year alone counts only if there is no fuller date. "may" and "march" are verbs unless they are
    next to a day, a year or a preposition such as "in".
    """
    dates = [_parse_english(match) for match in _ENGLISH.finditer(text) if _is_month(match)]
    for pattern in (_ISO, _CHINESE):
        dates += [_parse_numbers(match) for match in pattern.finditer(text)]
    return dates or [_parse_numbers(match) for match in _YEAR_ALONE.finditer(text)]


def match_dates(iso_date: str, dates: list[PartialDate]) -> float:
    """Return how well an ISO date fits the best of some dates, in 0..1.

    Known years and months must be equal. A wrong day costs a third, since people often mention an
    event on a later day.
    """
    match = _ISO.match(iso_date)
    if not match or not dates:
        return 0.0
    exact = _parse_numbers(match)
    return max(_fit(exact, asked) for asked in dates)


def _fit(exact: PartialDate, asked: PartialDate) -> float:
    if (asked.year and asked.year != exact.year) or (asked.month and asked.month != exact.month):
        return 0.0
    return 2 / 3 if asked.day and asked.day != exact.day else 1.0


def _parse_english(match: re.Match[str]) -> PartialDate:
    month = _MONTH_NUMBERS[match["name"].lower()[:3]]
    return PartialDate(int(match["year"] or 0), month, int(match["before"] or match["after"] or 0))


def _parse_numbers(match: re.Match[str]) -> PartialDate:
    return PartialDate(**{name: int(value) for name, value in match.groupdict().items() if value})


def _is_month(match: re.Match[str]) -> bool:
    if match["name"].lower() not in ("may", "march", "mar"):
        return True
    is_dated = match["before"] or match["after"] or match["year"]
    start = match.start()
    return bool(
        is_dated or _PREPOSITION.search(match.string, max(start - PREPOSITION_CHARS, 0), start)
    )


_FULL_MONTH = rf"(?P<month>{'|'.join(_MONTH_NUMBERS)})[a-z]*\.?"
_FULL_YEAR = r"(?P<year>[12]\d{3})"
_FULL_DAY = r"(?P<day>\d{1,2})(?:st|[nr]d|th)?"
_FULL_DATES = (
    regex(rf"\b{_FULL_DAY}(?: of |[ -]){_FULL_MONTH}(?:,? |-){_FULL_YEAR}\b", re.IGNORECASE),
    regex(rf"\b{_FULL_MONTH} {_FULL_DAY},? {_FULL_YEAR}\b", re.IGNORECASE),
    regex(rf"{_FULL_YEAR}\s?年\s?(?P<month>\d{{1,2}})\s?月\s?(?P<day>\d{{1,2}})"),
    # The month of 5/8/2023 is ambiguous; with the year in front it is not.
    regex(rf"\b{_FULL_YEAR}[/.-](?P<month>\d{{1,2}})[/.-](?P<day>\d{{1,2}})\b"),
)
_TIME = regex(
    r"(?P<half>[上下])午\s?(?P<hours>\d{1,2})[:：](?P<minutes>\d{2})"
    r"|\b(\d{1,2})[:.：](\d{2})(?:[:：]\d{2})?\s?([ap])?\.?(?:m\b)?",
    re.IGNORECASE,
)


def to_iso_timestamp(text: str) -> str:
    """Return a date, with its time if it has one, in ISO form; empty when it cannot be read.

    Understands ISO, e-mail dates (RFC 5322), seconds or milliseconds since 1970, and dates in
    English or Chinese words.
    """
    text = " ".join(text.split())
    with suppress(ValueError, OverflowError, OSError):
        if re.fullmatch(r"\d{9,13}(\.\d+)?", text):
            seconds = float(text) / (1000 if len(text.split(".")[0]) > 11 else 1)
            return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")
        if re.match(r"\d{4}-\d{2}-\d{2}|\d{8}(?!\d)", text):
            return _normalize_iso(text)
        if re.match(r"(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d ", text, re.IGNORECASE):
            return parsedate_to_datetime(text).isoformat(timespec="minutes")
    return _parse_words(text)


def _normalize_iso(text: str) -> str:
    if len(text) <= len("2023-05-08"):
        return date.fromisoformat(text).isoformat()
    return datetime.fromisoformat(text).isoformat(timespec="minutes")


def _parse_words(text: str) -> str:
    for pattern in _FULL_DATES:
        if match := pattern.search(text):
            name = match["month"].lower()
            month = int(name) if name.isdigit() else _MONTH_NUMBERS[name[:3]]
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            with suppress(ValueError):
                day = date(int(match["year"]), month, int(match["day"]))
                return day.isoformat() + _parse_time(rest)
    return ""


def _parse_time(text: str) -> str:
    match = _TIME.search(text)
    if not match:
        return ""
    hour, minute = int(match["hours"] or match[4]), int(match["minutes"] or match[5])
    half = "p" if match["half"] == "下" else "a" if match["half"] else (match[6] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"T{hour:02}:{minute:02}" if hour < 24 and minute < 60 else ""
