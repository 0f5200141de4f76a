"""Find the row of a table that has the most or the least of what a question names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from retrieval.regex import regex
from retrieval.words import terms, words

_MOST = regex(
    r"\b(?:most|more than any|highest|largest|biggest|greatest|longest|tallest|heaviest|oldest"
    r"|fastest|best|strongest|maximum)\b|最[多高大长長重老快强強]",
    re.IGNORECASE,
)
_LEAST = regex(
    r"\b(?:least|fewest|lowest|smallest|shortest|lightest|youngest|slowest|weakest|minimum)\b"
    r"|最[少低小短轻輕慢弱]",
    re.IGNORECASE,
)
_MEASURES = {
    r"heav|light\w*est|最[重轻輕]": "weight mass 重量 体重",
    r"longest|shortest|最[长長短]": "length duration 长度",
    r"tallest|最高": "height 高度",
    r"oldest|youngest|最老": "age 年龄",
    r"fastest|slowest|最[快慢]": "speed 速度",
}
"""What a superlative compares by, if the question does not name it."""

_COLON = regex(r"[:：]")
_NUMBER = regex(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")
_SCALES = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "million": 1e6, "billion": 1e9}


def extreme(question: str, rows: Sequence[str]) -> int | None:
    """Return which row a superlative question asks for, if it names a column of numbers.

    `rows` are the rows of one table, each written "header: value; header: value".
    """
    most, least = _MOST.search(question), _LEAST.search(question)
    if not most and not least:
        return None
    tables = [cells(row) for row in rows]
    column = _column(question, tables)
    if column is None:
        return None
    values = {at: number(table.get(column, "")) for at, table in enumerate(tables)}
    known = {at: value for at, value in values.items() if value is not None}
    return (max if most else min)(known, key=known.__getitem__) if len(known) > 1 else None


def cells(text: str) -> dict[str, str]:
    """Return the values of a row by their headers; of what is no row, nothing."""
    found = [_cell(part) for part in re.split(r"[;；](?:\s|$)", text.rstrip(" ;.。；"))]
    if len(found) < 2 or not all(found):
        return {}
    return dict(cell for cell in found if cell)


def _cell(part: str) -> tuple[str, str] | None:
    """Return the header and the value of a cell."""
    colon = _COLON.search(part)
    header = part[: colon.start()] if colon else ""
    value = part[colon.end() :].strip() if colon else ""
    if not header or ";" in header or "\n" in value:
        return None
    return header.strip() or header[-1], value


def number(text: str) -> float | None:
    """Return the first number of a text, with the word after it that multiplies it."""
    found = _NUMBER.search(text)
    if not found:
        return None
    after = text[found.end() :].lstrip()
    scale = next((by for word, by in _SCALES.items() if after.startswith(word)), 1.0)
    return float(found[0].replace(",", "").replace("−", "-")) * scale


def _column(question: str, tables: Sequence[Mapping[str, str]]) -> str | None:
    """Return the column of numbers whose header shares most with the question.

    A word that stands in many headers tells little of which is meant.
    """
    filled = [header for table in tables for header in table if _is_number(table[header])]
    headers = [header for header in dict.fromkeys(filled) if filled.count(header) > 1]
    named = {header: words(header) for header in headers}
    wanted = terms(question) + [
        word for asked, by in _MEASURES.items() if re.search(asked, question) for word in terms(by)
    ]
    worth = {
        header: sum(_rarity(term, named.values()) for term in wanted if _has(named[header], term))
        for header in headers
    }
    if not worth or (len(worth) > 1 and not any(worth.values())):
        return None
    return max(worth, key=worth.__getitem__)


def _is_number(value: str) -> bool:
    """Tell whether a value is a number with at most a unit, not a text that has one somewhere."""
    return bool(re.fullmatch(rf"\W*{_NUMBER.pattern}\W*\w{{0,10}}\W*", value))


def _rarity(term: str, headers: Iterable[Sequence[str]]) -> float:
    bags = list(headers)
    return math.log((len(bags) + 1) / max(sum(_has(bag, term) for bag in bags), 1))


def _has(header: Sequence[str], term: str) -> bool:
    """Tell whether a header has a term, also an irregular form of it: "lost" is in "loss"."""
    return any(word == term or _akin(word, term) for word in header)


def _akin(one: str, other: str) -> bool:
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    return 3 <= same >= max(len(one), len(other)) - 1 and one.isalpha() and other.isalpha()
