"""Parse what a question asks to have computed over a table.

What can be read in another way is not computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from text.script import CJK
from tools.tables.filters import find_conditions
from tools.tables.mentions import (
    OPERATIONS,
    VOCABULARY,
    Mention,
    find_name,
    normalise_question,
    split_question_words,
)
from tools.tables.query import ParsedQuery
from tools.tables.query_builder import (
    TAKEN_LETTER,
    AmbiguousQuestionError,
    QueryBuilder,
    QuestionPhrase,
)
from tools.tables.typed_table import Condition, TableColumn, TypedTable


@dataclass(frozen=True)
class UnclearQuestion:
    """Why nothing is computed: a part of the question may mean several things, or nothing."""

    table: TypedTable
    wording: str
    """The part of the question."""
    options: tuple[str, ...] = ()
    """What it may mean; empty where it means nothing that the table has."""
    choices: tuple[str, ...] = ()
    """The question in words that have one meaning each, as it may be asked again."""
    unusable: TableColumn | None = None
    """The column that is meant, if its cells cannot be computed with."""


def split_table_question(question: str) -> list[str]:
    """Return the sentences of a question, cut where another thing is asked for."""
    whole = normalise_question(question)
    if pair := VOCABULARY.pair.search(whole):
        before, after = whole[: pair.start()], whole[pair.end() :]
        both = [f"{before}{pair[name]}{after}" for name in ("one", "other")]
        return [part for one in both for part in split_table_question(one)]
    sentences = (one.strip() for one in VOCABULARY.sentence_ends.split(whole))
    return [part for one in sentences if one for part in _clauses(one)]


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence; what only leads up to a question stays with it."""
    parts = (one.strip(" ,，") for one in VOCABULARY.clause_ends.split(sentence))
    clauses: list[str] = []
    for one in filter(None, parts):
        if clauses and not VOCABULARY.asking.search(clauses[-1]):
            clauses[-1] = f"{clauses[-1]}, {one}"
        else:
            clauses.append(one)
    return clauses


LIKE = 4
"""So many letters at the least must a word share with a name that it is made of."""


def parse_question(
    question: str, table: TypedTable, *, sure: bool = False
) -> ParsedQuery | UnclearQuestion | None:
    """Return what a question asks of a table; nothing if it is not about the table.

    Every word of the question must have its part in the reading, and every name one meaning.

    Args:
        question: As a person puts it.
        table: The table.
        sure: Whether the question names the file, so that it is about the table in any case.
    """
    asked = normalise_question(question)
    if VOCABULARY.explanation.search(asked):
        return None
    reader = _Reader(asked, table, sure=sure)
    try:
        return reader.read()
    except AmbiguousQuestionError as doubt:
        reader.strip()
        strange = reader.strange()
        if doubt.unusable and reader.asks and not strange:
            return UnclearQuestion(table, doubt.wording, unusable=doubt.unusable)
        again = _with_rows(asked, table, strange) if sure or reader.phrase.exact else ()
        known = not strange or (reader.phrase.exact and again)
        if not sure and not (known and reader.phrase.touched and (doubt.options or strange)):
            return None
        if not reader.asks:
            return None
        if strange and not doubt.options:
            return UnclearQuestion(table, " ".join(strange), (), again)
        choices = tuple(_choices(asked, table, doubt))
        return UnclearQuestion(table, doubt.wording, doubt.options, choices)


def _with_rows(question: str, table: TypedTable, strange: Sequence[str]) -> tuple[str, ...]:
    """Return the question with its rows called rows, where nothing else in it is unknown."""
    if len(strange) != 1:
        return ()
    before, word, after = question.partition(strange[0])
    if not VOCABULARY.before_counted_noun.search(before):
        return ()
    put = f"{before}{'行' if re.search(f'[{CJK}]', word) else 'rows'}{after}"
    return (put,) if _read(put, table) else ()


def _choices(question: str, table: TypedTable, doubt: AmbiguousQuestionError) -> Iterator[str]:
    """Yield the question in words that can be read in one way, one for each of its meanings."""
    before, wording, after = question.partition(doubt.wording)
    if not wording:
        return
    for option in doubt.options:
        name = option if "“" in option else f"“{option}”"
        named = [] if VOCABULARY.any_found(wording, *OPERATIONS) else [name]
        for one in [*named, f"{wording} {name}"]:
            put = f"{before}{one}{after}"
            if (found := _read(put, table)) and option.partition(" = ")[0] in _columns(found):
                yield put
                break


