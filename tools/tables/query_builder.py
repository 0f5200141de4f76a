"""Build the one query that a question may mean from what it names and asks for.

An ambiguous question gives none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from text.script import CJK, detect_language
from tools.tables.mentions import (
    ColumnDifference,
    Mention,
    find_difference,
    find_mentions,
    split_question_words,
)
from tools.tables.query import Operation, ParsedQuery
from tools.tables.typed_table import ColumnKind, Condition, TableColumn, TypedTable
from tools.tables.vocabulary import (
    LATE_SUPERLATIVES,
    NUMBER_WORDS,
    SHARE_VERBS,
    SUPERLATIVE_HINTS,
    TIME_SUPERLATIVES,
)


@dataclass(frozen=True)
class UnclearQuestion:
    """Why nothing is computed: a part of the question may mean several things, or nothing."""

    table: TypedTable
    wording: str
    """The part of the question."""
    options: tuple[str, ...] = field(default=())
    """What it may mean; empty where it means nothing that the table has."""
    choices: tuple[str, ...] = field(default=())
    """The question in words that have one meaning each, as it may be asked again."""


_EXCLUSIVE_OPERATIONS = ("share", "distinct", "average", "median", "total", "min", "max")
"""Operations of which a question asks for one, apart from a superlative over groups."""


class AmbiguousQuestionError(Exception):
    """The question has no single reading; it may not even be about the table."""

    def __init__(self, said: str, options: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.wording, self.options = said, tuple(dict.fromkeys(options))


class QueryBuilder:
    """Makes a reading of what was found in a question."""

    def __init__(
        self,
        table: TypedTable,
        conditions: tuple[Condition, ...],
        named: Sequence[Mention],
        said: dict[str, str],
        question: str,
    ) -> None:
        self.table, self.conditions, self.said = table, conditions, said
        self.named, self.question = list(named), question

    def build(self, group: TableColumn | None, *, rows: bool) -> ParsedQuery:
        """Return the one reading that there is.

        Raises:
            AmbiguousQuestionError: Where there is none, or more than one.
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

    def _check_operations(self, group: TableColumn | None) -> None:
        """Raise where several operations are asked for at once, or one that has no groups."""
        asked = [one for one in _EXCLUSIVE_OPERATIONS if one in self.said]
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
            raise AmbiguousQuestionError(self.question)
        counted = "count" in self.said and not self._columns("number", without_label=True)
        if counted and set(inner) & {"average", "median"}:
            raise AmbiguousQuestionError(self.said["count"])

    def _share(self) -> ParsedQuery:
        """Read a share: of all rows, or of those that what stands before the verb chooses."""
        made = self._counted("share", None)
        if len({one.column for one in self.conditions}) < 2:
            return made
        cut = SHARE_VERBS.search(self.question)
        base = tuple(one for one in self.conditions if cut and one.at < cut.start())
        rest = tuple(one for one in self.conditions if one not in base)
        if cut is None or not rest:
            raise AmbiguousQuestionError(self.said["share"])
        return replace(made, conditions=rest, base=base)

    def _reading(self, operation: Operation, column: TableColumn | None = None) -> ParsedQuery:
        return ParsedQuery(self.table, operation, column, self.conditions)

    def _columns(
        self, *kinds: str, without_label: bool = False
    ) -> list[tuple[Mention, TableColumn]]:
        """Return the columns of these kinds that are named, with where."""
        label = self.table.label if self.table.has_row_names else None
        return [
            (one, column)
            for one in self.named
            for column in one.columns
            if column.kind in kinds and not (without_label and column == label)
        ]

    def _only(self, some: Sequence[tuple[Mention, TableColumn]]) -> TableColumn:
        different = {column.index: column for _, column in some}
        if len(different) == 1:
            return next(iter(different.values()))
        said = " / ".join(dict.fromkeys(self.question[one.start : one.end] for one, _ in some))
        raise AmbiguousQuestionError(
            said or self.question, [column.name for column in different.values()]
        )

    def _measured(self, *kinds: str) -> TableColumn:
        """Return the column that is computed with: the one named, or the only one there is.

        Raises:
            AmbiguousQuestionError: Where several could be meant, or the named one holds no numbers.
        """
        some = self._columns(*kinds)
        if some:
            return self._only(some)
        others = [(one, c) for one, c in self._columns("text", "mixed") if c != self.table.label]
        if others:
            said = self.question[others[0][0].start : others[0][0].end]
            raise AmbiguousQuestionError(said, [])
        every = [one for one in self.table.columns if one.kind in kinds]
        hinted = [one for one in every if self._hinted(one)] or every
        if len(hinted) == 1:
            return hinted[0]
        asked = next(iter(self.said.values()), self.question)
        raise AmbiguousQuestionError(asked, [one.name for one in hinted])

    def _hinted(self, column: TableColumn) -> bool:
        said = " ".join(self.said.values())
        stems = {word.stem for word in split_question_words(column.name)}
        return any(
            re.search(name, said, re.I) and stems & hints
            for name, hints in SUPERLATIVE_HINTS.items()
        )

    def _counted(
        self, operation: Literal["share", "count"], group: TableColumn | None
    ) -> ParsedQuery:
        if operation == "share" and not self.conditions:
            raise AmbiguousQuestionError(self.said["share"])
        used = {one.column for one in self.conditions}
        every = self._columns("text", "number", "date", "mixed", without_label=True)
        rest = [(one, column) for one, column in every if column not in used]
        if rest:
            raise AmbiguousQuestionError(self.question[rest[0][0].start : rest[0][0].end])
        return ParsedQuery(self.table, operation, None, self.conditions, group)

    def _count(self, group: TableColumn | None, *, rows: bool) -> ParsedQuery:
        """Read "how many": of the rows, of the values of a column, or what a column counts."""
        numbers = self._columns("number", without_label=True)
        texts = self._columns("text", without_label=True)
        whole = all(one.whole and self._counts(column) for one, column in numbers)
        if numbers and not (texts or rows) and whole:
            return ParsedQuery(self.table, "total", self._only(numbers), self.conditions, group)
        if texts and not (numbers or rows or group):
            return self._reading("distinct", self._only(texts))
        if (numbers or texts) or not (rows or group):
            some = numbers or texts
            said = self.question[some[0][0].start : some[0][0].end] if some else self.question
            raise AmbiguousQuestionError(said)
        return self._counted("count", group)

    def _counts(self, column: TableColumn) -> bool:
        """Tell whether a column may say how many there are of something."""
        some = [one for one in column.values if isinstance(one, Decimal)]
        whole = all(one >= 0 and one == int(one) for one in some)
        return whole and not column.holds_years and column != self.table.columns[0]

    def _totalled(self, group: TableColumn | None, *, rows: bool) -> ParsedQuery:
        numbers = self._columns("number", without_label=True)
        if "count" in self.said and not numbers:
            return self._count(group, rows=rows)
        if not numbers and "how_much" in self.said:
            raise AmbiguousQuestionError(self.said["how_much"])
        return self._reduced("total", group)

    def _reduced(
        self, operation: Literal["total", "average", "median"], group: TableColumn | None
    ) -> ParsedQuery:
        column = self._measured("number")
        rest = [
            (one, c)
            for one, c in self._columns("text", "date", without_label=True)
            if c != column and column not in one.columns
        ]
        if rest:
            raise AmbiguousQuestionError(self.question[rest[0][0].start : rest[0][0].end])
        return ParsedQuery(self.table, operation, column, self.conditions, group)

    def _extreme(
        self, which: Literal["min", "max"], group: TableColumn | None, *, rows: bool
    ) -> ParsedQuery:
        """Read a superlative: over rows, or over groups of rows that are counted or reduced."""
        top = self._top()
        texts = self._columns("text", without_label=True)
        numbers = self._columns("number", "date")
        inner = next((one for one in ("average", "median", "total") if one in self.said), "")
        if texts and not numbers and rows and self._asks_for_most(which):
            by = group or self._only(texts)
            return ParsedQuery(self.table, "count", None, self.conditions, by, top, which)
        if inner and (texts or group):
            by = group or self._only(texts)
            operation: Operation = "average" if inner == "average" else "total"
            if inner == "median":
                operation = "median"
            column = self._measured("number")
            return ParsedQuery(self.table, operation, column, self.conditions, by, top, which)
        if inner:
            raise AmbiguousQuestionError(self.said[inner])
        entity = self._only(texts) if texts else self.table.label
        column = self._measured(*(("date",) if self._dated() else ("number", "date")))
        if group:
            return ParsedQuery(self.table, which, column, self.conditions, group)
        if texts and len(entity.distinct) < len([one for one in entity.cells if one]):
            said = self.question[texts[0][0].start : texts[0][0].end]
            raise AmbiguousQuestionError(said, _sums(column.name, entity.name, self.question))
        late = column.kind == "date" and self._dated()
        if late:
            which = "max" if LATE_SUPERLATIVES.search(self.said[which]) else "min"
        return ParsedQuery(self.table, which, column, self.conditions, None, top, entity=entity)

    def _asks_for_most(self, which: str) -> bool:
        return bool(re.fullmatch(r"most|fewest|least|最[多少]", self.said[which], re.IGNORECASE))

    def _dated(self) -> bool:
        """Tell whether a superlative is one of time, and the table has dates for it."""
        said = self.said.get("min") or self.said.get("max") or ""
        dates = self.table.of_kind("date")
        return bool(TIME_SUPERLATIVES.search(said)) and bool(dates) and not self._columns("number")

    def _top(self) -> int:
        said = self.said.get("top", "").lower()
        return NUMBER_WORDS.get(said, int(said) if said.isdigit() else 0)

    def _shown(self, group: TableColumn | None, *, rows: bool) -> ParsedQuery:
        """Read a question without an operation: cells of the rows that fit, or their names."""
        if group or not self.conditions:
            raise AmbiguousQuestionError(self.question)
        asked = self._columns("text", "number", "date", "mixed", without_label=True)
        if asked and "ask_list" not in self.said:
            return self._reading("lookup", self._only(asked))
        if asked or not rows:
            raise AmbiguousQuestionError(self.question)
        return ParsedQuery(self.table, "list", None, self.conditions, entity=self.table.label)


