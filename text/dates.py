"""Parse the dates that a sentence names, and timestamps in common formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

from text.pattern_files import PatternFile

MONTH_NAMES = re.findall(
    r"\w+",
    "january february march april may june july august september october november december",
)

_MONTH_NUMBERS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
_MONTHS = "|".join(["sept", *(f"{name[:3]}(?:{name[3:]})?" for name in MONTH_NAMES)])
_PATTERNS = PatternFile("text", "dates.toml", months=_MONTHS, short_months="|".join(_MONTH_NUMBERS))
_FULL_DATES = ("day_first", "month_first", "chinese_day", "year_first")
"""Patterns of dates with a year, a month and a day."""

PREPOSITION_CHARS = 40
"""How many characters before "may" are searched for a preposition that makes it a month."""


class PartialDate(NamedTuple):
    """A year, a month and a day; a part that the text does not name is 0."""

    year: int = 0
    month: int = 0
    day: int = 0


class DateSpan(NamedTuple):
    """A date with at least a month, and where a text has it: `text[start:end]`."""

    start: int
    end: int
    date: PartialDate


@lru_cache(maxsize=512)
def locate_dates(text: str) -> tuple[DateSpan, ...]:
    """Return where a text names dates with at least a month, in its order, as in `find_dates`.

    Each check of a statement asks for its dates.
    """
    return tuple(sorted(_iter_located(text)))


def _iter_located(text: str) -> Iterator[DateSpan]:
    for match in _PATTERNS.english.finditer(text):
        if _is_month(match):
            yield DateSpan(*match.span(), _parse_english(match))
    for pattern in (_PATTERNS.iso, _PATTERNS.chinese):
        for match in pattern.finditer(text):
            yield DateSpan(*match.span(), _parse_numbers(match))


def find_dates(text: str) -> list[PartialDate]:
    """Return the dates that a text names in English, in Chinese or in ISO form.

    A year alone counts only if there is no fuller date. "may" and "march" are verbs unless they are
    next to a day, a year or a preposition such as "in".
    """
    dates = [located.date for located in _iter_located(text)]
    return dates or [*map(_parse_numbers, _PATTERNS.year_alone.finditer(text))]


def write_out_datetimes(text: str) -> str:
    """Return a text with the dates that Python prints of its objects in ISO form.

    `datetime.datetime(2026, 4, 1, 0, 5, tzinfo=…)` becomes `2026-04-01 00:05`.
    """
    if "datetime" not in text:
        return text
    return _PATTERNS.printed_object.sub(_to_iso, text)


def _to_iso(match: re.Match[str]) -> str:
    year, month, day, *time = (int(part) for part in match["parts"].split(",")[:5])
    clock = f" {time[0]:02}:{time[1]:02}" if len(time) == 2 else ""
    return f"{year:04}-{month:02}-{day:02}{clock}"


def match_dates(iso_date: str, dates: list[PartialDate]) -> float:
    """Return how well an ISO date fits the best of some dates, in 0..1.

    Known years and months must be equal. A wrong day costs a third, since people often mention an
    event on a later day.
    """
    match = _PATTERNS.iso.match(iso_date)
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
    if match["before"] or match["after"] or match["year"]:
        return True
    near = max(match.start() - PREPOSITION_CHARS, 0)
    return bool(_PATTERNS.preposition.search(match.string, near, match.start()))


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
    for name in _FULL_DATES:
        if match := _PATTERNS.get(name).search(text):
            month_name = match["month"].lower()
            month = int(month_name) if month_name.isdigit() else _MONTH_NUMBERS[month_name[:3]]
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            with suppress(ValueError):
                day = date(int(match["year"]), month, int(match["day"]))
                return day.isoformat() + _parse_time(rest)
    return ""


def _parse_time(text: str) -> str:
    match = _PATTERNS.time.search(text)
    if not match:
        return ""
    hour, minute = int(match["hours"] or match[4]), int(match["minutes"] or match[5])
    half = "p" if match["half"] == "下" else "a" if match["half"] else (match[6] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"T{hour:02}:{minute:02}" if hour < 24 and minute < 60 else ""