def _columns(found: ParsedQuery) -> set[str]:
    """Return the names of the columns that a reading uses."""
    used = [found.column, found.group, found.entity, *(one.column for one in found.conditions)]
    return {one.name for one in used if one}


def _read(question: str, table: TypedTable) -> ParsedQuery | None:
    try:
        return _Reader(normalise_question(question), table, sure=True).read()
    except AmbiguousQuestionError:
        return None


class _Reader:
    """Reads one question beside one table, taking out of it what it has understood."""

    def __init__(self, question: str, table: TypedTable, *, sure: bool = False) -> None:
        self.question, self.table, self.sure = question, table, sure
        self.phrase = QuestionPhrase(question, table)
        self.conditions: list[Condition] = []
        self.asked = [one for one in self.phrase.columns if _counted(question, one)]
        self.rows = False
        self.asks = VOCABULARY.any_found(question, *OPERATIONS)

    def read(self) -> ParsedQuery | None:
        """Return the reading.

        Raises:
            AmbiguousQuestionError: Where there is none, or more than one.
        """
        phrase, table = self.phrase, self.table
        self.conditions = find_conditions(phrase)
        said = self._operations()
        group = self._group(said)
        entity = self._nouns(said) or self._when(said)
        self.rows = self._rows() or self.rows
        phrase.touched = phrase.touched or self.rows
        if not (said or group or self.conditions or phrase.difference):
            return None
        self.asks = self.asks or bool(said or self.conditions or phrase.difference)
        conditions = tuple(self.conditions)
        made = QueryBuilder(
            table, conditions, phrase.columns, said, self.question, group, self.rows
        ).build()
        if strange := self.strange():
            raise AmbiguousQuestionError(" ".join(strange))
        if not (phrase.touched or self.sure):
            raise AmbiguousQuestionError(self.question)
        if made.entity not in (None, table.label):
            entity = made.entity
        return replace(made, fit=phrase.fit, named=phrase.named, entity=entity or made.entity)

    def strip(self) -> None:
        """Take out all words that a question on a table may have, whatever they ask for."""
        for name in (*OPERATIONS, "first_last"):
            for one in VOCABULARY.get(name).finditer(self.phrase.rest):
                self.phrase.take(*one.span())
        self._rows()

    def strange(self) -> list[str]:
        """Return the words of the question that have no part in the reading."""
        rest = VOCABULARY.chinese_fillers.sub(" ", self.phrase.rest.replace(TAKEN_LETTER, " "))
        said = re.findall(r"[^\W_]+(?:['’][a-z]+)?", rest)
        fillers = VOCABULARY.get_words("fillers")
        return [one for one in said if one.lower() not in fillers and not self._made_of_name(one)]

    def _made_of_name(self, word: str) -> bool:
        """Tell whether a word is made of the name of a column in use: `caused` of `root cause`."""
        used = {*self.phrase.used, *(c for one in self.phrase.columns for c in one.columns)}
        used |= {one.column for one in self.conditions}
        stems = [one.stem for column in used for one in split_question_words(column.name)]
        low, names = word.lower(), [column.name for column in used]
        if re.fullmatch(f"[{CJK}]{{2,}}", word) and any(word in name for name in names):
            return True
        return any(_akin(low, stem) for stem in stems if len(stem) >= LIKE)

    def _group(self, said: dict[str, str]) -> TableColumn | None:
        """Take out what rows are grouped by; `by price` behind a superlative is no group."""
        ranked = {"min", "max"} & set(said)
        for one in self.phrase.columns:
            if not self.phrase.take_before(one.start, VOCABULARY.before_group):
                continue
            if ranked and all(column.kind in ("number", "date") for column in one.columns):
                continue
            self.phrase.drop(one)
            texts = [c for c in one.columns if c.kind == "text"] or list(one.columns)
            return self.phrase.resolve_column(one, texts)
        return None

    def _operations(self) -> dict[str, str]:
        """Take out the words that ask for operations, and return them by the operation."""
        found: dict[str, str] = {}
        phrase = self.phrase
        if top := VOCABULARY.top_count.search(phrase.rest.replace(TAKEN_LETTER, "_")):
            name = next(name for name, text in top.groupdict().items() if text)
            found["top"] = top[name]
            phrase.take(*top.span(name))
            first = top[0].lower()
            if first.startswith(("top", "前", "bottom", "后", "倒数")):
                phrase.take(*top.span())
                which = "max" if first.startswith(("top", "前")) else "min"
                found.setdefault(which, "top")
        for name in OPERATIONS:
            for one in VOCABULARY.get(name).finditer(phrase.rest):
                if name in ("min", "max") and found.get(name) == "top":
                    found[name] = one[0]
                found.setdefault(name, one[0])
                phrase.take(*one.span())
        return self._in_time(found)

    def _in_time(self, found: dict[str, str]) -> dict[str, str]:
        """Add that the first or the last by date is asked for."""
        one = VOCABULARY.first_last.search(self.phrase.rest)
        dated = any(c.kind == "date" for m in self.phrase.columns for c in m.columns)
        if one and dated and not {"min", "max"} & set(found):
            late = re.match(r"last|最后", one[0], re.IGNORECASE)
            found["max" if late else "min"] = "latest" if late else "earliest"
            self.phrase.take(*one.span())
        return found

    def _nouns(self, said: dict[str, str]) -> TableColumn | None:
        """Read a column behind `how many` or `which` as what the rows are called.

        Returns:
            The column by which the rows are named in the answer, if it is one of these.
        """
        if not {"count", "min", "max"} & set(said):
            return None
        for one in self.phrase.columns:
            column = one.columns[0]
            if one in self.asked and len(one.columns) == 1 and _names_rows(column, self.table):
                self.rows = True
                self.phrase.drop(one)
                if "count" in said and not self.conditions:
                    self.conditions.append(Condition(column, "filled"))
                return column if column.kind == "number" else None
        return None

    def _when(self, said: dict[str, str]) -> TableColumn | None:
        """Return the column of dates or years by which a superlative asks for a row."""
        asked = VOCABULARY.when.search(self.phrase.rest)
        dates = [one for one in self.table.columns if one.kind == "date" or one.holds_years]
        if not asked or len(dates) != 1 or not {"min", "max"} & set(said):
            return None
        self.phrase.take(*asked.span())
        self.rows = True
        return dates[0]

    def _rows(self) -> bool:
        """Take out the names of the rows, and tell whether there was one."""
        table, phrase = self.table, self.phrase
        stem = table.file.rpartition(".")[0]
        rest = self._with_parts()
        people = VOCABULARY.person_columns.search(table.label.name)
        patterns = ["row_nouns", "who", *["person_nouns"] * bool(people)]
        found = [
            Mention(*one.span())
            for p in patterns
            for one in VOCABULARY.get(p).finditer(phrase.rest)
        ]
        for name in (table.sheet or stem, stem, table.label.name):
            for part in (name, *re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{1,8}", name)):
                found += find_name(rest, part)
        found = [one for one in found if rest[one.start : one.end].strip(TAKEN_LETTER)]
        for one in found:
            phrase.take(one.start, one.end)
            phrase.found = [
                m for m in phrase.found if m.whole or m.start < one.start or one.end < m.end
            ]
        if found:
            phrase.fit = min(phrase.fit, max(one.fit for one in found))
        named_by = table.label if table.has_row_names else None
        labels = any(named_by in one.columns for one in phrase.columns)
        return bool(found) or labels or any(one not in phrase.found for one in self.asked)

    def _with_parts(self) -> str:
        """Return what is left, and the words that are only a part of a column's name."""
        left = list(self.phrase.left)
        for one in self.phrase.found:
            if not (one.whole or one.value):
                left[one.start : one.end] = self.question[one.start : one.end]
        return "".join(left)


def _counted(question: str, one: Mention) -> bool:
    """Tell whether a name stands where it says what is counted or chosen."""
    behind = VOCABULARY.after_row_noun.match(question[one.end :])
    return bool(behind or VOCABULARY.before_row_noun.search(question[: one.start]))


def _akin(word: str, stem: str) -> bool:
    """Tell whether a word has all but the ending of another: `caused` and `cause`."""
    least = max(len(stem) - 2, LIKE)
    return len(word) <= len(stem) + 3 and word[:least] == stem[:least]


def _names_rows(column: TableColumn, table: TypedTable) -> bool:
    """Tell whether each row has a value of its own in a column, and could be called by it."""
    filled = [one for one in column.values if one is not None]
    alone = len(set(filled)) == len(filled) > 1
    return alone and (column.kind == "date" or column.index == table.columns[0].index)
