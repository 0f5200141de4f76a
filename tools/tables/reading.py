"""Read what a question asks to have computed over a table; what can be read otherwise is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from tools.tables.cells import day, number
from tools.tables.conditions import Condition, Sign
from tools.tables.making import Doubt, Maker, Reading, Unclear
from tools.tables.mentions import Mention, common, mentions, named, normal, words
from tools.tables.table import Column, Table
from tools.tables.vocabulary import (
    COMPARISONS,
    DATES,
    EMPTY_AFTER,
    EMPTY_CELLS,
    FILL,
    FILL_ZH,
    GROUPS,
    NOT,
    OPERATIONS,
    ROWS,
    SCALES,
    TEXTS,
    TOP,
)

_LINK = re.compile(
    r"\s*(?:\b(?:is|are|was|were|of|in|equals?|equal to|named|called|being|the|=+)\b|=+|:"
    r"|[为為是属於于等]+)?\s*(?:\bthe\b\s*)?[\"'“‘「]?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\"'”’」]?\s*(?:,|、|，|\bor\b|\band\b|和|或|与|以及)\s*[\"'“‘「]?", re.I)
_EQUALS = re.compile(
    r"\s*(?:is|=+|of|equals?|equal to|为|是|等于)?\s*(?P<number>-?\d[\d,]*(?:\.\d+)?)"
)


class Bound(NamedTuple):
    """A comparison that a question makes: where, how, and with what."""

    start: int
    end: int
    sign: Sign
    value: Decimal | date


def reading(question: str, table: Table, *, sure: bool = False) -> Reading | Unclear | None:
    """Return what a question asks of a table; nothing if it is not about the table.

    Every word of the question must have its part in the reading, and every name one meaning.

    Args:
        question: As a person puts it.
        table: The table.
        sure: Whether the question names the file, so that it is about the table in any case.
    """
    reader = _Reader(normal(question), table)
    try:
        return reader.read()
    except Doubt as doubt:
        about = sure or (reader.touched and doubt.options)
        return Unclear(table, doubt.said, doubt.options) if about else None


class _Reader:
    """Reads one question beside one table, taking out of the question what it has understood."""

    def __init__(self, question: str, table: Table) -> None:
        self.question, self.table = question, table
        self.left = list(question)
        self.found: list[Mention] = []
        self.conditions: list[Condition] = []
        self.touched = False

    def read(self) -> Reading | None:
        """Return the reading.

        Raises:
            Doubt: Where there is none, or more than one.
        """
        self._take_file()
        self.found = mentions(self.rest, self.table)
        self.touched = bool(self.found)
        self.fit = min((one.fit for one in self.found if one.whole), default=1.0)
        for one in self.found:
            self._take(one.start, one.end)
        self._read_conditions()
        group = self._group()
        operations = self._operations()
        rows = self._rows()
        self.touched = self.touched or rows
        if not (operations or group or self.conditions):
            return None
        made = self._made(operations, group, rows=rows)
        self._check_left()
        return replace(made, fit=self.fit)

    def _take(self, start: int, end: int) -> str:
        taken = "".join(self.left[start:end])
        self.left[start:end] = "\x00" * (end - start)
        return taken

    @property
    def rest(self) -> str:
        """What is left of the question; what was taken out is a row of NULs."""
        return "".join(self.left)

    def _take_file(self) -> None:
        file, sheet = self.table.file, self.table.sheet
        stem = file.rpartition(".")[0]
        tails = r"(?:\s*(?:file|table|sheet|csv|spreadsheet|表格?|文件))"
        patterns = [rf"[\w./-]*{re.escape(file)}", rf"\b{re.escape(stem)}{tails}"]
        patterns += [rf"(?:table|file|表格?|文件)\s*[\"'“]?{re.escape(stem)}\b"]
        if sheet:
            name = re.escape(sheet)
            patterns += [
                rf"\b{name}\s*(?:sheet|tab|工作表)",
                rf"(?:sheet|tab|工作表)\s*[\"'“]?{name}",
            ]
        for pattern in patterns:
            for one in re.finditer(pattern, self.rest, re.IGNORECASE):
                self._take(*one.span())

    def _read_conditions(self) -> None:
        self._read_values()
        self._read_texts()
        self._read_empties()
        for bound in [*self._dates(), *self._numbers()]:
            column = self._column_near(bound, "date" if isinstance(bound.value, date) else "number")
            self.conditions.append(Condition(column, bound.sign, bound=bound.value))

    def _read_values(self) -> None:
        """Make conditions of the values that are named, those of one column joined."""
        done: list[tuple[Mention, Column]] = []
        for one in [one for one in self.found if one.value]:
            beside = self._beside(one)
            column = self._column_of(one, beside, done)
            if column is None:
                self.left[one.start : one.end] = self.question[one.start : one.end]
                self.found.remove(one)
                continue
            if beside:
                self.found = [other for other in self.found if other != beside]
            joined = done and self._joined(done[-1][0], one) and done[-1][1] == column
            sign: Sign = "≠" if self._denied(min(one.start, (beside or one).start)) else "="
            if joined:
                last = self.conditions.pop()
                value = Condition(column, last.sign, (*last.texts, one.value))
            else:
                value = Condition(column, sign, (one.value,))
            self.conditions.append(value)
            done.append((one, column))

    def _beside(self, value: Mention) -> Mention | None:
        """Return the mention of a column that a value stands behind or before."""
        for one in (one for one in self.found if not one.value):
            if not set(one.columns) & set(value.columns):
                continue
            behind = _LINK.fullmatch(self.question[one.end : value.start])
            before = not self.question[value.end : one.start].strip(" \"'”’」的")
            if (one.end <= value.start and behind) or (value.end <= one.start and before):
                return one
        return None

    def _column_of(
        self, value: Mention, beside: Mention | None, done: Sequence[tuple[Mention, Column]]
    ) -> Column | None:
        """Return the column a value is of; nothing for a common word that may be no value."""
        if beside:
            both = [one for one in value.columns if one in beside.columns]
            if len(both) == 1:
                return both[0]
        last = done[-1] if done else None
        if last and self._joined(last[0], value) and last[1] in value.columns:
            return last[1]
        if common(value.value):
            return None
        if len(value.columns) == 1:
            return value.columns[0]
        raise Doubt(value.value, [f"{one.name} = “{value.value}”" for one in value.columns])

    def _joined(self, one: Mention, other: Mention) -> bool:
        return bool(_BETWEEN.fullmatch(self.question[one.end : other.start]))

    def _denied(self, start: int) -> bool:
        found = NOT.search(self.question[:start].rstrip("\"'“‘「 ") + " ")
        if found and start:
            self._take(found.start(), min(found.end(), start))
        return bool(found)

    def _read_texts(self) -> None:
        """Make conditions of what a cell begins with, ends in or contains."""
        for name, pattern in TEXTS.items():
            for one in pattern.finditer(self.question):
                groups = one.groupdict()
                text = groups.get("text") or groups.get("text2") or ""
                inside = [m for m in self.found if one.start() <= m.start < one.end()]
                for mention in inside:
                    self.found.remove(mention)
                    gone = [c for c in self.conditions if mention.value in c.texts]
                    self.conditions = [c for c in self.conditions if c not in gone]
                column = self._text_column(one.start())
                sign: Sign = (
                    "starts" if name == "starts" else "ends" if name == "ends" else "contains"
                )
                self.conditions.append(Condition(column, sign, (text,)))
                self._take(*one.span())

    def _text_column(self, start: int) -> Column:
        before = [one for one in self.found if not one.value and one.end <= start]
        if not before:
            return self.table.label
        texts = [column for column in before[-1].columns if column.kind == "text"]
        column = self._one(before[-1], texts)
        if column != self.table.label:
            self.found.remove(before[-1])
        return column

    def _read_empties(self) -> None:
        for one in [one for one in self.found if not one.value]:
            before = EMPTY_CELLS.search(self.question[: one.start])
            after = EMPTY_AFTER.match(self.question[one.end :])
            if (before or after) and len(one.columns) == 1:
                if before:
                    self._take(before.start(), before.end())
                if after:
                    self._take(one.end, one.end + after.end())
                self.conditions.append(Condition(one.columns[0], "empty"))
                self.found.remove(one)

    def _dates(self) -> Iterator[Bound]:
        if not self.table.of_kind("date"):
            return
        for sign, pattern in DATES.items():
            for one in pattern.finditer(self.rest):
                said = next(text for text in one.groupdict().values() if text)
                first, last = _span(said)
                if first is None or last is None:
                    continue
                self._take(*one.span())
                if sign == "in":
                    yield Bound(*one.span(), "≥", first)
                    yield Bound(*one.span(), "≤", last)
                else:
                    signs: dict[str, tuple[Sign, date]] = {
                        ">=": ("≥", first),
                        "<": ("<", first),
                        ">": (">", last),
                    }
                    yield Bound(*one.span(), *signs[sign])

    def _numbers(self) -> Iterator[Bound]:
        signs: dict[str, Sign] = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}
        for name, pattern in COMPARISONS.items():
            for one in pattern.finditer(self.rest):
                groups = one.groupdict()
                said = groups["number"] or groups.get("number2") or ""
                value = _scaled(said, groups.get("scale") or "")
                self._check_unit(groups.get("tail") or "")
                tail = len(groups.get("tail") or "")
                self._take(one.start(), one.end() - tail)
                if name == "between":
                    yield Bound(*one.span(), "≥", value)
                    yield Bound(*one.span(), "≤", _scaled(groups["other"], ""))
                else:
                    yield Bound(*one.span(), signs[name], value)
        yield from self._equal_numbers()

    def _equal_numbers(self) -> Iterator[Bound]:
        """Yield `uploads = 24`: a number right behind the name of a column of numbers."""
        for one in (one for one in self.found if not one.value):
            found = _EQUALS.match(self.rest, one.end)
            if found and all(column.kind == "number" for column in one.columns):
                start, end = found.span()
                self._take(start, end)
                yield Bound(start, end, "=", _scaled(found["number"], ""))

    def _check_unit(self, tail: str) -> None:
        """Refuse a number in another unit than the cells have, such as MB beside KiB."""
        units = {column.unit.casefold() for column in self.table.of_kind("number")}
        said = tail.strip().casefold()
        known = {"kb", "kib", "mb", "mib", "gb", "gib", "b", "%", "kg", "g", "m", "km", "cm"}
        in_names = {word.stem for c in self.table.columns for word in words(c.name)}
        if said in known and said not in units | in_names:
            raise Doubt(tail.strip(), [one.name for one in self.table.of_kind("number")])

    def _column_near(self, bound: Bound, kind: Literal["number", "date"]) -> Column:
        """Return the column a comparison is about: the nearest that is named, or the only one."""
        held = [
            (one, fitting)
            for one in self.found
            if not one.value and (fitting := [c for c in one.columns if c.kind == kind])
        ]
        near = sorted(held, key=lambda one: _distance(one[0], bound))
        if near and _distance(near[0][0], bound) <= 40:
            mention, columns = near[0]
            self.found = [one for one in self.found if one != mention]
            self.found.append(mention._replace(value="\x00"))
            return self._one(mention, columns)
        used = [one for one in self.found if one.value == "\x00"]
        again = [c for one in used for c in one.columns if c.kind == kind]
        only = again or self.table.of_kind(kind)
        if len(only) == 1 or again:
            return only[-1]
        raise Doubt(self.question[bound.start : bound.end].strip(), [one.name for one in only])

    def _one(self, mention: Mention, columns: Sequence[Column]) -> Column:
        if len(columns) == 1:
            return columns[0]
        columns = columns or mention.columns
        said = self.question[mention.start : mention.end]
        raise Doubt(said, [one.name for one in columns])

    def _group(self) -> Column | None:
        for one in [one for one in self.found if not one.value]:
            before = GROUPS.search(self.question[: one.start])
            if before and before.start() < one.start:
                self._take(before.start(), one.start)
                self.found.remove(one)
                texts = [c for c in one.columns if c.kind == "text"] or list(one.columns)
                return self._one(one, texts)
        return None

    def _operations(self) -> dict[str, str]:
        """Take out the words that ask for operations, and return them by the operation."""
        found: dict[str, str] = {}
        if top := TOP.search(self._after_names()):
            name = next(name for name, text in top.groupdict().items() if text)
            found["top"] = top[name]
            self._take(*top.span(name))
            if top[0].lower().startswith(("top", "前")):
                self._take(*top.span())
                found.setdefault("max", "top")
        for name, pattern in OPERATIONS.items():
            for one in pattern.finditer(self.rest):
                found.setdefault(name, one[0])
                if found[name] == "top":
                    found[name] = one[0]
                self._take(*one.span())
        return found

    def _after_names(self) -> str:
        return self.rest.replace("\x00", "_")

    def _rows(self) -> bool:
        """Take out the names of the rows, and tell whether there was one."""
        table = self.table
        found = [Mention(*one.span(), ()) for one in ROWS.finditer(self.rest)]
        stem = table.file.rpartition(".")[0]
        rest = self._with_parts()
        for name in (table.sheet or stem, stem, table.label.name):
            found += [one for part in _parts(name) for one in named(rest, part)]
        found = [one for one in found if rest[one.start : one.end].strip("\x00")]
        for one in found:
            self._take(one.start, one.end)
            inside = [m for m in self.found if one.start <= m.start and m.end <= one.end]
            self.found = [m for m in self.found if m.whole or m not in inside]
        if found:
            self.fit = min(self.fit, max(one.fit for one in found))
        labels = [one for one in self.found if not one.value and table.label in one.columns]
        return bool(found or labels)

    def _with_parts(self) -> str:
        """Return what is left, and the words that are only a part of a column's name."""
        left = list(self.left)
        for one in self.found:
            if not (one.whole or one.value):
                left[one.start : one.end] = self.question[one.start : one.end]
        return "".join(left)

    def _made(self, said: dict[str, str], group: Column | None, *, rows: bool) -> Reading:
        named = [one for one in self.found if not one.value]
        make = Maker(self.table, tuple(self.conditions), named, said, self.question)
        return make.reading(group, rows=rows)

    def _check_left(self) -> None:
        """Raise where a word of the question has no part in the reading."""
        rest = FILL_ZH.sub(" ", self.rest.replace("\x00", " "))
        said = re.findall(r"[^\W_]+(?:['’][a-z]+)?", rest)
        strange = [one for one in said if one.lower() not in FILL]
        if strange:
            raise Doubt(" ".join(strange))


def _parts(name: str) -> list[str]:
    return [name, *re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{1,8}", name)]


def _scaled(said: str, scale: str) -> Decimal:
    found = number(said.replace("−", "-"))
    return (found.value if found else Decimal(0)) * SCALES[scale.lower()]


def _span(said: str) -> tuple[date | None, date | None]:
    """Return the first and the last day of a date, a month or a year."""
    plain = re.sub(r"[年月]", "-", said).strip("-日号")
    parts = [int(one) for one in plain.split("-")]
    first = day(said if "年" in said else f"{parts[0]}-{parts[1] if parts[1:] else 1}-1")
    if len(parts) == 3:
        whole = day(said)
        return whole, whole
    if first is None:
        return None, None
    after = (
        date(first.year + 1, 1, 1)
        if len(parts) == 1
        else date(first.year + first.month // 12, first.month % 12 + 1, 1)
    )
    return first, after - timedelta(days=1)


def _distance(mention: Mention, bound: Bound) -> int:
    return max(mention.start - bound.end, bound.start - mention.end, 0)
