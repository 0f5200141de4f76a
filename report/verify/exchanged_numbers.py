"""Find numbers that stand before the citation of another source than the one that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from report.checks.numbers import (
    TextNumber,
    is_known_number,
    list_checkable_numbers,
    list_values,
)
from report.checks.source_text import normalize_statement
from report.markdown.markdown_blocks import split_cells
from report.markdown.markers import MARKER, list_cited_ids
from text.regex import regex

_MARKERS = regex(r"(?:\s*\[S[1-9]\d*\])+")


class _CitedPart(NamedTuple):
    """A part of a sentence, or a cell, with the ids behind it."""

    numbers: list[TextNumber]
    cited: frozenset[str]


def has_exchanged_numbers(statement: str, row: bool, get_text: Callable[[str], str]) -> bool:
    """Tell whether two parts of a sentence have each other's numbers, or a cell that of another.

    Numbers that no source has, or that each has, tell nothing here.

    Args:
        statement: A sentence or a row of a table, with marks such as `[S1]` behind its parts.
        row: Whether it is a row, each cell of which has its own marks.
        get_text: Returns the text of a source, by its id.
    """
    parts = [*(_list_cells(statement) if row else _list_parts(statement))]
    if len({part.cited for part in parts}) < 2:
        return False
    cited = {name for part in parts for name in part.cited}
    values = {name: list_values(get_text(name)) for name in cited}
    lent = {
        (at, other)
        for at, part in enumerate(parts)
        for other, having in enumerate(parts)
        if any(
            _is_known(one, having.cited, values) and not _is_known(one, part.cited, values)
            for one in part.numbers
        )
    }
    return bool(lent) if row else any((other, at) in lent for at, other in lent)


def _list_parts(sentence: str) -> Iterator[_CitedPart]:
    """Yield the parts of a sentence that end with marks."""
    start = 0
    for found in _MARKERS.finditer(sentence):
        yield _read_part(sentence[start : found.start()], found[0])
        start = found.end()


def _list_cells(row: str) -> Iterator[_CitedPart]:
    """Yield the cells of a row that have marks."""
    return (_read_part(cell, cell) for cell in split_cells(row) if MARKER.search(cell))


def _read_part(words: str, marks: str) -> _CitedPart:
    numbers = list_checkable_numbers(normalize_statement(words))
    return _CitedPart(numbers, frozenset(list_cited_ids(marks)))


def _is_known(
    number: TextNumber, names: frozenset[str], values: Mapping[str, Sequence[float]]
) -> bool:
    return any(is_known_number(number, values[name]) for name in names)