def _sums(column: str, entity: str, question: str) -> list[str]:
    """Return in words what the most of a column may be the most of."""
    if detect_language(question) == "zh":
        return [f"每个{entity}合计的{column}", f"单独一行的{column}"]
    return [f"the total of {column} for each {entity}", f"the {column} of a single row"]


TAKEN_LETTER = "\x00"
"""What stands for each letter of a word that has its part in the reading."""

NEAR = 40
"""A comparison is about a column at most so many letters away."""


class QuestionPhrase:
    """A question from which the words are taken out that have their part in the reading."""

    def __init__(self, question: str, table: TypedTable) -> None:
        self.question, self.table = question, table
        self.left = list(question)
        self._take_file()
        self.found: list[Mention] = find_mentions(self.rest, table)
        self.touched = bool(self.found)
        self.exact = any(one.whole for one in self.found)
        self.named = sum(one.end - one.start for one in self.found)
        self.fit = min((min(one.fit, 1.0) for one in self.found if one.whole), default=1.0)
        self.used: list[TableColumn] = []
        for one in self.found:
            self.take(one.start, one.end)
            self._take_gloss(one)
        self.difference = self._between()

    @property
    def rest(self) -> str:
        """What is left of the question; what was taken out is a row of NULs."""
        return "".join(self.left)

    @property
    def columns(self) -> list[Mention]:
        """The mentions of columns, without those of values."""
        return [one for one in self.found if not one.value]

    def take(self, start: int, end: int) -> None:
        """Take words out of the question."""
        self.left[start:end] = TAKEN_LETTER * (end - start)

    def put_back(self, mention: Mention) -> None:
        """Leave the words of a mention as they were: it is none."""
        self.left[mention.start : mention.end] = self.question[mention.start : mention.end]
        self.drop(mention)

    def drop(self, mention: Mention) -> None:
        """Have a mention named nothing more: it has its part in the reading."""
        self.found = [one for one in self.found if one is not mention]
        self.used += mention.columns

    def resolve_column(self, mention: Mention, columns: Sequence[TableColumn] = ()) -> TableColumn:
        """Return the one column that a mention means.

        Raises:
            AmbiguousQuestionError: Where it may mean several.
        """
        columns = columns or mention.columns
        if len(columns) == 1:
            return columns[0]
        raise AmbiguousQuestionError(self.text_of(mention), [one.name for one in columns])

    def text_of(self, mention: Mention) -> str:
        """Return the words of a mention."""
        return self.question[mention.start : mention.end]

    def nearest_column(
        self, start: int, end: int, *kinds: ColumnKind
    ) -> tuple[Mention, TableColumn] | None:
        """Return the nearest column of these kinds that is named near a place."""
        held = [(one, fit) for one in self.columns if (fit := _of(one, kinds))]
        held.sort(key=lambda one: _distance(one[0], start, end))
        if not held or _distance(held[0][0], start, end) > NEAR:
            return None
        return held[0][0], self.resolve_column(*held[0])

    def _take_file(self) -> None:
        file, sheet = self.table.file, self.table.sheet
        stem = re.escape(file.rpartition(".")[0])
        tails = r"(?:\s*(?:file|table|sheet|csv|tsv|xlsx|spreadsheet|表格?|文件))"
        patterns = [rf"[\w./-]*{re.escape(file)}", rf"(?<!\w){stem}{tails}"]
        patterns += [rf"(?:table|file|表格?|文件)\s*[\"'“《]?{stem}(?!\w)"]
        if sheet:
            name = re.escape(sheet)
            patterns += [
                rf"(?<!\w){name}\s*(?:sheet|tab|工作表)",
                rf"(?:sheet|tab|工作表)\s*[\"'“]?{name}",
            ]
        for pattern in patterns:
            for one in re.finditer(pattern, self.rest, re.IGNORECASE):
                self.take(*one.span())

    def _take_gloss(self, mention: Mention) -> None:
        """Take the Chinese word that a name in brackets explains: `发布（release）`."""
        gloss = re.search(f"[{CJK}]{{1,6}}\\s*[(（]\\s*$", self.rest[: mention.start])
        if gloss and re.match(r"\s*[)）]", self.rest[mention.end :]) and not mention.value:
            self.take(*gloss.span())

    def _between(self) -> ColumnDifference | None:
        """Put what lies between two columns in the place of both."""
        made = find_difference(self.question, self.found)
        if made:
            self.used += [made.column, *(one for m in made.named for one in m.columns)]
            self.take(made.start, made.end)
            for start, end in made.words:
                self.take(start, end)
            span = Mention(made.start, made.end, (made.column,))
            kept = [one for one in self.found if one not in made.named and _outside(one, made)]
            self.found = sorted([*kept, span], key=lambda one: one.start)
        return made


def _outside(one: Mention, made: ColumnDifference) -> bool:
    return all(one.end <= start or one.start >= end for start, end in made.words)


def _of(mention: Mention, kinds: Sequence[ColumnKind]) -> list[TableColumn]:
    return [one for one in mention.columns if one.kind in kinds]


def _distance(mention: Mention, start: int, end: int) -> int:
    return max(mention.start - end, start - mention.end, 0)
