"""Make a column of what lies between two columns: days, months or years, or a difference."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import CJK
from tools.tables.mentions import Mention
from tools.tables.table import Column

MADE = -1
"""The place of a column that is in no file."""

_JOINTS = regex(
    r"[\s\"'`”’」]*(?P<joint>\band\b|\bto\b|\buntil\b|\btill\b|\bminus\b|到|至|和|与|跟|减去?"
    r"|[-–−→])"
    r"[\s\"'`“‘「]*(?:the\s+)?(?:column\s+)?",
    re.IGNORECASE,
)
_BEFORE = regex(
    r"(?:\b(?:between|from)|从|自)\s*(?:the\s+)?(?:column\s+)?[\"'`“‘「列]*\s*$", re.IGNORECASE
)
UNITS: Mapping[str, tuple[re.Pattern[str], Decimal, str]] = {
    "days": (regex(r"\bdays?\b|[多少几幾]*天数?", re.I), Decimal(1), "天"),
    "weeks": (regex(r"\bweeks?\b|[多少几幾]*(?:个?星期|周)", re.I), Decimal(7), "周"),
    "months": (
        regex(r"\bmonths?\b|[多少几幾]*个月", re.I),
        Decimal("30.436875"),
        "个月",
    ),
    "years": (regex(r"\byears?\b|多少年|[几幾]年|年数", re.I), Decimal("365.2425"), "年"),
}
"""The units of time: how they are asked for, how many days one has, and its Chinese name."""

_SPANS = regex(
    r"\b(?:how long|how many|(?:the )?number of|time spans?|time|durations?|gaps?|intervals?"
    r"|periods?"
    r"|spans?|differences?|length)\b|相差|间隔|時長|时长|时间|多久|多长|之差|的差距?|差值|差距"
    r"|差|之间|多少",
    re.IGNORECASE,
)
_LONG = regex(r"\b(?:longest|shortest)\b|最[长短久長]", re.IGNORECASE)
_LESS = regex(r"\bminus\b|\bdifferences?\b|减|差|[-–−]", re.IGNORECASE)


class Difference(NamedTuple):
    """Two columns named with what lies between them."""

    column: Column
    start: int
    end: int
    words: list[tuple[int, int]]
    """The words of the question that ask for it, by their places."""
    named: tuple[Mention, Mention]


def difference(question: str, found: Sequence[Mention]) -> Difference | None:
    """Return what a question asks between two columns that it names one behind the other."""
    named = [one for one in found if not one.value]
    for one, other in pairwise(named):
        joint = _JOINTS.fullmatch(question[one.end : other.start])
        if joint and one.columns != other.columns and len(one.columns) == len(other.columns) == 1:
            made = _made(question, one, other, joint["joint"])
            if made:
                return made
    return None


def _made(question: str, one: Mention, other: Mention, joint: str) -> Difference | None:
    kinds = {one.columns[0].kind, other.columns[0].kind}
    before = _BEFORE.search(question[: one.start])
    words = list(_words(question, one, other))
    start = before.start() if before else one.start
    name, unit = _unit(question, kinds)
    apart = bool(before or _LONG.search(question)) and joint not in ("和", "与", "跟", "and")
    if kinds == {"date"} and (words or apart):
        column = _time(one.columns[0], other.columns[0], name, unit)
    elif kinds == {"number"} and (_LESS.search(joint) or _LESS.search(question)):
        column = _subtracted(one.columns[0], other.columns[0], joint, unit)
    else:
        return None
    return Difference(column, start, other.end, words, (one, other))


def between(one: Column, other: Column, unit: str, *, chinese: bool) -> Column:
    """Return what lies between two columns: time in a unit of `UNITS`, or else a difference."""
    if unit not in UNITS:
        return _subtracted(one, other, "", "zh" * chinese)
    return _time(one, other, unit, UNITS[unit][2] if chinese else unit)


def _words(question: str, one: Mention, other: Mention) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that ask for a length of time or a difference."""
    patterns = [_SPANS, *(pattern for pattern, _, _ in UNITS.values())]
    for pattern in patterns:
        for found in pattern.finditer(question):
            if found.end() <= one.start or found.start() >= other.end:
                yield found.span()


def _unit(question: str, kinds: Collection[str]) -> tuple[str, str]:
    """Return the unit that is asked for, by its name and as it is shown."""
    chinese = bool(re.search(f"[{CJK}]", re.sub(r"[\w.-]+\.(?:csv|tsv|xlsx)", "", question)))
    name = next((name for name, one in UNITS.items() if one[0].search(question)), "days")
    return name, (UNITS[name][2] if chinese else name) if kinds == {"date"} else "zh" * chinese


def _time(one: Column, other: Column, name: str, unit: str) -> Column:
    cells = []
    for first, last in zip(one.values, other.values, strict=True):
        if isinstance(first, date) and isinstance(last, date):
            spanned = Decimal((last - first).days) / UNITS[name][1]
            cells.append(f"{_short(spanned)} {unit}")
        else:
            cells.append("")
    length = UNITS[name][1]
    if unit == UNITS[name][2]:
        each = "" if length == 1 else f"（每{unit.removeprefix('个')}按 {length} 天）"
        return Column(MADE, f"从 {one.name} 到 {other.name} 的{unit}数{each}", cells)
    each = "" if length == 1 else f" (of {length} days)"
    return Column(MADE, f"{unit}{each} from {one.name} to {other.name}", cells)


def _subtracted(one: Column, other: Column, joint: str, chinese: str) -> Column:
    """Return one column less the other; a difference is that of the larger and the smaller."""
    signed = bool(re.fullmatch(r"minus|减去?|[-–−]", joint, re.IGNORECASE))
    cells = []
    for first, last in zip(one.values, other.values, strict=True):
        if isinstance(first, Decimal) and isinstance(last, Decimal):
            cells.append(_short(first - last if signed else abs(first - last)))
        else:
            cells.append("")
    between = f"{one.name} 与 {other.name} 之差" if chinese else ""
    between = between or f"difference of {one.name} and {other.name}"
    return Column(MADE, f"{one.name} − {other.name}" if signed else between, cells)


def _short(value: Decimal) -> str:
    return f"{round(value, 10).normalize():f}"
