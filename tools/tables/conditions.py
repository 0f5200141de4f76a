"""Conditions on the rows of a table, and how they are written."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from tools.tables.cells import empty
from tools.tables.table import Column, Table, folded

Sign = Literal["=", "≠", ">", "≥", "<", "≤", "starts", "ends", "contains", "empty", "filled"]

_ORDERED: dict[str, Callable[[Decimal | date, Decimal | date], bool]] = {
    ">": operator.gt,
    "≥": operator.ge,
    "<": operator.lt,
    "≤": operator.le,
}
_TEXTUAL: dict[str, Callable[[str, str], bool]] = {
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": str.__contains__,
}


@dataclass(frozen=True)
class Condition:
    """What a row must have in one column; with several `texts`, one of them."""

    column: Column
    sign: Sign
    texts: tuple[str, ...] = ()
    """Values as they stand in the table, or words to look for in a cell."""
    bound: Decimal | date | None = field(default=None)
    """What the cell is compared with, by its order."""
    at: int = field(default=-1, compare=False)
    """Where in the question it stands."""

    def holds(self, at: int) -> bool:
        """Tell whether the row at a place has it; an empty cell has nothing but its emptiness."""
        cell = self.column.cells[at]
        if empty(cell):
            return self.sign == "empty"
        if self.sign in _ORDERED:
            value = self.column.values[at]
            if value is None or self.bound is None:
                return False
            return _ORDERED[self.sign](value, self.bound)
        if self.sign in _TEXTUAL:
            return any(_TEXTUAL[self.sign](folded(cell), folded(one)) for one in self.texts)
        return self._equal(at)

    def _equal(self, at: int) -> bool:
        if self.sign in ("empty", "filled"):
            return self.sign == "filled"
        value = self.column.values[at]
        same = (
            value == self.bound
            if self.bound is not None
            else folded(self.column.cells[at]) in {folded(one) for one in self.texts}
        )
        return same == (self.sign == "=")


def rows_with(table: Table, conditions: Sequence[Condition]) -> list[int]:
    """Return the places of the rows that have all of this."""
    return [at for at in range(table.size) if all(one.holds(at) for one in conditions)]
