"""Build the one query that a question may mean from what it names and asks for.

An ambiguous question gives none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from text.script import CJK, detect_language
from tools.tables.mentions import (
    VOCABULARY,
    Mention,
    find_difference,
    find_mentions,
    split_question_words,
)
from tools.tables.query import Operation, ParsedQuery
from tools.tables.typed_table import ColumnKind, Condition, TableColumn, TypedTable

Extreme = Literal["min", "max"]
_EXTREMES: tuple[Extreme, ...] = ("min", "max")
_REDUCED: tuple[Operation, ...] = ("average", "median", "total")
_SINGLE = frozenset(["share", "distinct"])
"""Operations that stand alone: without groups, superlatives and other operations."""

_ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBER_WORDS = {"两": 2, "twenty": 20} | {
    word: number
    for words in (_ENGLISH, "一二三四五六七八九十")
    for number, word in enumerate(words, 1)
}


class AmbiguousQuestionError(Exception):
    """The question has no single reading; it may not even be about the table."""

    def __init__(
        self, said: str, options: Sequence[str] = (), unusable: TableColumn | None = None
    ) -> None:
        super().__init__(said)
        self.wording, self.options = said, tuple(dict.fromkeys(options))
        self.unusable = unusable
        """The column that is meant, if its cells cannot be computed with."""


@dataclass(frozen=True)
class QueryBuilder:
    """Makes a reading of what was found in a question."""

    table: TypedTable
    conditions: tuple[Condition, ...]
    named: Sequence[Mention]
    said: Mapping[str, str]
    """The words that ask for operations, by the operation."""
    question: str
    group: TableColumn | None
    """What rows are grouped by."""
    rows: bool
    """Whether the question names the rows."""

    def build(self) -> ParsedQuery:
        """Return the one reading that there is.

        Raises:
            AmbiguousQuestionError: Where there is none, or more than one.
        """
        self._check_operations()
        if "share" in self.said:
            return self._share()
        extreme = next((one for one in _EXTREMES if one in self.said), None)
        return self._extreme(extreme) if extreme else self._plain()

    def _plain(self) -> ParsedQuery:
        """Read a question without a share and a superlative."""
        for name in _REDUCED[:2]:
            if name in self.said:
                return self._reduced(name)
        if "distinct" in self.said:
            return self._query("distinct", self._only(self._columns("text", "number", "date")))
        if "total" in self.said or "how_much" in self.said:
            return self._totalled()
        if "count" in self.said or (self.group and not self.named):
            return self._count()
        return self._shown()

    def _check_operations(self) -> None:
        """Raise where several operations are asked for at once, or one that has no groups."""
        reduced = [one for one in _REDUCED if one in self.said]
        ranked = [one for one in _EXTREMES if one in self.said]
        single = _SINGLE & self.said.keys()
        if reduced == ["total"] and "count" in self.said and not (ranked or single):
            reduced = []
        mixed = single and (self.group or len(single) > 1 or reduced or ranked)
        several = len(ranked) > 1 or len(reduced) > 1
        if mixed or several or ("top" in self.said and not ranked):
            raise AmbiguousQuestionError(self.question)
        counted = "count" in self.said and not self._columns("number", without_label=True)
        if counted and {"average", "median"} & {*reduced}:
            raise AmbiguousQuestionError(self.said["count"])

    def _share(self) -> ParsedQuery:
        """Read a share: of all rows, or of those that what stands before the verb chooses."""
        if not self.conditions:
            raise AmbiguousQuestionError(self.said["share"])
        made = self._counted("share")
        if len({one.column for one in self.conditions}) < 2:
            return made
        cut = VOCABULARY.share_verbs.search(self.question)
        base = tuple(one for one in self.conditions if cut and one.at < cut.start())
        rest = tuple(one for one in self.conditions if one not in base)
        if cut is None or not rest:
            raise AmbiguousQuestionError(self.said["share"])
        return replace(made, conditions=rest, base=base)

    def _query(self, operation: Operation, column: TableColumn | None = None) -> ParsedQuery:
        return ParsedQuery(self.table, operation, column, self.conditions, self.group)

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

    def _words(self, some: Sequence[tuple[Mention, TableColumn]]) -> str:
        """Return the words that name the first of some columns."""
        return self.question[some[0][0].start : some[0][0].end]

    def _refuse(self, some: Sequence[tuple[Mention, TableColumn]]) -> None:
        """Raise if there are columns that have no part in a reading."""
        if some:
            raise AmbiguousQuestionError(self._words(some))

    def _only(self, some: Sequence[tuple[Mention, TableColumn]]) -> TableColumn:
        different = {column.index: column for _, column in some}
        if len(different) == 1:
            return next(iter(different.values()))
        said = " / ".join(dict.fromkeys(self._words([one]) for one in some))
        raise AmbiguousQuestionError(
            said or self.question, [column.name for column in different.values()]
        )

    def _measured(self, *kinds: str) -> TableColumn:
        """Return the column that is computed with: the one named, or the only one there is.

        Raises:
            AmbiguousQuestionError: Where several could be meant, or the named one holds no numbers.
        """
        if some := self._columns(*kinds):
            return self._only(some)
        every = self._columns("text", "mixed")
        if others := [(one, column) for one, column in every if column != self.table.label]:
            mixed = [column for _, column in others if column.has_unlike_numbers]
            unusable = mixed[0] if len(mixed) == 1 else None
            raise AmbiguousQuestionError(self._words(others), unusable=unusable)
        fitting = [one for one in self.table.columns if one.kind in kinds]
        hinted = [one for one in fitting if self._hinted(one)] or fitting
        if len(hinted) == 1:
            return hinted[0]
        asked = next(iter(self.said.values()), self.question)
        raise AmbiguousQuestionError(asked, [one.name for one in hinted])

    def _hinted(self, column: TableColumn) -> bool:
        """Tell whether the name of a column has a word that a superlative may be about."""
        said = " ".join(self.said.values())
        stems = {word.stem for word in split_question_words(column.name)}
        return any(
            re.search(superlative, said, re.I) and stems & {*hints}
            for superlative, *hints in VOCABULARY.get_rows("superlative_hints")
        )

    def _counted(self, operation: Literal["share", "count"]) -> ParsedQuery:
        used = {one.column for one in self.conditions}
        every = self._columns("text", "number", "date", "mixed", without_label=True)
        self._refuse([(one, column) for one, column in every if column not in used])
        return self._query(operation)

    def _count(self) -> ParsedQuery:
        """Read "how many": of the rows, of the values of a column, or what a column counts."""
        numbers = self._columns("number", without_label=True)
        texts = self._columns("text", without_label=True)
        whole = all(one.whole and self._counts(column) for one, column in numbers)
        if numbers and not (texts or self.rows) and whole:
            return self._query("total", self._only(numbers))
        if texts and not (numbers or self.rows or self.group):
            return self._query("distinct", self._only(texts))
        self._refuse(numbers or texts)
        if not (self.rows or self.group):
            raise AmbiguousQuestionError(self.question)
        return self._counted("count")

    def _counts(self, column: TableColumn) -> bool:
        """Tell whether a column may say how many there are of something."""
        some = [one for one in column.values if isinstance(one, Decimal)]
        whole = all(one >= 0 and one == int(one) for one in some)
        return whole and not column.holds_years and column != self.table.columns[0]

    def _totalled(self) -> ParsedQuery:
        numbers = self._columns("number", without_label=True)
        if "count" in self.said and not numbers:
            return self._count()
        if not numbers and "how_much" in self.said:
            raise AmbiguousQuestionError(self.said["how_much"])
        return self._reduced("total")

    def _reduced(self, operation: Operation) -> ParsedQuery:
        column = self._measured("number")
        others = self._columns("text", "date", without_label=True)
        self._refuse([(one, c) for one, c in others if c != column and column not in one.columns])
        return self._query(operation, column)

    def _extreme(self, which: Extreme) -> ParsedQuery:
        """Read a superlative: over rows, or over groups of rows that are counted or reduced."""
        said = self.said.get("top", "").lower()
        top = _NUMBER_WORDS.get(said, int(said) if said.isdigit() else 0)
        texts = self._columns("text", without_label=True)
        numbers = self._columns("number", "date")
        reduced = next((one for one in _REDUCED if one in self.said), None)
        most = re.fullmatch(r"most|fewest|least|最[多少]", self.said[which], re.IGNORECASE)
        counts = bool(texts and not numbers and self.rows and most)
        if counts or (reduced and (texts or self.group)):
            by = self.group or self._only(texts)
            if reduced and not counts:
                made = self._query(reduced, self._measured("number"))
            else:
                made = self._query("count")
            return replace(made, group=by, top=top, extreme=which)
        if reduced:
            raise AmbiguousQuestionError(self.said[reduced])
        return self._extreme_row(which, texts, top)

    def _extreme_row(
        self, which: Extreme, texts: Sequence[tuple[Mention, TableColumn]], top: int
    ) -> ParsedQuery:
        entity = self._only(texts) if texts else self.table.label
        dated = self._dated()
        column = self._measured("date") if dated else self._measured("number", "date")
        if self.group:
            return self._query(which, column)
        if texts and len(entity.distinct) < sum(map(bool, entity.cells)):
            raise AmbiguousQuestionError(
                self._words(texts), _sums(column.name, entity.name, self.question)
            )
        if dated:
            which = "max" if VOCABULARY.late_superlatives.search(self.said[which]) else "min"
        return replace(self._query(which, column), top=top, entity=entity)

    def _dated(self) -> bool:
        """Tell whether a superlative is one of time, and the table has dates for it."""
        said = self.said.get("min") or self.said.get("max") or ""
        dates = self.table.of_kind("date")
        timed = VOCABULARY.time_superlatives.search(said)
        return bool(timed and dates) and not self._columns("number")

    def _shown(self) -> ParsedQuery:
        """Read a question without an operation: cells of the rows that fit, or their names."""
        if self.group or not self.conditions:
            raise AmbiguousQuestionError(self.question)
        asked = self._columns("text", "number", "date", "mixed", without_label=True)
        if asked and "ask_list" not in self.said:
            return self._query("lookup", self._only(asked))
        if asked or not self.rows:
            raise AmbiguousQuestionError(self.question)
        return replace(self._query("list"), entity=self.table.label)


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
        self.difference = self._join_difference()

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

    def take_before(self, start: int, pattern: re.Pattern[str]) -> bool:
        """Take out what a pattern finds just before a place, and tell whether it finds anything."""
        found = pattern.search(self.question[:start].rstrip("\"'“‘「` ") + " ")
        if found:
            self.take(found.start(), min(found.end(), start))
        return bool(found)

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
        said = self.question[mention.start : mention.end]
        raise AmbiguousQuestionError(said, [one.name for one in columns])

    def nearest_column(
        self, start: int, end: int, *kinds: ColumnKind
    ) -> tuple[Mention, TableColumn] | None:
        """Return the nearest column of these kinds that is named near a place."""

        def distance(mention: Mention) -> int:
            """Return how many characters are between the place and a mention."""
            return max(mention.start - end, start - mention.end, 0)

        fitting = (one for one in self.columns if any(c.kind in kinds for c in one.columns))
        near = min(fitting, key=distance, default=None)
        if near is None or distance(near) > NEAR:
            return None
        return near, self.resolve_column(near, [c for c in near.columns if c.kind in kinds])

    def _take_file(self) -> None:
        """Take out the names of the file and of the sheet."""
        file, sheet = re.escape(self.table.file), re.escape(self.table.sheet)
        stem = re.escape(self.table.file.rpartition(".")[0])
        tails = r"(?:\s*(?:file|table|sheet|csv|tsv|xlsx|spreadsheet|表格?|文件))"
        patterns = [
            rf"[\w./-]*{file}",
            rf"(?<!\w){stem}{tails}",
            rf"(?:table|file|表格?|文件)\s*[\"'“《]?{stem}(?!\w)",
        ]
        if sheet:
            patterns.append(rf"(?<!\w){sheet}\s*(?:sheet|tab|工作表)")
            patterns.append(rf"(?:sheet|tab|工作表)\s*[\"'“]?{sheet}")
        for pattern in patterns:
            for one in re.finditer(pattern, self.rest, re.IGNORECASE):
                self.take(*one.span())

    def _take_gloss(self, mention: Mention) -> None:
        """Take the Chinese word that a name in brackets explains: `发布（release）`."""
        gloss = re.search(f"[{CJK}]{{1,6}}\\s*[(（]\\s*$", self.rest[: mention.start])
        if gloss and re.match(r"\s*[)）]", self.rest[mention.end :]) and not mention.value:
            self.take(*gloss.span())

    def _join_difference(self) -> bool:
        """Put what lies between two columns in the place of both, and tell whether any does."""
        made = find_difference(self.question, self.found)
        if made is None:
            return False
        self.used += [made.column, *(one for m in made.named for one in m.columns)]
        for span in ((made.start, made.end), *made.words):
            self.take(*span)
        others = [
            one
            for one in self.found
            if one not in made.named
            and all(one.end <= start or one.start >= end for start, end in made.words)
        ]
        joined = Mention(made.start, made.end, (made.column,))
        self.found = sorted([*others, joined], key=lambda one: one.start)
        return True
