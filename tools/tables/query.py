"""A query over a table.

As a model writes it, as it was parsed, and what it gives, computed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from statistics import median
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from text.pluralization import pluralize
from tools.tables.mentions import DERIVED_COLUMN, make_difference_column
from tools.tables.typed_table import (
    Condition,
    Sign,
    TableColumn,
    TypedTable,
    fold_cell,
    is_empty_cell,
    parse_day,
    parse_number,
    select_rows,
)

EXAMPLES = 4
"""So many different values of a column are shown to a model."""

_SIGNS: dict[str, Sign] = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}
_MEASURED = ("total", "average", "median", "min", "max")


class QueryUnfit(ValueError):
    """A query asks for what the table does not have; the words say what."""

    def __init__(self, *said: str) -> None:
        super().__init__(": ".join(said))


class Filter(BaseModel):
    """What a row must have in one column."""

    column: str
    is_: Literal[
        "equal", "not_equal", ">", ">=", "<", "<=", "contains", "starts", "ends", "empty", "filled"
    ] = Field(alias="is")
    values: list[str] = Field(
        default=[], description="as the table writes them; several where any of them will do"
    )


Operation = Literal[
    "count", "distinct", "total", "average", "median", "min", "max", "share", "list", "lookup"
]


class TableQuery(BaseModel):
    """One number, row or list that the question asks of one table."""

    asked: str = Field(description="the part of the question that it answers, in its words")
    table: str = Field(description="the name of the table")
    operation: Operation
    column: str = Field(
        default="", description="what is computed with; empty to count or list rows"
    )
    until: str = Field(
        default="", description="a second column: compute with what lies between it and `column`"
    )
    unit: Literal["days", "weeks", "months", "years", "difference"] = "days"
    filters: list[Filter] = []
    share_of: list[Filter] = Field(
        default=[], description="for a share: the rows that it is taken of; none for all"
    )
    group_by: str = ""
    groups: Literal["all", "min", "max"] = Field(
        default="all", description="min or max where only the group with the least or most is asked"
    )
    top: int = Field(default=0, ge=0, le=100, description="how many rows or groups; 0 for one")
    name_by: str = Field(default="", description="the column by which rows are named")


class TableQueries(BaseModel):
    """What a question asks to have computed over tables."""

    queries: list[TableQuery] = Field(default=[], max_length=8)
    rest: str = Field(
        default="", description="what the question asks beyond the queries; empty if nothing"
    )


def describe_table(table: TypedTable) -> str:
    """Return what a model must know of a table: its size, its columns, some of their values."""
    lines = [pluralize(table.size, "row")]
    for column in table.columns:
        some = list(column.distinct.values())[:EXAMPLES]
        none = sum(column.cells.count(one) for one in {"", "n/a"})
        held = ", ".join(one[:40] for one in some)
        lines.append(f"- {column.name} ({column.kind}, {none} empty): {held}")
    return "\n".join(lines)


def parse_model_query(
    query: TableQuery, tables: Sequence[TypedTable], *, chinese: bool
) -> ParsedQuery:
    """Return the reading that a query stands for.

    Raises:
        QueryUnfit: Where it names what is not there, or cannot be computed.
    """
    table = next((one for one in tables if fold_cell(one.name) == fold_cell(query.table)), None)
    if table is None:
        raise QueryUnfit(query.table)
    column = _named(table, query.column)
    if column and query.operation == "list":
        # Rows that are listed with a column are its values, row by row.
        query = query.model_copy(update={"operation": "lookup", "top": 0})
    if column and query.until:
        column = _between(table, query, column, chinese=chinese)
    _check(query, column)
    group, entity = _named(table, query.group_by), _named(table, query.name_by)
    conditions = tuple(_condition(table, one) for one in query.filters)
    extreme = "" if query.groups == "all" or not group else query.groups
    operation = query.operation
    if not group and query.top and operation in ("list", "lookup") and column:
        raise QueryUnfit(operation)
    base = tuple(_condition(table, one) for one in query.share_of)
    if base and operation != "share":
        raise QueryUnfit(operation)
    made = ParsedQuery(table, operation, column, conditions, group, query.top, extreme, entity)
    return replace(made, base=base)


def _check(query: TableQuery, column: TableColumn | None) -> None:
    """Raise where an operation lacks its column, or the column holds nothing it can be done to."""
    if query.group_by and query.operation in ("share", "list", "lookup", "distinct"):
        raise QueryUnfit(query.operation)
    if query.operation in ("count", "share", "list"):
        if column is not None:
            raise QueryUnfit(query.operation, column.name)
        if query.operation == "share" and not query.filters:
            raise QueryUnfit(query.operation)
        return
    if column is None:
        raise QueryUnfit(query.operation)
    kinds = ("number", "date") if query.operation in ("min", "max") else ("number",)
    if query.operation in _MEASURED and column.kind not in kinds:
        raise QueryUnfit(query.operation, column.name)


def _named(table: TypedTable, name: str) -> TableColumn | None:
    """Return the column of a name, as the table has it."""
    if not name:
        return None
    found = [one for one in table.columns if fold_cell(one.name) == fold_cell(name)]
    if len(found) != 1:
        raise QueryUnfit(name)
    return found[0]


def _between(
    table: TypedTable, query: TableQuery, column: TableColumn, *, chinese: bool
) -> TableColumn:
    other = _named(table, query.until)
    kind = "number" if query.unit == "difference" else "date"
    if other is None or {column.kind, other.kind} != {kind}:
        raise QueryUnfit(query.column, query.until)
    return make_difference_column(column, other, query.unit, chinese=chinese)


def _condition(table: TypedTable, given: Filter) -> Condition:
    column = _named(table, given.column)
    if column is None:
        raise QueryUnfit(given.column)
    if given.is_ in ("empty", "filled"):
        return Condition(column, "empty" if given.is_ == "empty" else "filled")
    if not given.values:
        raise QueryUnfit(given.column)
    if given.is_ in _SIGNS:
        return Condition(column, _SIGNS[given.is_], bound=_bound(column, given.values[0]))
    if given.is_ in ("contains", "starts", "ends"):
        sign: Sign = "starts" if given.is_ == "starts" else "ends"
        sign = "contains" if given.is_ == "contains" else sign
        return Condition(column, sign, tuple(given.values))
    return _equal(column, given)


def _equal(column: TableColumn, given: Filter) -> Condition:
    """Return that a cell is one of some values, each of which some row must have."""
    sign: Sign = "=" if given.is_ == "equal" else "≠"
    if column.kind in ("number", "date") and len(given.values) == 1:
        return Condition(column, sign, bound=_bound(column, given.values[0]))
    missing = [one for one in given.values if fold_cell(one) not in column.distinct]
    if missing:
        raise QueryUnfit(column.name, missing[0])
    return Condition(column, sign, tuple(column.distinct[fold_cell(one)] for one in given.values))


def _bound(column: TableColumn, value: str) -> Decimal | date:
    found = parse_number(value) if column.kind == "number" else None
    if found and (not found.unit or found.unit.casefold() == column.unit.casefold()):
        return found.value
    at = parse_day(value) if column.kind == "date" else None
    if at is None:
        raise QueryUnfit(column.name, value)
    return at


CellValue = Decimal | date | str


class ResultItem(NamedTuple):
    """A row or a group of rows in an answer, by its name; `value` is what is asked of it."""

    name: str
    value: CellValue | None = None
    exact: bool = True


@dataclass(frozen=True)
class ParsedQuery:
    """What is to be computed over which rows."""

    table: TypedTable
    operation: Operation
    column: TableColumn | None = None
    conditions: tuple[Condition, ...] = ()
    group: TableColumn | None = None
    """Rows are put together by the values of this column first."""
    top: int = 0
    """How many of the largest or smallest are asked for; 0 where it is all or one."""
    extreme: Literal["", "min", "max"] = ""
    """Which of the groups is asked for."""
    entity: TableColumn | None = None
    """What a row is called in the answer."""
    base: tuple[Condition, ...] = ()
    """The rows that a share is taken of; all where nothing is said."""
    fit: float = 1.0
    """How well the words of the question fit the names of the table,"""
    named: int = 0
    """and how many of its letters name something of the table."""


@dataclass(frozen=True)
class QueryResult:
    """What came out, and over how many rows."""

    query: ParsedQuery
    value: CellValue | None
    items: tuple[ResultItem, ...]
    """The rows or groups that are asked for."""
    fitting: int
    """How many rows meet the conditions."""
    used: int
    """How many of them were computed with."""
    empty: int = 0
    """How many were left out because their cell is empty,"""
    unusable: tuple[str, ...] = ()
    """or because it holds no number or date, with what it holds."""


def compute_query(reading: ParsedQuery) -> QueryResult:
    """Return the result of a reading."""
    rows = select_rows(reading.table, [*reading.base, *reading.conditions])
    if reading.group:
        return _grouped(reading, reading.group, rows)
    return _ungrouped(reading, rows)


def _ungrouped(reading: ParsedQuery, rows: Sequence[int]) -> QueryResult:
    column, kind = reading.column, reading.operation
    if column is None:
        items = [ResultItem(_name(reading, at)) for at in rows] if kind == "list" else []
        of = len(select_rows(reading.table, reading.base)) if kind == "share" else len(rows)
        return QueryResult(reading, Decimal(len(rows)), tuple(items), len(rows), of)
    if kind == "lookup":
        label = reading.table.label
        shown = [
            ResultItem(label.cells[at], column.cells[at])
            for at in rows
            if not is_empty_cell(column.cells[at])
        ]
        return _left_out(
            reading, None, shown, rows, [at for at in rows if not is_empty_cell(column.cells[at])]
        )
    if kind == "distinct":
        used = [at for at in rows if not is_empty_cell(column.cells[at])]
        values = {fold_cell(column.cells[at]): column.cells[at] for at in used}
        named = [ResultItem(one) for one in values.values()]
        return _left_out(reading, Decimal(len(values)), named, rows, used)
    used = [at for at in rows if column.values[at] is not None]
    if kind in ("min", "max"):
        items = _extremes(reading, column, used)
        return _left_out(reading, items[0].value if items else None, items, rows, used)
    value = _reduced(kind, [column.values[at] for at in used]) if used else None
    order = sorted(used, key=lambda at: column.values[at], reverse=True)  # type: ignore[arg-type, return-value]
    # Nobody can look up in the file what stands between two of its columns.
    items = [
        ResultItem(_name(reading, at), column.values[at])
        for at in order
        if column.index == DERIVED_COLUMN
    ]
    return _left_out(reading, value, items, rows, used)


def _left_out(
    reading: ParsedQuery,
    value: CellValue | None,
    items: Sequence[ResultItem],
    rows: Sequence[int],
    used: Sequence[int],
) -> QueryResult:
    cells = reading.column.cells if reading.column else ()
    left = [cells[at] for at in sorted(set(rows) - set(used))]
    strange = tuple(dict.fromkeys(cell for cell in left if not is_empty_cell(cell)))
    none = sum(map(is_empty_cell, left))
    return QueryResult(reading, value, tuple(items), len(rows), len(used), none, strange)


def _name(reading: ParsedQuery, at: int) -> str:
    label, entity = reading.table.label, reading.entity or reading.table.label
    name = entity.cells[at] or label.cells[at]
    if (
        entity not in (label, reading.column)
        and entity.kind != "text"
        and label.kind == "text"
        and label.cells[at]
    ):
        name = f"{entity.cells[at]} {label.cells[at]}".strip()
    return name or f"row {reading.table.numbers[at]}"


def _extremes(reading: ParsedQuery, column: TableColumn, used: Sequence[int]) -> list[ResultItem]:
    """Return the rows with the most or the least, as many as are asked for and those level."""
    order = _ordered(reading, [(column.values[at], _name(reading, at)) for at in used])
    return _first(order, reading.top)


def _ordered(
    reading: ParsedQuery, pairs: Sequence[tuple[CellValue | None, str]]
) -> list[ResultItem]:
    down = "max" in (reading.operation, reading.extreme)
    some = [ResultItem(name, value) for value, name in pairs if value is not None]
    return sorted(some, key=lambda one: one.value, reverse=down)  # type: ignore[arg-type, return-value]


def _first(order: list[ResultItem], top: int) -> list[ResultItem]:
    least = max(top, 1)
    return [
        one for at, one in enumerate(order) if at < least or one.value == order[least - 1].value
    ]


def _grouped(reading: ParsedQuery, group: TableColumn, rows: Sequence[int]) -> QueryResult:
    column = reading.column
    groups: dict[str, list[int]] = {}
    for at in rows:
        if not is_empty_cell(group.cells[at]):
            groups.setdefault(group.distinct[fold_cell(group.cells[at])], []).append(at)
    pairs: list[tuple[CellValue | None, str]] = []
    used = 0
    for name, some in groups.items():
        held = some if column is None else [at for at in some if column.values[at] is not None]
        used += len(held)
        values = [] if column is None else [column.values[at] for at in held]
        value = Decimal(len(some)) if column is None else _reduced(reading.operation, values)
        pairs.append((value, name))
    order = _ordered(reading, pairs) if reading.extreme else _by_size(pairs)
    items = _first(order, reading.top) if reading.extreme else order
    none = sum(is_empty_cell(group.cells[at]) for at in rows)
    value = items[0].value if items and reading.extreme else None
    return QueryResult(reading, value, tuple(items), len(rows), used, none)


def _by_size(pairs: Sequence[tuple[CellValue | None, str]]) -> list[ResultItem]:
    some = [ResultItem(name, value) for value, name in pairs if value is not None]
    return sorted(some, key=lambda one: one.value, reverse=True)  # type: ignore[arg-type, return-value]


def _reduced(operation: str, values: Sequence[Decimal | date | None]) -> CellValue | None:
    """Return what becomes of some values; dates have an order and nothing else."""
    known = [one for one in values if one is not None]
    if not known:
        return None
    if operation in ("min", "max"):
        return min(known) if operation == "min" else max(known)
    numbers = [one for one in known if isinstance(one, Decimal)]
    if operation == "median":
        return Decimal(median(numbers))
    total = sum(numbers, Decimal(0))
    return total / len(numbers) if operation == "average" else total
