"""A table with typed columns from the cells of a file, and conditions on its rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from tools.files.parsed_document import CellGrid
from tools.tables.cell_values import (
    find_day_order,
    fold_cell,
    has_decimal_comma,
    is_empty_cell,
    parse_day,
    parse_number,
)
from tools.tables.total_rows import find_total_rows

MOSTLY = 0.8
"""The share of cells that must be numbers, or dates, for the column to be of that kind."""

YES_CELLS = frozenset(["yes", "y", "true", "是", "有", "✓", "对"])
NO_CELLS = frozenset(["no", "n", "false", "否", "无", "没有", "✗", "错"])
"""Cells of columns that answer a question with yes or no."""

ColumnKind = Literal["text", "number", "date", "mixed"]


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column: its name, and its cells as they are in the file, row by row."""

    index: int
    name: str
    cells: Sequence[str]

    @cached_property
    def kind(self) -> ColumnKind:
        """What the cells are; `mixed` are numbers that cannot be compared."""
        cells = [cell for cell in self.cells if not is_empty_cell(cell)]
        if not cells:
            return "text"
        least = MOSTLY * len(cells)
        numbers = [one for one in map(parse_number, cells) if one is not None]
        if len(numbers) >= least:
            units = {one.unit.casefold() for one in numbers}
            return "mixed" if len(units) > 1 or has_decimal_comma(cells) else "number"
        if has_decimal_comma(cells) and sum(cell[:1].isdigit() for cell in cells) >= least:
            return "mixed"
        dates = sum(parse_day(cell, self.day_first) is not None for cell in cells)
        return "date" if dates >= least else "text"

    @cached_property
    def has_unlike_numbers(self) -> bool:
        """Whether it has numbers that are not computed with, for their units or other cells."""
        return self.kind == "mixed" or (
            self.kind == "text" and any(parse_number(cell) for cell in self.cells)
        )

    @cached_property
    def day_first(self) -> bool | None:
        """Whether `03/04/2020` is 3 April here; `None` if no cell shows it, or if cells differ."""
        return find_day_order(self.cells)

    @cached_property
    def holds_years(self) -> bool:
        """Whether its numbers are years."""
        some = [one for one in self.values if isinstance(one, Decimal)]
        return bool(some) and all(1000 < one < 2200 and one == int(one) for one in some)

    @cached_property
    def is_yes_no(self) -> bool:
        """Whether its cells are yes or no."""
        return bool(self.distinct) and set(self.distinct) <= YES_CELLS | NO_CELLS

    @cached_property
    def unit(self) -> str:
        """The unit of its numbers."""
        found = (parse_number(cell) for cell in self.cells)
        return next((one.unit for one in found if one and one.unit), "")

    @cached_property
    def values(self) -> Sequence[Decimal | date | None]:
        """The numbers or dates of its cells; `None` for a cell without one."""
        if self.kind == "date":
            return [parse_day(cell, self.day_first) for cell in self.cells]
        if self.kind != "number":
            return [None] * len(self.cells)
        return [one.value if one else None for one in map(parse_number, self.cells)]

    @cached_property
    def distinct(self) -> dict[str, str]:
        """Its different values in the spelling of their first cell, by their folded form."""
        found: dict[str, str] = {}
        for cell in self.cells:
            if not is_empty_cell(cell):
                found.setdefault(fold_cell(cell), cell)
        return found


@dataclass(frozen=True, eq=False)
class TypedTable:
    """The rows of one sheet or file, without empty rows and totals."""

    file: str
    """The name of the file, without its folder."""
    sheet: str
    columns: Sequence[TableColumn]
    numbers: Sequence[int]
    """The number of each row in the file, from 1."""
    totals: Sequence[int] = ()
    """The numbers of the rows that were left out because they sum up others."""
    header_row: int = 1
    """The number of the row with the names of the columns in the file."""

    @property
    def name(self) -> str:
        """The name of the table for people."""
        return f"{self.file} ({self.sheet})" if self.sheet else self.file

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    @cached_property
    def label(self) -> TableColumn:
        """The column that names the rows: the first of texts that are all different."""
        texts = [one for one in self.columns if one.kind == "text" and one.distinct]
        named = (one for one in texts if len(one.distinct) == self.size)
        return next(named, texts[0] if texts else self.columns[0])

    @cached_property
    def has_row_names(self) -> bool:
        """Whether each row has a name of its own."""
        return len(self.label.distinct) == sum(not is_empty_cell(cell) for cell in self.label.cells)

    def of_kind(self, *kinds: ColumnKind) -> list[TableColumn]:
        """Return the columns of these kinds."""
        return [one for one in self.columns if one.kind in kinds]


def make_tables(file: str, grids: Sequence[CellGrid]) -> list[TypedTable]:
    """Return the tables of a file that have a header and a row."""
    sheets = len(grids) > 1
    made = [_table(file, grid.name if sheets else "", grid) for grid in grids if grid.header]
    return [one for one in made if one.size]


def _table(file: str, sheet: str, grid: CellGrid) -> TypedTable:
    sums = find_total_rows(grid.rows)
    left_out = frozenset(sums)
    kept = [(row, cells) for row, cells in grid.rows if row not in left_out]
    columns = [
        TableColumn(at, name, [cells[at] if at < len(cells) else "" for _, cells in kept])
        for at, name in enumerate(grid.header)
        if name
    ]
    numbers = [row for row, _ in kept]
    return TypedTable(file, sheet, columns, numbers, sums, grid.header_row or 1)


Sign = Literal["=", "≠", ">", "≥", "<", "≤", "starts", "ends", "contains", "empty", "filled"]

_ORDERED = {">": operator.gt, "≥": operator.ge, "<": operator.lt, "≤": operator.le}
_TEXTUAL: dict[str, Callable[[str, str], bool]] = {
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": str.__contains__,
}


@dataclass(frozen=True)
class Condition:
    """A condition on one column; with several `texts`, one of them must match."""

    column: TableColumn
    sign: Sign
    texts: tuple[str, ...] = ()
    """Values of the table, or words to look for in a cell."""
    bound: Decimal | date | None = None
    """The number or date that the cell is compared with."""
    at: int = field(default=-1, compare=False)
    """Its position in the question."""

    def holds(self, row: int) -> bool:
        """Tell whether a row meets it; an empty cell meets nothing but `empty`."""
        cell, value = self.column.cells[row], self.column.values[row]
        if is_empty_cell(cell):
            return self.sign == "empty"
        if self.sign in ("empty", "filled"):
            return self.sign == "filled"
        if self.sign in _ORDERED:
            sides: tuple[Any, Any] = (value, self.bound)
            return None not in sides and _ORDERED[self.sign](*sides)
        texts = [fold_cell(text) for text in self.texts]
        if self.sign in _TEXTUAL:
            return any(_TEXTUAL[self.sign](fold_cell(cell), text) for text in texts)
        same = value == self.bound if self.bound is not None else fold_cell(cell) in texts
        return same == (self.sign == "=")


def select_rows(table: TypedTable, conditions: Sequence[Condition]) -> list[int]:
    """Return the indices of the rows that meet all conditions."""
    return [row for row in range(table.size) if all(one.holds(row) for one in conditions)]
