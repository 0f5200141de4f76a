"""A table with typed columns, made of the cells of a file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, partial
from typing import Literal

from tools.files.shapes import Grid
from tools.tables.cells import day, day_first, decimal_comma, empty, number

MOSTLY = 0.8
"""A column holds numbers, or dates, if this part of its cells does; the rest is left out."""

TOTALS = frozenset(
    ["total", "totals", "sum", "grand total", "overall", "合计", "总计", "小计", "总和"]
)
"""What the first cell of a row says that sums up the others."""

YES = frozenset(["yes", "y", "true", "是", "有", "✓", "对"])
NO = frozenset(["no", "n", "false", "否", "无", "没有", "✗", "错"])
"""What cells say that answer a question with yes or no."""

Kind = Literal["text", "number", "date", "mixed"]


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its name, and its cells as they are written, row by row."""

    at: int
    name: str
    cells: Sequence[str]

    @cached_property
    def kind(self) -> Kind:
        """What the column holds; `mixed` are numbers that cannot be compared."""
        said = [cell for cell in self.cells if not empty(cell)]
        if not said:
            return "text"
        least = MOSTLY * len(said)
        numbers = [one for one in map(number, said) if one is not None]
        if len(numbers) >= least:
            units = {one.unit.casefold() for one in numbers}
            return "mixed" if len(units) > 1 or decimal_comma(said) else "number"
        if decimal_comma(said) and len([cell for cell in said if cell[:1].isdigit()]) >= least:
            return "mixed"
        dates = sum(day(cell, self.day_first) is not None for cell in said)
        return "date" if dates >= least else "text"

    @cached_property
    def day_first(self) -> bool | None:
        """Whether `03/04/2020` is 3 April here; `None` where its cells do not tell."""
        return day_first(self.cells)

    @cached_property
    def years(self) -> bool:
        """Whether its numbers are years."""
        some = [one for one in self.values if isinstance(one, Decimal)]
        return bool(some) and all(1000 < one < 2200 and one == int(one) for one in some)

    @cached_property
    def yes_or_no(self) -> bool:
        """Whether its cells say yes or no."""
        return bool(self.distinct) and set(self.distinct) <= YES | NO

    @cached_property
    def unit(self) -> str:
        """The unit that stands beside its numbers."""
        found = (number(cell) for cell in self.cells)
        return next((one.unit for one in found if one and one.unit), "")

    @cached_property
    def values(self) -> Sequence[Decimal | date | None]:
        """The numbers or dates of its cells; `None` for a cell that holds none."""
        reads: dict[str, Callable[[str], Decimal | date | None]] = {
            "number": _value,
            "date": partial(day, day_first=self.day_first),
        }
        read = reads.get(self.kind)
        return [read(cell) for cell in self.cells] if read else [None for _ in self.cells]

    @cached_property
    def distinct(self) -> dict[str, str]:
        """Its different values as they are first written, by their folded form."""
        found: dict[str, str] = {}
        for cell in self.cells:
            if not empty(cell):
                found.setdefault(folded(cell), cell)
        return found


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of one sheet or file, without empty ones and those that sum up others."""

    file: str
    """The name of the file, without its folder."""
    sheet: str
    columns: Sequence[Column]
    numbers: Sequence[int]
    """The number of each row in the file, from 1."""
    totals: Sequence[int] = ()
    """The numbers of the rows that were left out because they sum up others."""

    @property
    def name(self) -> str:
        """What the table is called before a person."""
        return f"{self.file} ({self.sheet})" if self.sheet else self.file

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    @cached_property
    def label(self) -> Column:
        """The column that names what a row is about: the first of texts that are all different."""
        texts = [one for one in self.columns if one.kind == "text" and one.distinct]
        named = (one for one in texts if len(one.distinct) == self.size)
        return next(named, texts[0] if texts else self.columns[0])

    @cached_property
    def labelled(self) -> bool:
        """Whether each row has a name of its own."""
        return len(self.label.distinct) == sum(not empty(cell) for cell in self.label.cells)

    def of_kind(self, *kinds: Kind) -> list[Column]:
        """Return the columns that hold values of these kinds."""
        return [one for one in self.columns if one.kind in kinds]


def tables(file: str, grids: Sequence[Grid]) -> list[Table]:
    """Return the tables of a file that have a header and a row."""
    sheets = len(grids) > 1
    made = [_table(file, grid.name if sheets else "", grid) for grid in grids if grid.header]
    return [one for one in made if one.size]


def folded(cell: str) -> str:
    """Return a value in the form in which values are compared."""
    return " ".join(unicodedata.normalize("NFKC", cell).split()).casefold()


def _table(file: str, sheet: str, grid: Grid) -> Table:
    sums = {row for row, cells in grid.rows if folded(next(filter(None, cells), "")) in TOTALS}
    kept = [(row, cells) for row, cells in grid.rows if row not in sums]
    width = len(grid.header)
    columns = [
        Column(at, name, [cells[at] if at < len(cells) else "" for _, cells in kept])
        for at, name in enumerate(grid.header[:width])
        if name
    ]
    return Table(file, sheet, columns, [row for row, _ in kept], sorted(sums))


def _value(cell: str) -> Decimal | None:
    found = number(cell)
    return found.value if found else None
