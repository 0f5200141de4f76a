"""Make a reading of what a question names and asks for; what can be read otherwise is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from retrieval.script import language
from tools.tables.conditions import Condition
from tools.tables.mentions import Mention, words
from tools.tables.table import Column, Table
from tools.tables.vocabulary import DATED, DIGITS, HINTS, OLD, SHARED

Operation = Literal[
    "count", "distinct", "total", "average", "median", "min", "max", "share", "list", "lookup"
]


@dataclass(frozen=True)
class Reading:
    """What is to be computed over which rows."""

    table: Table
    operation: Operation
    column: Column | None = None
    conditions: tuple[Condition, ...] = ()
    group: Column | None = None
    """Rows are put together by the values of this column first."""
    top: int = 0
    """How many of the largest or smallest are asked for; 0 where it is all or one."""
    extreme: Literal["", "min", "max"] = ""
    """Which of the groups is asked for."""
    entity: Column | None = None
    """What a row is called in the answer."""
    base: tuple[Condition, ...] = ()
    """The rows that a share is taken of; all where nothing is said."""
    fit: float = 1.0
    """How well the words of the question fit the names of the table,"""
    named: int = 0
    """and how many of its letters name something of the table."""


@dataclass(frozen=True)
class Unclear:
    """Why nothing is computed: a part of the question may mean several things, or nothing."""

    table: Table
    said: str
    """The part of the question."""
    options: tuple[str, ...] = field(default=())
    """What it may mean; empty where it means nothing that the table has."""
    choices: tuple[str, ...] = field(default=())
    """The question in words that have one meaning each, as it may be asked again."""


ONE = ("share", "distinct", "average", "median", "total", "min", "max")
"""Operations of which a question asks for one, apart from a superlative over groups."""


class Doubt(Exception):
    """The question has no single reading; it may not even be about the table."""

    def __init__(self, said: str, options: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.said, self.options = said, tuple(dict.fromkeys(options))


class Maker:
    """Makes a reading of what was found in a question."""

    def __init__(
        self,
        table: Table,
        conditions: tuple[Condition, ...],
        named: Sequence[Mention],
        said: dict[str, str],
        question: str,
    ) -> None:
        self.table, self.conditions, self.said = table, conditions, said
        self.named, self.question = list(named), question

    def reading(self, group: Column | None, *, rows: bool) -> Reading:
        """Return the one reading that there is.

        Raises:
            Doubt: Where there is none, or more than one.
        """
        extreme = next((one for one in ("min", "max") if one in self.said), "")
        self._check_operations(group)
        if "share" in self.said:
            return self._share()
        if extreme:
            return self._extreme("min" if extreme == "min" else "max", group, rows=rows)
        for name in ("average", "median"):
            if name in self.said:
                return self._reduced("average" if name == "average" else "median", group)
        if "distinct" in self.said:
            return self._reading("distinct", self._only(self._columns("text", "number", "date")))
        if "total" in self.said or "how_much" in self.said:
            return self._totalled(group, rows=rows)
        if "count" in self.said or (group and not self.named):
            return self._count(group, rows=rows)
        return self._shown(group, rows=rows)

    def _check_operations(self, group: Column | None) -> None:
        """Raise where several operations are asked for at once, or one that has no groups."""
        asked = [one for one in ONE if one in self.said]
        if asked == ["total"] and "count" in self.said:
            asked = []
        inner = [one for one in asked if one in ("average", "median", "total")]
        ranked = [one for one in asked if one in ("min", "max")]
        alone = bool(group and set(asked) & {"share", "distinct"}) or (
            "top" in self.said and not ranked
        )
        some = len(ranked) > 1 or len(inner) > 1 or len(asked) > len(inner) + len(ranked) + 1
        mixed = len(asked) > 1 and bool(set(asked) & {"share", "distinct"})
        if alone or some or mixed:
            raise Doubt(self.question)
        counted = "count" in self.said and not self._columns("number", without_label=True)
        if counted and set(inner) & {"average", "median"}:
            raise Doubt(self.said["count"])

    def _share(self) -> Reading:
        """Read a share: of all rows, or of those that what stands before the verb chooses."""
        made = self._counted("share", None)
        if len({one.column for one in self.conditions}) < 2:
            return made
        cut = SHARED.search(self.question)
        base = tuple(one for one in self.conditions if cut and one.at < cut.start())
        rest = tuple(one for one in self.conditions if one not in base)
        if cut is None or not rest:
            raise Doubt(self.said["share"])
        return replace(made, conditions=rest, base=base)

    def _reading(self, operation: Operation, column: Column | None = None) -> Reading:
        return Reading(self.table, operation, column, self.conditions)

    def _columns(self, *kinds: str, without_label: bool = False) -> list[tuple[Mention, Column]]:
        """Return the columns of these kinds that are named, with where."""
        label = self.table.label if self.table.labelled else None
        return [
            (one, column)
            for one in self.named
            for column in one.columns
            if column.kind in kinds and not (without_label and column == label)
        ]

    def _only(self, some: Sequence[tuple[Mention, Column]]) -> Column:
        different = {column.at: column for _, column in some}
        if len(different) == 1:
            return next(iter(different.values()))
        said = " / ".join(dict.fromkeys(self.question[one.start : one.end] for one, _ in some))
        raise Doubt(said or self.question, [column.name for column in different.values()])

    def _measured(self, *kinds: str) -> Column:
        """Return the column that is computed with: the one named, or the only one there is.

        Raises:
            Doubt: Where several could be meant, or the named one holds no numbers.
        """
        some = self._columns(*kinds)
        if some:
            return self._only(some)
        others = [(one, c) for one, c in self._columns("text", "mixed") if c != self.table.label]
        if others:
            said = self.question[others[0][0].start : others[0][0].end]
            raise Doubt(said, [])
        every = [one for one in self.table.columns if one.kind in kinds]
        hinted = [one for one in every if self._hinted(one)] or every
        if len(hinted) == 1:
            return hinted[0]
        asked = next(iter(self.said.values()), self.question)
        raise Doubt(asked, [one.name for one in hinted])

    def _hinted(self, column: Column) -> bool:
        said = " ".join(self.said.values())
        stems = {word.stem for word in words(column.name)}
        return any(re.search(name, said, re.I) and stems & hints for name, hints in HINTS.items())

    def _counted(self, operation: Literal["share", "count"], group: Column | None) -> Reading:
        if operation == "share" and not self.conditions:
            raise Doubt(self.said["share"])
        used = {one.column for one in self.conditions}
        every = self._columns("text", "number", "date", "mixed", without_label=True)
        rest = [(one, column) for one, column in every if column not in used]
        if rest:
            raise Doubt(self.question[rest[0][0].start : rest[0][0].end])
        return Reading(self.table, operation, None, self.conditions, group)

    def _count(self, group: Column | None, *, rows: bool) -> Reading:
        """Read "how many": of the rows, of the values of a column, or what a column counts."""
        numbers = self._columns("number", without_label=True)
        texts = self._columns("text", without_label=True)
        whole = all(one.whole and self._counts(column) for one, column in numbers)
        if numbers and not (texts or rows) and whole:
            return Reading(self.table, "total", self._only(numbers), self.conditions, group)
        if texts and not (numbers or rows or group):
            return self._reading("distinct", self._only(texts))
        if (numbers or texts) or not (rows or group):
            some = numbers or texts
            said = self.question[some[0][0].start : some[0][0].end] if some else self.question
            raise Doubt(said)
        return self._counted("count", group)

    def _counts(self, column: Column) -> bool:
        """Tell whether a column may say how many there are of something."""
        some = [one for one in column.values if isinstance(one, Decimal)]
        whole = all(one >= 0 and one == int(one) for one in some)
        return whole and not column.years and column != self.table.columns[0]

    def _totalled(self, group: Column | None, *, rows: bool) -> Reading:
        numbers = self._columns("number", without_label=True)
        if "count" in self.said and not numbers:
            return self._count(group, rows=rows)
        if not numbers and "how_much" in self.said:
            raise Doubt(self.said["how_much"])
        return self._reduced("total", group)

    def _reduced(
        self, operation: Literal["total", "average", "median"], group: Column | None
    ) -> Reading:
        column = self._measured("number")
        rest = [
            (one, c)
            for one, c in self._columns("text", "date", without_label=True)
            if c != column and column not in one.columns
        ]
        if rest:
            raise Doubt(self.question[rest[0][0].start : rest[0][0].end])
        return Reading(self.table, operation, column, self.conditions, group)

    def _extreme(
        self, which: Literal["min", "max"], group: Column | None, *, rows: bool
    ) -> Reading:
        """Read a superlative: over rows, or over groups of rows that are counted or reduced."""
        top = self._top()
        texts = self._columns("text", without_label=True)
        numbers = self._columns("number", "date")
        inner = next((one for one in ("average", "median", "total") if one in self.said), "")
        if texts and not numbers and rows and self._asks_for_most(which):
            by = group or self._only(texts)
            return Reading(self.table, "count", None, self.conditions, by, top, which)
        if inner and (texts or group):
            by = group or self._only(texts)
            operation: Operation = "average" if inner == "average" else "total"
            if inner == "median":
                operation = "median"
            column = self._measured("number")
            return Reading(self.table, operation, column, self.conditions, by, top, which)
        if inner:
            raise Doubt(self.said[inner])
        entity = self._only(texts) if texts else self.table.label
        column = self._measured(*(("date",) if self._dated() else ("number", "date")))
        if group:
            return Reading(self.table, which, column, self.conditions, group)
        if texts and len(entity.distinct) < len([one for one in entity.cells if one]):
            said = self.question[texts[0][0].start : texts[0][0].end]
            raise Doubt(said, _sums(column.name, entity.name, self.question))
        late = column.kind == "date" and self._dated()
        if late:
            which = "max" if OLD.search(self.said[which]) else "min"
        return Reading(self.table, which, column, self.conditions, None, top, entity=entity)

    def _asks_for_most(self, which: str) -> bool:
        return bool(re.fullmatch(r"most|fewest|least|最[多少]", self.said[which], re.IGNORECASE))

    def _dated(self) -> bool:
        """Tell whether a superlative is one of time, and the table has dates for it."""
        said = self.said.get("min") or self.said.get("max") or ""
        dates = self.table.of_kind("date")
        return bool(DATED.search(said)) and bool(dates) and not self._columns("number")

    def _top(self) -> int:
        said = self.said.get("top", "").lower()
        return DIGITS.get(said, int(said) if said.isdigit() else 0)

    def _shown(self, group: Column | None, *, rows: bool) -> Reading:
        """Read a question without an operation: cells of the rows that fit, or their names."""
        if group or not self.conditions:
            raise Doubt(self.question)
        asked = self._columns("text", "number", "date", "mixed", without_label=True)
        if asked and "ask_list" not in self.said:
            return self._reading("lookup", self._only(asked))
        if asked or not rows:
            raise Doubt(self.question)
        return Reading(self.table, "list", None, self.conditions, entity=self.table.label)


def _sums(column: str, entity: str, question: str) -> list[str]:
    """Return in words what the most of a column may be the most of."""
    if language(question) == "zh":
        return [f"每个{entity}合计的{column}", f"单独一行的{column}"]
    return [f"the total of {column} for each {entity}", f"the {column} of a single row"]
