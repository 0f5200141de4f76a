"""Compute what was read of a question, exactly, and keep count of what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from tools.tables.cells import empty
from tools.tables.conditions import rows_with
from tools.tables.differences import MADE
from tools.tables.making import Reading
from tools.tables.table import Column, folded

Value = Decimal | date | str


class Item(NamedTuple):
    """A row or a group of rows in an answer, by its name; `value` is what is asked of it."""

    name: str
    value: Value | None = None
    exact: bool = True


@dataclass(frozen=True)
class Result:
    """What came out, and over how many rows."""

    reading: Reading
    value: Value | None
    items: tuple[Item, ...]
    """The rows or groups that are asked for."""
    fitting: int
    """How many rows meet the conditions."""
    used: int
    """How many of them were computed with."""
    empty: int = 0
    """How many were left out because their cell is empty,"""
    strange: tuple[str, ...] = ()
    """or because it holds no number or date, with what it holds."""


def compute(reading: Reading) -> Result:
    """Return the result of a reading."""
    rows = rows_with(reading.table, [*reading.base, *reading.conditions])
    if reading.group:
        return _grouped(reading, reading.group, rows)
    return _ungrouped(reading, rows)


def _ungrouped(reading: Reading, rows: Sequence[int]) -> Result:
    column, kind = reading.column, reading.operation
    if column is None:
        items = [Item(_name(reading, at)) for at in rows] if kind == "list" else []
        of = len(rows_with(reading.table, reading.base)) if kind == "share" else len(rows)
        return Result(reading, Decimal(len(rows)), tuple(items), len(rows), of)
    if kind == "lookup":
        label = reading.table.label
        shown = [
            Item(label.cells[at], column.cells[at]) for at in rows if not empty(column.cells[at])
        ]
        return _left_out(
            reading, None, shown, rows, [at for at in rows if not empty(column.cells[at])]
        )
    if kind == "distinct":
        used = [at for at in rows if not empty(column.cells[at])]
        values = {folded(column.cells[at]): column.cells[at] for at in used}
        named = [Item(one) for one in values.values()]
        return _left_out(reading, Decimal(len(values)), named, rows, used)
    used = [at for at in rows if column.values[at] is not None]
    if kind in ("min", "max"):
        items = _extremes(reading, column, used)
        return _left_out(reading, items[0].value if items else None, items, rows, used)
    value = _reduced(kind, [column.values[at] for at in used]) if used else None
    order = sorted(used, key=lambda at: column.values[at], reverse=True)  # type: ignore[arg-type, return-value]
    # Nobody can look up in the file what stands between two of its columns.
    items = [Item(_name(reading, at), column.values[at]) for at in order if column.at == MADE]
    return _left_out(reading, value, items, rows, used)


def _left_out(
    reading: Reading,
    value: Value | None,
    items: Sequence[Item],
    rows: Sequence[int],
    used: Sequence[int],
) -> Result:
    cells = reading.column.cells if reading.column else ()
    left = [cells[at] for at in sorted(set(rows) - set(used))]
    strange = tuple(dict.fromkeys(cell for cell in left if not empty(cell)))
    none = sum(map(empty, left))
    return Result(reading, value, tuple(items), len(rows), len(used), none, strange)


def _name(reading: Reading, at: int) -> str:
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


def _extremes(reading: Reading, column: Column, used: Sequence[int]) -> list[Item]:
    """Return the rows with the most or the least, as many as are asked for and those level."""
    order = _ordered(reading, [(column.values[at], _name(reading, at)) for at in used])
    return _first(order, reading.top)


def _ordered(reading: Reading, pairs: Sequence[tuple[Value | None, str]]) -> list[Item]:
    down = "max" in (reading.operation, reading.extreme)
    some = [Item(name, value) for value, name in pairs if value is not None]
    return sorted(some, key=lambda one: one.value, reverse=down)  # type: ignore[arg-type, return-value]


def _first(order: list[Item], top: int) -> list[Item]:
    least = max(top, 1)
    return [
        one for at, one in enumerate(order) if at < least or one.value == order[least - 1].value
    ]


def _grouped(reading: Reading, group: Column, rows: Sequence[int]) -> Result:
    column = reading.column
    groups: dict[str, list[int]] = {}
    for at in rows:
        if not empty(group.cells[at]):
            groups.setdefault(group.distinct[folded(group.cells[at])], []).append(at)
    pairs: list[tuple[Value | None, str]] = []
    used = 0
    for name, some in groups.items():
        held = some if column is None else [at for at in some if column.values[at] is not None]
        used += len(held)
        values = [] if column is None else [column.values[at] for at in held]
        value = Decimal(len(some)) if column is None else _reduced(reading.operation, values)
        pairs.append((value, name))
    order = _ordered(reading, pairs) if reading.extreme else _by_size(pairs)
    items = _first(order, reading.top) if reading.extreme else order
    none = sum(empty(group.cells[at]) for at in rows)
    value = items[0].value if items and reading.extreme else None
    return Result(reading, value, tuple(items), len(rows), used, none)


def _by_size(pairs: Sequence[tuple[Value | None, str]]) -> list[Item]:
    some = [Item(name, value) for value, name in pairs if value is not None]
    return sorted(some, key=lambda one: one.value, reverse=True)  # type: ignore[arg-type, return-value]


def _reduced(operation: str, values: Sequence[Decimal | date | None]) -> Value | None:
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
