"""Make a reading of a query that a model wrote, if every name in it is one of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

from config.counted import counted
from tools.tables.cells import day, number
from tools.tables.conditions import Condition, Sign
from tools.tables.differences import between
from tools.tables.making import Operation, Reading
from tools.tables.table import Column, Table, folded

EXAMPLES = 4
"""So many different values of a column are shown to a model."""

_SIGNS: dict[str, Sign] = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}
_MEASURED = ("total", "average", "median", "min", "max")


class Unfit(ValueError):
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


def schema(table: Table) -> str:
    """Return what a model must know of a table: its size, its columns, some of their values."""
    lines = [counted(table.size, "row")]
    for column in table.columns:
        some = list(column.distinct.values())[:EXAMPLES]
        none = sum(column.cells.count(one) for one in {"", "n/a"})
        held = ", ".join(one[:40] for one in some)
        lines.append(f"- {column.name} ({column.kind}, {none} empty): {held}")
    return "\n".join(lines)


def to_reading(query: TableQuery, tables: Sequence[Table], *, chinese: bool) -> Reading:
    """Return the reading that a query stands for.

    Raises:
        Unfit: Where it names what is not there, or cannot be computed.
    """
    table = next((one for one in tables if folded(one.name) == folded(query.table)), None)
    if table is None:
        raise Unfit(query.table)
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
        raise Unfit(operation)
    base = tuple(_condition(table, one) for one in query.share_of)
    if base and operation != "share":
        raise Unfit(operation)
    made = Reading(table, operation, column, conditions, group, query.top, extreme, entity)
    return replace(made, base=base)


def _check(query: TableQuery, column: Column | None) -> None:
    """Raise where an operation lacks its column, or the column holds nothing it can be done to."""
    if query.group_by and query.operation in ("share", "list", "lookup", "distinct"):
        raise Unfit(query.operation)
    if query.operation in ("count", "share", "list"):
        if column is not None:
            raise Unfit(query.operation, column.name)
        if query.operation == "share" and not query.filters:
            raise Unfit(query.operation)
        return
    if column is None:
        raise Unfit(query.operation)
    kinds = ("number", "date") if query.operation in ("min", "max") else ("number",)
    if query.operation in _MEASURED and column.kind not in kinds:
        raise Unfit(query.operation, column.name)


def _named(table: Table, name: str) -> Column | None:
    """Return the column of a name, as the table has it."""
    if not name:
        return None
    found = [one for one in table.columns if folded(one.name) == folded(name)]
    if len(found) != 1:
        raise Unfit(name)
    return found[0]


def _between(table: Table, query: TableQuery, column: Column, *, chinese: bool) -> Column:
    other = _named(table, query.until)
    kind = "number" if query.unit == "difference" else "date"
    if other is None or {column.kind, other.kind} != {kind}:
        raise Unfit(query.column, query.until)
    return between(column, other, query.unit, chinese=chinese)


def _condition(table: Table, given: Filter) -> Condition:
    column = _named(table, given.column)
    if column is None:
        raise Unfit(given.column)
    if given.is_ in ("empty", "filled"):
        return Condition(column, "empty" if given.is_ == "empty" else "filled")
    if not given.values:
        raise Unfit(given.column)
    if given.is_ in _SIGNS:
        return Condition(column, _SIGNS[given.is_], bound=_bound(column, given.values[0]))
    if given.is_ in ("contains", "starts", "ends"):
        sign: Sign = "starts" if given.is_ == "starts" else "ends"
        sign = "contains" if given.is_ == "contains" else sign
        return Condition(column, sign, tuple(given.values))
    return _equal(column, given)


def _equal(column: Column, given: Filter) -> Condition:
    """Return that a cell is one of some values, each of which some row must have."""
    sign: Sign = "=" if given.is_ == "equal" else "≠"
    if column.kind in ("number", "date") and len(given.values) == 1:
        return Condition(column, sign, bound=_bound(column, given.values[0]))
    missing = [one for one in given.values if folded(one) not in column.distinct]
    if missing:
        raise Unfit(column.name, missing[0])
    return Condition(column, sign, tuple(column.distinct[folded(one)] for one in given.values))


def _bound(column: Column, value: str) -> Decimal | date:
    found = number(value) if column.kind == "number" else None
    if found and (not found.unit or found.unit.casefold() == column.unit.casefold()):
        return found.value
    at = day(value) if column.kind == "date" else None
    if at is None:
        raise Unfit(column.name, value)
    return at
