"""How wide the columns of a table have to be, by what stands in their cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from report.pictures.svg import measure_text
from text.regex import regex
from text.script import CJK

_MAX_WORD, _MAX_CELL = 24, 60  # characters of a word and of a cell that a column makes room for
_WORD = regex(f"[{CJK}]|[^ \t\r\n{CJK}]+")


class ColumnExtent(NamedTuple):
    """How wide a column is, in any unit."""

    least: float
    """If only words are not broken."""
    full: float
    """If no line is."""


def measure_table_columns(rows: Sequence[Any]) -> list[ColumnExtent]:
    """Return how wide the columns of a table are, in ems of a common sans-serif font.

    Args:
        rows: Its rows, elements `tr` of HTML.
    """
    return [_measure(rows, at) for at in range(max(map(len, rows), default=0))]


def _measure(rows: Sequence[Any], at: int) -> ColumnExtent:
    cells = [row[at] for row in rows if at < len(row)]
    texts = {one.text_content() if len(one) else one.text or "" for one in cells}
    words = {word[:_MAX_WORD] for text in texts for word in _WORD.findall(text)}
    least = max((measure_text(one, 1) for one in words), default=0)
    full = max((measure_text(one[:_MAX_CELL], 1) for one in texts), default=0)
    return ColumnExtent(least, max(least, full))


def fit_columns(extents: Sequence[ColumnExtent], width: float) -> list[float]:
    """Return widths of columns that fill a width if they need it, and are no wider.

    Args:
        extents: How wide the columns are, in the unit of the width.
        width: What there is for all of them.
    """
    least, full = (sum(ends) for ends in zip(*extents, strict=True))
    if full <= width:
        return [one.full for one in extents]
    if least >= width:
        return [one.least * width / least for one in extents]
    share = (width - least) / (full - least)
    return [one.least + share * (one.full - one.least) for one in extents]
