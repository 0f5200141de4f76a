"""Align the columns of tables that have nothing but numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from report.markdown.markdown_blocks import join_blocks, parse_blocks, split_cells
from report.pictures.quantity_cells import is_missing_value, parse_cell
from report.pictures.report_tables import ReportTable
from report.rendering.numbering import NumberedText
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("report.rendering", "number_columns.toml")
_MAX_VARIED_UNIT = 8  # characters of a unit in a column with several


def align_number_columns(shown: NumberedText, tables: Sequence[ReportTable]) -> NumberedText:
    """Return a text whose columns of numbers are right-aligned, unless its writer aligned them.

    In such a column every cell is a number, a range or a bound, with or without a unit, or says
    that there is no value. Years name things as words do.

    Args:
        shown: The numbered text.
        tables: Its tables.
    """
    blocks = parse_blocks(shown.body)
    for table in tables:
        at = table.end - len(table.rows) - 1
        marks = [one.strip() for one in split_cells(blocks[at].text)]
        aligned = [*_align(marks, table)]
        if aligned != marks:
            blocks[at] = blocks[at]._replace(text=f"|{'|'.join(aligned)}|")
    return shown._replace(body=join_blocks(blocks))


def _align(marks: Sequence[str], table: ReportTable) -> Iterator[str]:
    """Yield the marks of alignment of a table, with those of its columns of numbers."""
    for at, mark in enumerate(marks):
        is_open = ":" not in mark and at < len(table.head)
        yield "--:" if is_open and _are_numbers([row[at].words for row in table.rows]) else mark


def _are_numbers(cells: Sequence[str]) -> bool:
    """Tell whether cells are numbers of similar units, or missing, and more than years."""
    units, are_years, found = set[str](), True, False
    for cell in cells:
        if is_missing_value(cell):
            continue
        unit = _read_unit(cell)
        if unit is None:
            return False
        units.add(unit)
        found, are_years = True, are_years and bool(_PATTERNS.years.fullmatch(cell))
    are_short = all(len(one) <= _MAX_VARIED_UNIT for one in units)
    return found and not are_years and (are_short or len(units) == 1)


def _read_unit(cell: str) -> str | None:
    """Return the unit of a number, a range, a bound, or a number with its share; None for words."""
    if _PATTERNS.bare.fullmatch(cell):
        return ""
    bounds = _PATTERNS.bounds.fullmatch(cell) or _PATTERNS.with_share.fullmatch(cell)
    read = [parse_cell(one) for one in (bounds.groups() if bounds else [cell]) if one]
    units = [one.unit for one in read if one]
    return max(units, key=len) if len(units) == len(read) else None
