"""Read what a cell of a table holds: a number with its unit, a date, or text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from retrieval.regex import regex

EMPTY = frozenset(
    [
        "",
        "-",
        "--",
        "–",
        "—",
        "/",
        "?",
        "n/a",
        "na",
        "n.a.",
        "nan",
        "null",
        "none",
        "nil",
        "tbd",
        "无",
        "無",
        "未知",
        "缺",
        "空",
        "不详",
    ]
)
"""What is written where nothing is known, in lower case."""

_NUMBER = regex(
    r"(?P<sign>[-+−])?\s?(?P<before>[$€£¥￥₹])?\s?(?P<minus>[-−])?"
    r"(?P<digits>\d+|\d{1,3}(?:(?P<mark>[,'’\u00a0\u2009\u202f ])\d{3})(?:(?P=mark)\d{3})*)"
    r"(?P<rest>\.\d+)?(?P<power>[eE][-+]?\d{1,2})?"
    r"\s?(?P<unit>%|‰|[A-Za-zµ°Ω€£$¥][\w°²³/·%]{0,11}|[\u4e00-\u9fff/]{1,4})?"
)
_DECIMAL_COMMA = regex(r"\d,(?:\d{1,2}(?!\d)|\d{4})|\d\.\d{3},\d|\b0,\d")
_CODE = regex(r"[-+]?0\d")
"""A number that begins with 0 is a code, such as a telephone number."""

_ISO = regex(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?|/(\d{1,2})/(\d{1,2})|\.(\d{1,2})\.(\d{1,2}))"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?"
)
_SLASHED = regex(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?: \d{1,2}:\d{2}(?::\d{2})?)?(?: ?[AP]M)?", re.IGNORECASE
)
_CHINESE = regex(r"(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})[日号])?)?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAMED = "|".join(_MONTHS)
_SPELT = regex(
    rf"(?:(?P<d1>\d{{1,2}})[ -])?(?P<month>{_NAMED})[a-z]*\.?[ -](?:(?P<d2>\d{{1,2}}),? )?"
    r"(?P<year>\d{4})",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A number as it stands in a cell; the unit is empty where none is written."""

    value: Decimal
    unit: str


def empty(cell: str) -> bool:
    """Tell whether a cell says nothing."""
    return cell.strip().casefold() in EMPTY


def number(cell: str) -> Number | None:
    """Return the number a cell holds; `None` where it holds anything else beside it.

    Commas, spaces and apostrophes are read as thousands separators where three digits follow each.
    """
    found = _NUMBER.fullmatch(cell.strip())
    if not found or _CODE.match(found["digits"]) or (found["sign"] and found["minus"]):
        return None
    digits = re.sub(r"\D", "", found["digits"]) + (found["rest"] or "") + (found["power"] or "")
    negative = (found["minus"] or found["sign"] or "") in ("-", "−") and "-"
    unit = found["unit"] or found["before"] or ""
    if found["before"] and found["unit"]:
        return None
    return Number(Decimal(f"{negative or ''}{digits}"), unit)


def decimal_comma(cells: Iterable[str]) -> bool:
    """Tell whether a comma stands before decimals in any of these cells: `3,5` or `1.234,5`."""
    return any(_DECIMAL_COMMA.search(cell) for cell in cells)


def day(cell: str, day_first: bool | None = None) -> date | None:
    """Return the date a cell holds, in a form that can be read in one way only.

    A month is taken for its first day. `03/04/2020` is read where `day_first` says how, and
    `03.04.2020` as 3 April.
    """
    text = cell.strip()
    if found := _SLASHED.fullmatch(text):
        first, second, last = int(found[1]), int(found[3]), int(found[4])
        if found[2] == "." or day_first:
            return _date(last, second, first)
        return None if day_first is None else _date(last, first, second)
    if found := _ISO.fullmatch(text):
        year, *parts = found.groups()
        return _date(int(year), *(int(one) for one in parts if one))
    if found := _CHINESE.fullmatch(text):
        return _date(*(int(one) for one in found.groups() if one))
    if (found := _SPELT.fullmatch(text)) and not (found["d1"] and found["d2"]):
        month = _MONTHS.index(found["month"][:3].lower()) + 1
        return _date(int(found["year"]), month, int(found["d1"] or found["d2"] or 1))
    return None


def day_first(cells: Iterable[str]) -> bool | None:
    """Tell whether the day stands before the month in dates such as `31/12/2020`.

    Returns:
        `None` where no cell tells, or where they tell different things.
    """
    found = [one for cell in cells if (one := _SLASHED.fullmatch(cell.strip())) and one[2] != "."]
    first = any(int(one[1]) > 12 for one in found)
    second = any(int(one[3]) > 12 for one in found)
    return first if first != second else None


def _date(year: int, month: int = 1, at: int = 1) -> date | None:
    try:
        return date(year, month, at)
    except ValueError:
        return None
