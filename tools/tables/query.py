"""A query over a table: as a model writes it, as it was parsed, and its exact result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from statistics import median
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from text.pluralization import pluralize
from tools.tables.cell_values import fold_cell, is_empty_cell, parse_day, parse_number
from tools.tables.mentions import DERIVED_COLUMN, make_difference_column
from tools.tables.typed_table import Condition, Sign, TableColumn, TypedTable, select_rows

EXAMPLES = 4
"""How many different values of a column are shown to a model."""

ALIKE = 0.75
"""How alike two values are of which one may be the other, mistyped."""

_SIGNS: dict[str, Sign] = {"equal": "=", "not_equal": "≠", ">=": "≥", "<=": "≤", ">": ">", "<": "<"}
"""The signs of comparisons as a model writes them."""

MEASURES = ("total", "average", "median", "min", "max")
"""Operations that compute with numbers or dates."""


class QueryUnfit(ValueError):
    """A query asks for what the table does not have; the message names it."""

    def __init__(self, *names: str) -> None:
        super().__init__(": ".join(names))


class Filter(BaseModel):
    """What a row must have in one column."""

    column: str
    is_: Literal[
        "equal", "not_equal", ">", ">=", "<", "<=", "contains", "starts", "ends", "empty", "filled"
    ] = Field(alias="is")
    values: list[str] = []


Operation = Literal[
    "count", "distinct", "total", "average", "median", "min", "max", "share", "list", "lookup"
]


class TableQuery(BaseModel):
    """One number, row or list that the question asks of one table."""

    asked: str
    table: str
    operation: Operation
    column: str = ""
    until: str = ""
    unit: Literal["days", "weeks", "months", "years", "difference"] = "days"
    filters: list[Filter] = []
    share_of: list[Filter] = []
    group_by: str = ""
    groups: Literal["all", "min", "max"] = "all"
    top: int = Field(default=0, ge=0, le=100)
    name_by: str = ""


class TableQueries(BaseModel):
    """What a question asks to have computed over tables."""

    queries: list[TableQuery] = Field(default=[], max_length=8)
    rest: str = ""


def describe_table(table: TypedTable) -> str:
    """Return the size and the columns of a table with examples of their values, for a model."""
    lines = [pluralize(table.size, "row")]
    for column in table.columns:
        examples = ", ".join(value[:40] for value in list(column.distinct.values())[:EXAMPLES])
        empty = sum(column.cells.count(one) for one in {"", "n/a"})
        lines.append(f"- {column.name} ({column.kind}, {empty} empty): {examples}")
    return "\n".join(lines)


def parse_model_query(
    query: TableQuery, tables: Sequence[TypedTable], *, chinese: bool
) -> ParsedQuery:
    """Return a model's query as a parsed one.

    Raises:
        QueryUnfit: If it names what the tables do not have, or cannot be computed.
    """
    table = next((one for one in tables if fold_cell(one.name) == fold_cell(query.table)), None)
    if table is None:
        raise QueryUnfit(query.table)
    column = _find_column(table, query.column)
    if column and query.operation == "list":
        # Rows that are listed with a column are its values, row by row.
        query = query.model_copy(update={"operation": "lookup", "top": 0})
    if column and query.until:
        other = _find_column(table, query.until)
        kind = "number" if query.unit == "difference" else "date"
        if other is None or {column.kind, other.kind} != {kind}:
            raise QueryUnfit(query.column, query.until)
        column = make_difference_column(column, other, query.unit, chinese=chinese)
    _check(query, column)
    group = _find_column(table, query.group_by)
    return ParsedQuery(
        table,
        query.operation,
        column,
        conditions=tuple(_condition(table, one) for one in query.filters),
        group=group,
        top=query.top,
        extreme="" if query.groups == "all" or not group else query.groups,
        entity=_find_column(table, query.name_by),
        base=tuple(_condition(table, one) for one in query.share_of),
    )


def _check(query: TableQuery, column: TableColumn | None) -> None:
    """Raise if an operation lacks its column, or cannot be done with its values."""
    operation = query.operation
    kinds = ("number", "date") if operation in ("min", "max") else ("number",)
    ungrouped = operation in ("share", "list", "lookup", "distinct")
    if (query.group_by and ungrouped) or (query.share_of and operation != "share"):
        raise QueryUnfit(operation)
    if operation in ("count", "share", "list"):
        if column is not None:
            raise QueryUnfit(operation, column.name)
        if operation == "share" and not query.filters:
            raise QueryUnfit(operation)
    elif column is None or (operation == "lookup" and query.top):
        raise QueryUnfit(operation)
    elif operation in MEASURES and column.kind not in kinds:
        raise QueryUnfit(operation, column.name)


def _find_column(table: TypedTable, name: str) -> TableColumn | None:
    """Return the column of a name, or None for an empty name."""
    if not name:
        return None
    named = [one for one in table.columns if fold_cell(one.name) == fold_cell(name)]
    if len(named) != 1:
        raise QueryUnfit(name)
    return named[0]


def _condition(table: TypedTable, given: Filter) -> Condition:
    column, values = _find_column(table, given.column), tuple(given.values)
    if column and given.is_ in ("empty", "filled"):
        return Condition(column, given.is_)
    if column is None or not values:
        raise QueryUnfit(given.column)
    if given.is_ in ("contains", "starts", "ends"):
        return Condition(column, given.is_, values)
    sign = _SIGNS[given.is_]
    if sign not in ("=", "≠") or (column.kind in ("number", "date") and len(values) == 1):
        return Condition(column, sign, bound=_bound(column, values[0]))
    missing = [one for one in values if fold_cell(one) not in column.distinct]
    # All rows differ from a value that does not occur, unless another spelling of it does.
    if missing and (sign == "=" or _occurs_otherwise(column, missing)):
        raise QueryUnfit(column.name, missing[0])
    return Condition(column, sign, tuple(column.distinct.get(fold_cell(v), v) for v in values))


def _occurs_otherwise(column: TableColumn, values: Sequence[str]) -> bool:
    """Tell whether a column has a value that is nearly one of these, or has it within."""
    folded = [fold_cell(one) for one in values]
    within = any(one in known or known in one for one in folded for known in column.distinct)
    return within or any(
        get_close_matches(one, column.distinct, n=1, cutoff=ALIKE) for one in folded
    )


def _bound(column: TableColumn, value: str) -> Decimal | date:
    number = parse_number(value) if column.kind == "number" else None
    if number and (not number.unit or number.unit.casefold() == column.unit.casefold()):
        return number.value
    day = parse_day(value) if column.kind == "date" else None
    if day is None:
        raise QueryUnfit(column.name, value)
    return day


CellValue = Decimal | date | str


class ResultItem(NamedTuple):
    """A row or a group of rows in an answer, by its name, with its value if one is asked for."""

    name: str
    value: CellValue | None = None


@dataclass(frozen=True)
class ParsedQuery:
    """What is to be computed over which rows."""

    table: TypedTable
    operation: Operation
    column: TableColumn | None = None
    conditions: tuple[Condition, ...] = ()
    group: TableColumn | None = None
    """Rows are grouped by the values of this column."""
    top: int = 0
    """How many of the largest or smallest are asked for; 0 for all or one."""
    extreme: Literal["", "min", "max"] = ""
    """Which of the groups is asked for."""
    entity: TableColumn | None = None
    """The column that names the rows in the answer."""
    base: tuple[Condition, ...] = ()
    """The rows that a share is taken of; empty for all."""
    fit: float = 1.0
    """How well the words of the question fit the names of the table."""
    named: int = 0
    """How many letters of the question name something of the table."""


@dataclass(frozen=True)
class QueryResult:
    """The result of a query, and the rows it was computed over."""

    query: ParsedQuery
    value: CellValue | None
    items: tuple[ResultItem, ...]
    """The rows or groups that are asked for."""
    fitting: int
    """How many rows meet the conditions."""
    used: int
    """How many of them were computed with."""
    empty: int = 0
    """How many were left out because their cell is empty."""
    unusable: tuple[str, ...] = ()
    """Cells of rows that were left out because they are no number or date."""


def compute_query(query: ParsedQuery) -> QueryResult:
    """Return the result of a query."""
    rows = select_rows(query.table, [*query.base, *query.conditions])
    if query.group:
        return _compute_groups(query, query.group, rows)
    if query.column:
        return _compute_column(query, query.column, rows)
    named = rows if query.operation == "list" else []
    items = tuple(ResultItem(_name_row(query, row)) for row in named)
    used = len(select_rows(query.table, query.base)) if query.operation == "share" else len(rows)
    return QueryResult(query, Decimal(len(rows)), items, len(rows), used)


def _compute_column(query: ParsedQuery, column: TableColumn, rows: Sequence[int]) -> QueryResult:
    cells, values = column.cells, column.values
    value: CellValue | None = None
    if query.operation in ("lookup", "distinct"):
        used = [row for row in rows if not is_empty_cell(cells[row])]
        items = [ResultItem(query.table.label.cells[row], cells[row]) for row in used]
        if query.operation == "distinct":
            items = [
                ResultItem(cell) for cell in {fold_cell(cells[r]): cells[r] for r in used}.values()
            ]
            value = Decimal(len(items))
    else:
        used = [row for row in rows if values[row] is not None]
        items = _sort([(values[row], _name_row(query, row)) for row in used], query.operation)
        if query.operation in ("min", "max"):
            items = _take_first(items, query.top)
            value = items[0].value if items else None
        else:
            value = _reduce(query.operation, [values[row] for row in used])
            # Nobody can look up a difference of two columns in the file.
            items = items if column.index == DERIVED_COLUMN else []
    omitted = [cells[row] for row in sorted(set(rows) - set(used))]
    unusable = tuple(dict.fromkeys(cell for cell in omitted if not is_empty_cell(cell)))
    empty = sum(map(is_empty_cell, omitted))
    return QueryResult(query, value, tuple(items), len(rows), len(used), empty, unusable)


def _name_row(query: ParsedQuery, row: int) -> str:
    label, entity = query.table.label, query.entity or query.table.label
    name, other = entity.cells[row], label.cells[row]
    is_other = entity not in (label, query.column) and entity.kind != "text"
    if is_other and label.kind == "text" and other:
        name = f"{name} {other}".strip()
    return name or other or f"row {query.table.numbers[row]}"


def _sort(pairs: Sequence[tuple[CellValue | None, str]], operation: str) -> list[ResultItem]:
    """Return items by their value, the smallest first for `min`, otherwise the largest."""
    items = [ResultItem(name, value) for value, name in pairs if value is not None]
    return sorted(items, key=lambda one: one.value, reverse=operation != "min")  # type: ignore[arg-type, return-value]


def _take_first(items: list[ResultItem], top: int) -> list[ResultItem]:
    """Return the first items, as many as are asked for, and those that tie with the last."""
    tied = {one.value for one in items[max(top, 1) - 1 : max(top, 1)]}
    return [one for at, one in enumerate(items) if at < max(top, 1) or one.value in tied]


def _compute_groups(query: ParsedQuery, group: TableColumn, rows: Sequence[int]) -> QueryResult:
    groups: defaultdict[str, list[CellValue | None]] = defaultdict(list)
    for row in rows:
        if not is_empty_cell(cell := group.cells[row]):
            groups[group.distinct[fold_cell(cell)]].append(
                query.column.values[row] if query.column else cell
            )
    known = {name: [one for one in some if one is not None] for name, some in groups.items()}
    items = _sort(
        [(_reduce(query.operation, some), name) for name, some in known.items()], query.extreme
    )
    if query.extreme:
        items = _take_first(items, query.top)
    empty = len(rows) - sum(map(len, groups.values()))
    value = items[0].value if items and query.extreme else None
    used = sum(map(len, known.values()))
    return QueryResult(query, value, tuple(items), len(rows), used, empty)


def _reduce(operation: str, values: Sequence[Any]) -> CellValue | None:
    """Return the result of an operation over some values; dates have an order and nothing else."""
    if operation == "count" or not values:
        return Decimal(len(values)) if values else None
    if operation in ("min", "max"):
        first: CellValue = min(values) if operation == "min" else max(values)
        return first
    numbers = [one for one in values if isinstance(one, Decimal)]
    if operation == "median":
        return Decimal(median(numbers))
    total = sum(numbers, Decimal(0))
    return total / len(numbers) if operation == "average" else total
