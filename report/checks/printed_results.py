"""Tell whether the numbers of a statement stand where a program printed them of the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from report.checks.numbers import normalize_numerals
from report.checks.overlap import CLAUSE_SPLIT
from text.regex import regex
from text.words import search_words

_MIN_SAID_SHARE = 0.6  # of the words of a line that a statement gives with its numbers
_MIN_CLAUSE_WORDS = 2  # of a clause that says by itself what its numbers are of
PRINTED_NUMBER = regex(r"(?<![A-Za-z\d])\d[\d,]*(?:\.\d+)?")
PRINTED_NAME = regex(r"(?<![\w'’-])[A-Z][\w-]{2,}")
_YEAR = regex(r"(?:19|20)\d\d")
MEASURE = regex(
    r"\d[\d.,]*\s?[A-Za-zµ°%]+|\b(?:EUR|USD|GBP|CHF|CNY|RMB|JPY|KRW|INR|HKD|TWD|SGD|AUD|NZD|CAD"
    r"|SEK|NOK|DKK|PLN|CZK|HUF|BRL)\s(?=[-+−]?\d)"
)


class PrintedLine(NamedTuple):
    """A line that a program printed."""

    words: frozenset[str]
    numbers: frozenset[float]
    names: frozenset[str]
    """Its words with a capital letter, but for the first one and for units."""


def split_printed_lines(text: str) -> list[PrintedLine]:
    """Return the lines with numbers of what a program printed."""
    lines = (_to_line(one) for one in text.splitlines())
    return [one for one in lines if one.numbers]


def is_cell_printed(cell: str, subject: str, lines: Sequence[PrintedLine]) -> bool:
    """Tell whether each number of a cell is in a line that says most of what it is of.

    No other line has more of the names of its row and of its column.

    Args:
        cell: The cell.
        subject: The name of the row, and the head of the column.
        lines: What the programs printed.
    """
    words = _list_words(f"{subject} {PRINTED_NUMBER.sub(' ', cell)}")
    return _list_numbers(cell) <= _list_printed_of(words, lines, lines)


def is_statement_printed(
    statement: str, above: str, asked: str, lines: Sequence[PrintedLine]
) -> bool:
    """Tell whether all numbers of a statement were printed of what it gives them for.

    They stand together in a line of which the statement says most; or each is in a line that has
    as many words of its clause, or of the whole statement, as any other. A line that names
    something else does not count. Parts between semicolons are each compared by themselves, where
    the whole was not printed.

    Args:
        statement: The statement, without marks and quotations.
        above: The headings above it.
        asked: What is asked; its numbers need not be printed.
        lines: What the programs printed.
    """
    given = _list_numbers(asked)
    if _is_printed(statement, above, given, lines):
        return True
    parts = [one for one in re.split("[;；]", statement) if _list_numbers(one) - given]
    return len(parts) > 1 and all(_is_printed(one, above, given, lines) for one in parts)


def _is_printed(
    statement: str, above: str, given: set[float], lines: Sequence[PrintedLine]
) -> bool:
    wanted = _list_numbers(statement) - given
    named = {*PRINTED_NAME.findall(f"{statement}\n{above}")}
    own = [one for one in lines if one.names <= named]
    words = _list_said_words(statement)
    if not wanted:
        return False
    if any(wanted <= one.numbers and _is_said(one, words) for one in own):
        return True
    placed = _list_printed_of(words, lines, own)
    for clause in CLAUSE_SPLIT.split(statement):
        left, said = _list_numbers(clause) - given - placed, _list_said_words(clause)
        enough = len(said) >= _MIN_CLAUSE_WORDS
        if left and not (enough and left <= _list_printed_of(said, lines, own)):
            return False
    return True


def _list_printed_of(
    words: frozenset[str], lines: Sequence[PrintedLine], own: Sequence[PrintedLine]
) -> set[float]:
    """Return the numbers of some of the lines that have as many of some words as any line."""
    most = max((len(words & one.words) for one in lines), default=0)
    return {number for one in own if len(words & one.words) == most for number in one.numbers}


def _list_numbers(text: str) -> set[float]:
    return {
        float(one[0].replace(",", "")) for one in PRINTED_NUMBER.finditer(normalize_numerals(text))
    }


def _is_said(line: PrintedLine, words: frozenset[str]) -> bool:
    said = {one for one in line.words if not one[:1].isdigit()}
    return bool(said) and len(said & words) >= _MIN_SAID_SHARE * len(said)


def _list_words(text: str) -> frozenset[str]:
    """Return the search words of a text, and the names that look like a common word, as May."""
    return frozenset([*search_words(text), *map(str.lower, PRINTED_NAME.findall(text))])


def _list_said_words(text: str) -> frozenset[str]:
    """Return the words of a text and its years, without other numbers."""
    return frozenset(
        one for one in _list_words(text) if not one[:1].isdigit() or _YEAR.fullmatch(one)
    )


def _to_line(text: str) -> PrintedLine:
    names = PRINTED_NAME.findall(MEASURE.sub(" ", text).strip().partition(" ")[2])
    first = re.match(r"([A-Z][\w-]{2,}),", text.strip())
    names += [first[1]] if first else []
    return PrintedLine(_list_words(text), frozenset(_list_numbers(text)), frozenset(names))
