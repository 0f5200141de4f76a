"""Decide which values of a table a chart compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from report.pictures.cited_text import CitedText
from report.pictures.leading_dates import LeadingDate, read_leading_date
from report.pictures.quantity_cells import (
    CellValue,
    is_known_unit,
    is_missing_value,
    parse_cell,
    read_unit,
)
from report.pictures.report_tables import ReportTable
from text.pattern_files import PatternFile
from text.regex import regex

MIN_VALUES = 3
"""The fewest values of a column that a chart compares."""

MAX_BARS = 40
MAX_POINTS = 80
"""The most bars of a chart, and points of a line; a larger table is searched, not looked at."""

MAX_SERIES = 4
"""The most columns on one axis."""

_MAX_RATIO = 12.0  # between the largest values of columns on one axis
_MIN_VISIBLE = 0.01  # of the largest value, or most bars of a chart cannot be seen
_MIN_VISIBLE_SHARE = 0.5
_FIRST_YEAR, _LAST_YEAR = 1500, 2100
_DIGITS = regex(r"[\d\s()（）年%]+")
_PATTERNS = PatternFile("report.pictures", "charted_values.toml")


class Series(NamedTuple):
    """A column of values."""

    name: str
    """The head of its column."""
    values: list[CellValue | None]
    """A value for each row, or None where there is none."""


class ChartedValues(NamedTuple):
    """Values of a table that are compared on one axis."""

    end: int
    section: str
    by: str
    """The head of the column with the labels; may be empty."""
    labels: list[CitedText]
    times: list[LeadingDate]
    """A date for each label, in order, where the labels are dates; else empty."""
    series: list[Series]
    left_out: list[str]
    """The labels of rows with totals."""
    uses: tuple[int, ...]

    def list_values(self) -> list[CellValue]:
        """Return all values."""
        return [value for one in self.series for value in one.values if value]


class _Column(NamedTuple):
    series: Series
    unit: str
    """What is measured: the unit, or else the head without years and numbers."""


def list_charted_values(table: ReportTable) -> list[ChartedValues]:
    """Return what charts compare of a table: for each unit the columns of a similar size.

    Nothing is compared where a chart would say nothing or mislead: ranks, years and other numbers
    that name things, columns with ranges or words, equal values, properties with units of their
    own.
    """
    at = _find_labels(table)
    if at is None or _PATTERNS.properties.fullmatch(table.head[at]):
        return []
    dated = _read_times(table.get_column(at))
    rows = [row for row in table.rows if dated or not _PATTERNS.total.fullmatch(row[at].words)]
    if not MIN_VALUES <= len(rows) <= (MAX_POINTS if dated else MAX_BARS):
        return []
    if dated:
        order = sorted(range(len(rows)), key=lambda one: dated[one].first)
        rows, dated = [rows[one] for one in order], [dated[one] for one in order]
    names = [row[at].words for row in rows]
    needs_unit = not dated and _may_differ_in_unit(table.head[at], names)
    read = (
        _read(head, [row[one].words for row in rows], needs_unit=needs_unit)
        for one, head in enumerate(table.head)
        if one != at
    )
    totals = [row[at].words for row in table.rows if row not in rows]
    labels = [_with_doubts(row, at) for row in rows]
    uses = tuple(dict.fromkeys(use for row in rows for cell in row for use in cell.uses))
    by, most = table.head[at], MAX_SERIES if dated else min(MAX_SERIES, MAX_BARS // len(rows))
    return [
        ChartedValues(table.end, table.section, by, labels, dated, series, totals, uses)
        for series in _group([*filter(None, read)], most)
    ]


def _find_labels(table: ReportTable) -> int | None:
    """Return the first column that has a different name or date in each row, or None."""
    for at in range(min(2, len(table.head))):
        cells = [one.words for one in table.get_column(at)]
        names = [one for one in cells if any(map(str.isalpha, one)) and not parse_cell(one)]
        if len(names) == len(cells) and len(set(cells)) == len(cells):
            return at
        if _read_times(table.get_column(at)):
            return at
    return None


def _read_times(cells: Sequence[CitedText]) -> list[LeadingDate]:
    """Return the date of each cell if all are different dates of one kind; else nothing."""
    found = [read_leading_date(one.words) for one in cells]
    dates = [one for one in found if one and not one.rest]
    is_whole = len(dates) == len(cells) == len({one.first for one in dates})
    is_even = len({(bool(one.first.month), bool(one.first.day)) for one in dates}) == 1
    return dates if is_whole and is_even else []


def _with_doubts(row: Sequence[CitedText], at: int) -> CitedText:
    """Return a label that is doubted if anything in its row is."""
    is_doubted = any(cell.is_doubted for cell in row)
    return row[at]._replace(is_doubted=is_doubted, uses=())


def _read(head: str, cells: Sequence[str], *, needs_unit: bool) -> _Column | None:
    """Return a column if its cells are values of one unit, or missing."""
    values = [None if is_missing_value(one) else parse_cell(one) for one in cells]
    known = [one for one in values if one]
    is_read = all(one or is_missing_value(cell) for one, cell in zip(values, cells, strict=True))
    if not is_read or len(known) < MIN_VALUES or _names_things(head, known):
        return None
    units = {one.unit for one in known}
    if len(units) > 1 or not _compares(known):
        return None
    unit = units.pop() or _read_head_unit(head)
    if not unit and (needs_unit or _PATTERNS.general.fullmatch(head)):
        return None
    return _Column(Series(head, values), unit or _to_subject(head))


def _may_differ_in_unit(head: str, labels: Sequence[str]) -> bool:
    """Tell whether the rows of a table may be measured in units of their own."""
    return not head or any(is_known_unit(_find_unit(one)) for one in labels)


def _names_things(head: str, values: Sequence[CellValue]) -> bool:
    """Tell whether numbers name, order or date things and are no amounts."""
    is_counted = bool(_PATTERNS.counted.search(head))
    is_measured = is_counted or bool(_read_head_unit(head)) or all(one.measure for one in values)
    if _PATTERNS.names.search(head):
        return True
    if not is_measured and _PATTERNS.names_without_unit.search(head):
        return True
    bare = [one for one in values if not one.measure and one.amount == int(one.amount)]
    if len(bare) < len(values):
        return False
    numbers = sorted(one.number for one in bare)
    are_ranks = numbers == [*range(1, len(numbers) + 1)]
    are_years = all(
        _FIRST_YEAR <= one.number <= _LAST_YEAR and "," not in one.written for one in bare
    )
    return are_ranks or are_years


def _compares(values: Sequence[CellValue]) -> bool:
    """Tell whether a chart of some values shows a difference, and most of the values."""
    sizes = [abs(one.number) for one in values]
    visible = [one for one in sizes if one >= _MIN_VISIBLE * max(sizes)]
    is_flat = len({one.number for one in values}) == 1
    return not is_flat and len(visible) >= _MIN_VISIBLE_SHARE * len(sizes)


def _read_head_unit(head: str) -> str:
    """Return the unit that the head of a column names; "" if it names none."""
    words = _find_unit(head)
    return "" if not words or words.isdigit() else read_unit(words.casefold()).name


def _find_unit(head: str) -> str:
    """Return the last words of a head if they are in brackets or behind a comma; or ""."""
    found = _PATTERNS.head_unit.search(head)
    return next(filter(None, found.groups()), "").strip() if found else ""


def _to_subject(head: str) -> str:
    """Return what a column without a unit is about: columns for years have the same subject."""
    return f"of {_DIGITS.sub(' ', head).strip().casefold()}"


def _group(columns: Sequence[_Column], most: int) -> Iterator[list[Series]]:
    """Yield at most some columns that can stand on one axis, of one unit and a similar size."""
    left = [*columns]
    while left:
        first, size = left[0], _get_size(left[0])
        own = [
            one
            for one in left
            if one.unit == first.unit and 1 / _MAX_RATIO <= _get_size(one) / size <= _MAX_RATIO
        ][:most]
        left = [one for one in left if one not in own]
        yield [one.series for one in own]


def _get_size(column: _Column) -> float:
    return max(abs(one.number) for one in column.series.values if one)
