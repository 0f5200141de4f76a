"""A table with typed columns from the cells of a file, and conditions on its rows."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

from text.regex import regex
from tools.files.parsed_document import CellGrid

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
    found = _NUMBER.fullmatch(cell.strip())
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


def _date(year: int, month: int = 1, at: int = 1) -> date | None:
    try:
        return date(year, month, at)
    except ValueError:
        return None


MOSTLY = 0.8
"""The share of cells that must be numbers, or dates, for the column to be of that kind."""

TOTALS = ("total", "totals", "sum", "grand total", "overall", "合计", "总计", "小计", "总和")
"""First cells of rows that sum up the others."""

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
    def day_first(self) -> bool | None:
        """Whether `03/04/2020` is 3 April here; `None` if no cell shows it, or if cells differ."""
        dates = [found for cell in self.cells if (found := _SLASHED.fullmatch(cell.strip()))]
        first = any(int(one[1]) > 12 for one in dates if one[2] != ".")
        second = any(int(one[3]) > 12 for one in dates if one[2] != ".")
        return first if first != second else None

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


def fold_cell(cell: str) -> str:
    """Return a value in the form for comparisons."""
    return " ".join(unicodedata.normalize("NFKC", cell).split()).casefold()


def _table(file: str, sheet: str, grid: CellGrid) -> TypedTable:
    sums = {row for row, cells in grid.rows if fold_cell(next(filter(None, cells), "")) in TOTALS}
    kept = [(row, cells) for row, cells in grid.rows if row not in sums]
    columns = [
        TableColumn(at, name, [cells[at] if at < len(cells) else "" for _, cells in kept])
        for at, name in enumerate(grid.header)
        if name
    ]
    numbers = [row for row, _ in kept]
    return TypedTable(file, sheet, columns, numbers, sorted(sums), grid.header_row or 1)


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
