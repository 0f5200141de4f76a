"""Read what a question asks to have computed over a table; what can be read otherwise is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from retrieval.script import CJK
from tools.tables.conditions import Condition
from tools.tables.filters import filters
from tools.tables.making import Doubt, Maker, Reading, Unclear
from tools.tables.mentions import Mention, named, normal, words
from tools.tables.phrase import TAKEN, Phrase
from tools.tables.table import Column, Table
from tools.tables.vocabulary import (
    COUNTED,
    EXPLAINED,
    FILL,
    FILL_ZH,
    FIRST_LAST,
    GROUPS,
    NOUNS,
    NOUNS_AFTER,
    OPERATIONS,
    PEOPLE,
    ROWS,
    TOP,
    WHEN,
    WHO,
)

LIKE = 4
"""So many letters at the least must a word share with a name that it is made of."""


def reading(question: str, table: Table, *, sure: bool = False) -> Reading | Unclear | None:
    """Return what a question asks of a table; nothing if it is not about the table.

    Every word of the question must have its part in the reading, and every name one meaning.

    Args:
        question: As a person puts it.
        table: The table.
        sure: Whether the question names the file, so that it is about the table in any case.
    """
    asked = normal(question)
    if EXPLAINED.search(asked):
        return None
    reader = _Reader(asked, table, sure=sure)
    try:
        return reader.read()
    except Doubt as doubt:
        reader.strip()
        strange = reader.strange()
        known = not strange or (reader.phrase.exact and list(_with_rows(asked, table, strange)))
        if not sure and not (known and reader.phrase.touched and (doubt.options or strange)):
            return None
        if not reader.asks:
            return None
        if strange and not doubt.options:
            return Unclear(table, " ".join(strange), (), tuple(_with_rows(asked, table, strange)))
        return Unclear(table, doubt.said, doubt.options, tuple(_choices(asked, table, doubt)))


def _with_rows(question: str, table: Table, strange: Sequence[str]) -> Iterator[str]:
    """Yield the question with its rows called rows, where nothing else in it is unknown."""
    at = question.find(strange[0])
    if len(strange) == 1 and COUNTED.search(question[:at]):
        name = "行" if re.search(f"[{CJK}]", strange[0]) else "rows"
        put = f"{question[:at]}{name}{question[at + len(strange[0]) :]}"
        if _read(put, table):
            yield put


def _choices(question: str, table: Table, doubt: Doubt) -> Iterator[str]:
    """Yield the question in words that can be read in one way, one for each of its meanings."""
    at = question.find(doubt.said)
    if at < 0:
        return
    end = at + len(doubt.said)
    for option in doubt.options:
        name = option if "“" in option else f"“{option}”"
        said = [name, f"{doubt.said} {name}"]
        for one in said[any(one.search(doubt.said) for one in OPERATIONS.values()) :]:
            put = f"{question[:at]}{one}{question[end:]}"
            if (found := _read(put, table)) and option.partition(" = ")[0] in _columns(found):
                yield put
                break


def _columns(found: Reading) -> set[str]:
    """Return the names of the columns that a reading uses."""
    used = [found.column, found.group, found.entity, *(one.column for one in found.conditions)]
    return {one.name for one in used if one}


def _read(question: str, table: Table) -> Reading | None:
    try:
        return _Reader(normal(question), table, sure=True).read()
    except Doubt:
        return None


class _Reader:
    """Reads one question beside one table, taking out of it what it has understood."""

    def __init__(self, question: str, table: Table, *, sure: bool = False) -> None:
        self.question, self.table, self.sure = question, table, sure
        self.phrase = Phrase(question, table)
        self.conditions: list[Condition] = []
        self.asked = [one for one in self.phrase.columns if _counted(question, one)]
        self.rows = False
        self.asks = any(one.search(question) for one in OPERATIONS.values())

    def read(self) -> Reading | None:
        """Return the reading.

        Raises:
            Doubt: Where there is none, or more than one.
        """
        self.conditions = filters(self.phrase)
        said = self._operations()
        group = self._group(said)
        entity = self._nouns(said) or self._when(said)
        self.rows = self._rows() or self.rows
        self.phrase.touched = self.phrase.touched or self.rows
        self.asks = self.asks or bool(said or self.conditions or self.phrase.difference)
        if not (said or group or self.conditions or self.phrase.difference):
            return None
        make = Maker(self.table, tuple(self.conditions), self.phrase.columns, said, self.question)
        made = make.reading(group, rows=self.rows)
        if strange := self.strange():
            raise Doubt(" ".join(strange))
        entity = entity if made.entity in (None, self.table.label) else None
        if not (self.phrase.touched or self.sure):
            raise Doubt(self.question)
        fit, named = self.phrase.fit, self.phrase.named
        return replace(made, fit=fit, named=named, entity=entity or made.entity)

    def strip(self) -> None:
        """Take out all words that a question on a table may have, whatever they ask for."""
        for pattern in (*OPERATIONS.values(), FIRST_LAST):
            for one in pattern.finditer(self.phrase.rest):
                self.phrase.take(*one.span())
        self._rows()

    def strange(self) -> list[str]:
        """Return the words of the question that have no part in the reading."""
        rest = FILL_ZH.sub(" ", self.phrase.rest.replace(TAKEN, " "))
        said = re.findall(r"[^\W_]+(?:['’][a-z]+)?", rest)
        return [one for one in said if one.lower() not in FILL and not self._made_of_name(one)]

    def _made_of_name(self, word: str) -> bool:
        """Tell whether a word is made of the name of a column in use: `caused` of `root cause`."""
        used = {*self.phrase.used, *(c for one in self.phrase.columns for c in one.columns)}
        used |= {one.column for one in self.conditions}
        stems = [one.stem for column in used for one in words(column.name)]
        low, names = word.lower(), [column.name for column in used]
        if re.fullmatch(f"[{CJK}]{{2,}}", word) and any(word in name for name in names):
            return True
        return any(_akin(low, stem) for stem in stems if len(stem) >= LIKE)

    def _group(self, said: dict[str, str]) -> Column | None:
        """Take out what rows are grouped by; `by price` behind a superlative is no group."""
        ranked = {"min", "max"} & set(said)
        for one in self.phrase.columns:
            before = GROUPS.search(self.question[: one.start].rstrip("\"'`“‘「 ") + " ")
            if not before:
                continue
            self.phrase.take(before.start(), min(before.end(), one.start))
            if ranked and all(column.kind in ("number", "date") for column in one.columns):
                continue
            self.phrase.drop(one)
            texts = [c for c in one.columns if c.kind == "text"] or list(one.columns)
            return self.phrase.one(one, texts)
        return None

    def _operations(self) -> dict[str, str]:
        """Take out the words that ask for operations, and return them by the operation."""
        found: dict[str, str] = {}
        phrase = self.phrase
        if top := TOP.search(phrase.rest.replace(TAKEN, "_")):
            name = next(name for name, text in top.groupdict().items() if text)
            found["top"] = top[name]
            phrase.take(*top.span(name))
            first = top[0].lower()
            if first.startswith(("top", "前", "bottom", "后", "倒数")):
                phrase.take(*top.span())
                which = "max" if first.startswith(("top", "前")) else "min"
                found.setdefault(which, "top")
        for name, pattern in OPERATIONS.items():
            for one in pattern.finditer(phrase.rest):
                if name in ("min", "max") and found.get(name) == "top":
                    found[name] = one[0]
                found.setdefault(name, one[0])
                phrase.take(*one.span())
        return self._in_time(found)

    def _in_time(self, found: dict[str, str]) -> dict[str, str]:
        """Add that the first or the last by date is asked for."""
        one = FIRST_LAST.search(self.phrase.rest)
        dates = [m for m in self.phrase.columns if any(c.kind == "date" for c in m.columns)]
        if one and dates and not {"min", "max"} & set(found):
            late = re.match(r"last|最后", one[0], re.IGNORECASE)
            found["max" if late else "min"] = "latest" if late else "earliest"
            self.phrase.take(*one.span())
        return found

    def _nouns(self, said: dict[str, str]) -> Column | None:
        """Read a column behind `how many` or `which` as what the rows are called.

        Returns:
            The column by which the rows are named in the answer, if it is one of these.
        """
        for one in self.phrase.columns:
            column = one.columns[0]
            if (
                one not in self.asked
                or len(one.columns) > 1
                or column.kind not in ("number", "date")
            ):
                continue
            if not _names_rows(column, self.table) or not {"count", "min", "max"} & set(said):
                continue
            self.rows = True
            self.phrase.drop(one)
            if "count" in said and not self.conditions:
                self.conditions.append(Condition(column, "filled"))
            return column if column.kind == "number" else None
        return None

    def _when(self, said: dict[str, str]) -> Column | None:
        """Return the column of dates or years by which a superlative asks for a row."""
        asked = WHEN.search(self.phrase.rest)
        dates = [one for one in self.table.columns if one.kind == "date" or one.years]
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
        patterns = [ROWS, WHO] + ([PEOPLE] if _people(table) else [])
        found = [Mention(*one.span(), ()) for p in patterns for one in p.finditer(phrase.rest)]
        for name in (table.sheet or stem, stem, table.label.name):
            found += [one for part in _parts(name) for one in named(rest, part)]
        found = [one for one in found if rest[one.start : one.end].strip(TAKEN)]
        for one in found:
            phrase.take(one.start, one.end)
            inside = [m for m in phrase.found if one.start <= m.start and m.end <= one.end]
            phrase.found = [m for m in phrase.found if m.whole or m not in inside]
        if found:
            phrase.fit = min(phrase.fit, max(one.fit for one in found))
        named_by = table.label if table.labelled else None
        labels = [one for one in phrase.columns if named_by in one.columns]
        counted = [one for one in self.asked if one not in phrase.found]
        return bool(found or labels or counted)

    def _with_parts(self) -> str:
        """Return what is left, and the words that are only a part of a column's name."""
        left = list(self.phrase.left)
        for one in self.phrase.found:
            if not (one.whole or one.value):
                left[one.start : one.end] = self.question[one.start : one.end]
        return "".join(left)


def _counted(question: str, one: Mention) -> bool:
    """Tell whether a name stands where it says what is counted or chosen."""
    behind = NOUNS_AFTER.match(question[one.end :])
    return bool(behind or NOUNS.search(question[: one.start]))


def _akin(word: str, stem: str) -> bool:
    """Tell whether a word has all but the ending of another: `caused` and `cause`."""
    least = max(len(stem) - 2, LIKE)
    return len(word) <= len(stem) + 3 and word[:least] == stem[:least]


def _names_rows(column: Column, table: Table) -> bool:
    """Tell whether each row has a value of its own in a column, and could be called by it."""
    filled = [one for one in column.values if one is not None]
    alone = len(set(filled)) == len(filled) > 1
    return alone and (column.kind == "date" or column.at == table.columns[0].at)


def _people(table: Table) -> bool:
    return bool(
        re.search(
            r"name|person|employee|student|member|姓名|名字|人|员|学生", table.label.name, re.I
        )
    )


def _parts(name: str) -> Sequence[str]:
    return [name, *re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{1,8}", name)]
