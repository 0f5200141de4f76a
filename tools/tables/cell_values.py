"""The values of cells: numbers with their units, dates, and what says that nothing is known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from text.regex import regex

_EMPTY_WORDS = "- -- – — / ? n/a na n.a. nan null none nil tbd 无 無 未知 缺 空 不详"
EMPTY = frozenset(["", *_EMPTY_WORDS.split()])
"""Cells that mean that nothing is known, in lower case."""

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


class CellNumber(NamedTuple):
    """The number of a cell; the unit may be empty."""

    value: Decimal
    unit: str


def is_empty_cell(cell: str) -> bool:
    """Tell whether a cell is empty or says that nothing is known."""
    return cell.strip().casefold() in EMPTY


def parse_number(cell: str) -> CellNumber | None:
    """Return the number of a cell; `None` if the cell contains anything else.

    Commas, spaces and apostrophes are thousands separators if three digits follow each.
    """
    text = cell.strip()
    if text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0"):
        return CellNumber(Decimal(text), "")
    found = _NUMBER.fullmatch(text)
    if not found or _CODE.match(found["digits"]) or (found["sign"] and found["minus"]):
        return None
    if found["before"] and found["unit"]:
        return None
    sign = "-" if found["minus"] or found["sign"] in ("-", "−") else ""
    digits = re.sub(r"\D", "", found["digits"]) + (found["rest"] or "") + (found["power"] or "")
    return CellNumber(Decimal(f"{sign}{digits}"), found["unit"] or found["before"] or "")


def has_decimal_comma(cells: Iterable[str]) -> bool:
    """Tell whether a comma precedes decimals in any of these cells: `3,5` or `1.234,5`."""
    return any(_DECIMAL_COMMA.search(cell) for cell in cells)


def parse_day(cell: str, day_first: bool | None = None) -> date | None:
    """Return the date of a cell in an unambiguous form; a month stands for its first day.

    `03/04/2020` is read according to `day_first`, and `03.04.2020` as 3 April.
    """
    text = cell.strip()
    if found := _SLASHED.fullmatch(text):
        first, second, last = int(found[1]), int(found[3]), int(found[4])
        if found[2] == "." or day_first:
            return _date(last, second, first)
        return None if day_first is None else _date(last, first, second)
    if found := _ISO.fullmatch(text) or _CHINESE.fullmatch(text):
        return _date(*(int(one) for one in found.groups() if one))
    if (found := _SPELT.fullmatch(text)) and not (found["d1"] and found["d2"]):
        month = _MONTHS.index(found["month"][:3].lower()) + 1
        return _date(int(found["year"]), month, int(found["d1"] or found["d2"] or 1))
    return None


def find_day_order(cells: Iterable[str]) -> bool | None:
    """Return whether `03/04/2020` is 3 April; `None` if no cell shows it, or if cells differ."""
    dates = [found for cell in cells if (found := _SLASHED.fullmatch(cell.strip()))]
    first = any(int(one[1]) > 12 for one in dates if one[2] != ".")
    second = any(int(one[3]) > 12 for one in dates if one[2] != ".")
    return first if first != second else None


def _date(year: int, month: int = 1, at: int = 1) -> date | None:
    try:
        return date(year, month, at)
    except ValueError:
        return None


def fold_cell(cell: str) -> str:
    """Return a value in the form for comparisons."""
    return " ".join(unicodedata.normalize("NFKC", cell).split()).casefold()
