"""Read the dates and times that people and programs write beside messages."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime

from text.regex import regex

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_MONTH = rf"(?P<month>{'|'.join(MONTHS)})[a-z]*\.?"
_YEAR = r"(?P<year>[12]\d{3})"
_DAY = r"(?P<day>\d{1,2})(?:st|[nr]d|th)?"
_DAYS = (
    regex(rf"\b{_DAY}(?: of)? {_MONTH},? {_YEAR}\b", re.IGNORECASE),
    regex(rf"\b{_MONTH} {_DAY},? {_YEAR}\b", re.IGNORECASE),
    regex(rf"{_YEAR}\s?年\s?(?P<month>\d{{1,2}})\s?月\s?(?P<day>\d{{1,2}})"),
    # Which of 5/8/2023 is the month nobody can tell; a year in front leaves no doubt.
    regex(rf"\b{_YEAR}[/.-](?P<month>\d{{1,2}})[/.-](?P<day>\d{{1,2}})\b"),
)
_TIME = regex(r"\b(\d{1,2})[:.：](\d{2})(?:[:：]\d{2})?\s?([ap])?\.?(?:m\b)?", re.IGNORECASE)


def to_iso_timestamp(written: str) -> str:
    """Return a date, with its time if it has one, as ISO says it; empty when it cannot be read.

    ISO itself, seconds since 1970, and dates in English or Chinese words are understood.
    """
    text = " ".join(written.split())
    with suppress(ValueError, OverflowError, OSError):
        if re.fullmatch(r"\d{9,13}(\.\d+)?", text):
            seconds = float(text) / (1000 if len(text.split(".")[0]) > 11 else 1)
            return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")
        if re.match(r"\d{4}-\d{2}-\d{2}", text):
            return _as_iso(text)
    return _in_words(text)


def _as_iso(text: str) -> str:
    if len(text) == len("2023-05-08"):
        return date.fromisoformat(text).isoformat()
    return datetime.fromisoformat(text).isoformat(timespec="minutes")


def _in_words(text: str) -> str:
    for form in _DAYS:
        found = form.search(text)
        if found:
            month = found["month"].lower()
            number = int(month) if month.isdigit() else MONTHS.index(month[:3]) + 1
            rest = text[: found.start()] + " " + text[found.end() :]
            with suppress(ValueError):
                day = date(int(found["year"]), number, int(found["day"]))
                return day.isoformat() + _time(rest)
    return ""


def _time(text: str) -> str:
    found = _TIME.search(text)
    if not found:
        return ""
    hour, minute, half = int(found[1]), int(found[2]), (found[3] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"T{hour:02}:{minute:02}" if hour < 24 and minute < 60 else ""
