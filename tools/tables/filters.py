"""Read which rows of a table a question is about."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from text.script import CJK
from tools.tables.cell_values import fold_cell, is_empty_cell, parse_day, parse_number
from tools.tables.mentions import VOCABULARY, Mention, is_filler_word, split_question_words
from tools.tables.query import MEASURES
from tools.tables.query_builder import AmbiguousQuestionError, QuestionPhrase
from tools.tables.typed_table import (
    NO_CELLS,
    YES_CELLS,
    ColumnKind,
    Condition,
    Sign,
    TableColumn,
)

MOST_OPTIONS = 6
"""So many values at the most are named where one of them may be meant."""

BESIDE = 8
"""A part of a name counts that stands at most so many letters from a comparison."""

UNITS = frozenset(["kb", "kib", "mb", "mib", "gb", "gib", "b", "%", "kg", "g", "m", "km", "cm"])
"""Units that a number of the question must share with the cells."""


_TEXTUAL: tuple[Sign, ...] = ("starts", "ends", "contains")
_FILLED: tuple[Sign, ...] = ("filled", "empty")
_NUMBERS: Mapping[str, tuple[Sign, ...]] = {
    "number_between": ("≥", "≤"),
    "number_at_least": ("≥",),
    "number_at_most": ("≤",),
    "number_over": (">",),
    "number_under": ("<",),
}
_DATES: Mapping[str, tuple[Sign, ...]] = {
    "date_between": ("≥", "≤"),
    "date_from": ("≥",),
    "date_until": ("≤",),
    "date_before": ("<",),
    "date_after": (">",),
    "date_in": ("≥", "≤"),
}
"""How a cell is compared, by the pattern in the vocabulary that finds the comparison."""

_POWERS = {"": 0, "thousand": 3, "千": 3, "万": 4, "million": 6, "亿": 8, "billion": 9}


class _Bound(NamedTuple):
    """A comparison that a question makes: where, how, and with what."""

    start: int
    end: int
    sign: Sign
    value: Decimal | date


def find_conditions(phrase: QuestionPhrase) -> list[Condition]:
    """Return the conditions that a question puts to rows, and take their words out of it.

    Raises:
        AmbiguousQuestionError: Where one may be about several columns.
    """
    found = [*_texts(phrase), *_values(phrase)]
    found += _bounds(phrase, [*_dates(phrase), *_numbers(phrase)])
    found += [*_empties(phrase), *_answers(phrase)]
    _check_values(found)
    return found


def _check_values(conditions: Sequence[Condition]) -> None:
    """Raise where a cell would have to have two values at once."""
    equal = [one for one in conditions if one.sign == "=" and one.texts]
    for one, other in combinations(equal, 2):
        if one.column is other.column:
            raise AmbiguousQuestionError(" / ".join([one.texts[0], other.texts[0]]))


def _texts(phrase: QuestionPhrase) -> Iterator[Condition]:
    """Yield what a cell begins with, ends in or contains."""
    for sign in _TEXTUAL:
        for one in VOCABULARY.get(f"text_{sign}").finditer(phrase.question):
            start, end = one.span()
            text = next(group for group in one.groupdict().values() if group)
            phrase.found = [m for m in phrase.found if not start <= m.start < end]
            column = _text_column(phrase, start)
            phrase.take(start, end)
            yield Condition(column, sign, (text,), at=start)


def _text_column(phrase: QuestionPhrase, start: int) -> TableColumn:
    before = [one for one in phrase.columns if one.end <= start]
    if not before or start - before[-1].end > 12:
        return phrase.table.label
    texts = [one for one in before[-1].columns if one.kind in ("text", "mixed", "number")]
    column = phrase.resolve_column(before[-1], texts)
    if column != phrase.table.label:
        phrase.drop(before[-1])
    return column


def _values(phrase: QuestionPhrase) -> list[Condition]:
    """Make conditions of the values that are named, those of one column joined."""
    made: list[Condition] = []
    done: list[tuple[Mention, TableColumn]] = []
    for one in [one for one in phrase.found if one.value]:
        beside = _beside(phrase, one)
        column = _column_of(phrase, one, beside, done)
        if column is None:
            phrase.put_back(one)
            continue
        if beside:
            phrase.drop(beside)
        if done and _joined(phrase, done[-1][0], one) and done[-1][1] == column:
            last = made.pop()
            phrase.take(done[-1][0].end, one.start)
            made.append(replace(last, texts=(*last.texts, one.value)))
        else:
            start = min(one.start, (beside or one).start)
            denied = phrase.take_before(start, VOCABULARY.negation_before)
            if beside and beside.end <= one.start:
                between = phrase.question[beside.end : one.start]
                denied = bool(VOCABULARY.denied_link.fullmatch(between)) or denied
                phrase.take(beside.end, one.start)
            made.append(Condition(column, "≠" if denied else "=", (one.value,), at=one.start))
        phrase.used.append(column)
        done.append((one, column))
    return made


def _beside(phrase: QuestionPhrase, value: Mention) -> Mention | None:
    """Return the mention of a column that a value stands behind or before."""
    for one in phrase.columns:
        if not set(one.columns) & set(value.columns):
            continue
        between = phrase.question[one.end : value.start]
        behind = VOCABULARY.column_link.fullmatch(between) or VOCABULARY.denied_link.fullmatch(
            between
        )
        before = not phrase.question[value.end : one.start].strip(" \"'`”’」的")
        if (one.end <= value.start and behind) or (value.end <= one.start and before):
            return one
    return None


def _column_of(
    phrase: QuestionPhrase,
    value: Mention,
    beside: Mention | None,
    done: Sequence[tuple[Mention, TableColumn]],
) -> TableColumn | None:
    """Return the column a value is of; nothing for a common word that may be no value."""
    if beside:
        both = [one for one in value.columns if one in beside.columns]
        if len(both) == 1:
            return both[0]
    last = done[-1] if done else None
    if last and _joined(phrase, last[0], value) and last[1] in value.columns:
        return last[1]
    if is_filler_word(value.value):
        return None
    if len({_rows(one, value.value) for one in value.columns}) == 1:
        return value.columns[0]
    raise AmbiguousQuestionError(
        value.value, [f"{one.name} = “{value.value}”" for one in value.columns]
    )


def _rows(column: TableColumn, value: str) -> tuple[int, ...]:
    return tuple(at for at, cell in enumerate(column.cells) if fold_cell(cell) == fold_cell(value))


def _joined(phrase: QuestionPhrase, one: Mention, other: Mention) -> bool:
    return bool(VOCABULARY.value_link.fullmatch(phrase.question[one.end : other.start]))


def _bounds(phrase: QuestionPhrase, bounds: Sequence[_Bound]) -> list[Condition]:
    """Return comparisons with the columns they are about; two of one place share theirs."""
    made: list[Condition] = []
    last: tuple[int, TableColumn] | None = None
    for one in bounds:
        column = last[1] if last and last[0] == one.start else _column_near(phrase, one)
        last = (one.start, column)
        value = one.value
        if isinstance(value, date) and column.kind == "number":
            value = Decimal(value.year)
        made.append(Condition(column, one.sign, bound=value, at=one.start))
    return made


def _column_near(phrase: QuestionPhrase, bound: _Bound) -> TableColumn:
    """Return the column a comparison is about: the nearest that is named, or the only one."""
    kind: ColumnKind = "date" if isinstance(bound.value, date) else "number"
    years = _years(phrase) if kind == "date" else []
    near = phrase.nearest_column(bound.start, bound.end, kind)
    if near is None and years:
        near = phrase.nearest_column(bound.start, bound.end, "number")
        near = near if near and near[1].holds_years else None
    if near:
        phrase.drop(near[0])
        return near[1]
    again = [one for one in phrase.used if one.kind == kind]
    only = again or phrase.table.of_kind(kind) or years
    hinted = [one for one in only if _hinted(phrase, bound, one)]
    if len(hinted or only) == 1 or again:
        return (hinted or only)[-1]
    raise AmbiguousQuestionError(
        phrase.question[bound.start : bound.end].strip(), [one.name for one in only]
    )


def _years(phrase: QuestionPhrase) -> list[TableColumn]:
    return [one for one in phrase.table.of_kind("number") if one.holds_years]


def _hinted(phrase: QuestionPhrase, bound: _Bound, column: TableColumn) -> bool:
    """Tell whether a part of a Chinese name stands beside a comparison: `1900年前点亮的`."""
    beside = phrase.rest[max(bound.start - BESIDE, 0) : bound.end + BESIDE]
    name = re.sub(f"日期|时间|[^{CJK}]", " ", column.name)
    return any(
        name[at : at + 2] in beside for at in range(len(name) - 1) if " " not in name[at : at + 2]
    )


def _dates(phrase: QuestionPhrase) -> Iterator[_Bound]:
    if not (phrase.table.of_kind("date") or _years(phrase)):
        return
    for name, signs in _DATES.items():
        for one in VOCABULARY.get(name).finditer(phrase.rest):
            said = [text for text in one.groupdict().values() if text]
            first, last = _span(said[0]), _span(said[-1])
            if first is None or last is None or _numeric(phrase, one, said[0]):
                continue
            phrase.take(*one.span())
            for sign in signs:
                yield _Bound(*one.span(), sign, first[0] if sign in ("≥", "<") else last[1])


def _numeric(phrase: QuestionPhrase, found: re.Match[str], said: str) -> bool:
    """Tell whether what looks like a year is a number of the column beside it."""
    if not said.isdecimal():
        return False
    # Such an operation takes a column of its own, so that years beside it are no bounds of it.
    measured = VOCABULARY.any_found(phrase.question, *MEASURES)
    numbers = [one for one in phrase.columns if any(c.kind == "number" for c in one.columns)]
    if measured and len(numbers) == 1 and not numbers[0].columns[0].holds_years:
        return False
    near = phrase.nearest_column(*found.span(), "number", "date")
    return near is not None and near[1].kind == "number" and not near[1].holds_years


def _numbers(phrase: QuestionPhrase) -> Iterator[_Bound]:
    for name, signs in _NUMBERS.items():
        for one in VOCABULARY.get(name).finditer(phrase.rest):
            groups = one.groupdict("")
            said = groups["number"] or groups.get("number2", "")
            values = [_scaled(said, groups["scale"])]
            if "other" in groups:
                values.append(_scaled(groups["other"]))
            tail = groups["tail"]
            _check_unit(phrase, tail)
            latin = bool(tail) and tail.strip()[0].isascii() and tail.strip() != "%"
            phrase.take(one.start(), one.end() - len(tail) * latin)
            for sign, value in zip(signs, values, strict=True):
                yield _Bound(*one.span(), sign, value)
    yield from _equal_numbers(phrase)


def _equal_numbers(phrase: QuestionPhrase) -> Iterator[_Bound]:
    """Yield `uploads = 24`, and `24 uploads`: a number beside the name of a column of numbers."""
    for one in phrase.columns:
        if any(column.kind != "number" for column in one.columns):
            continue
        behind = VOCABULARY.equals_number.match(phrase.rest, one.end)
        before = VOCABULARY.number_before.search(phrase.rest[: one.start])
        found = behind or before
        top = before and VOCABULARY.before_top_count.search(phrase.rest[: before.start()])
        if found and not top:
            phrase.take(*found.span())
            yield _Bound(*found.span(), "=", _scaled(found["number"]))


def _check_unit(phrase: QuestionPhrase, tail: str) -> None:
    """Refuse a number in another unit than the cells have, such as MB beside KiB."""
    numbers, said = phrase.table.of_kind("number"), tail.strip()
    units = {column.unit.casefold() for column in numbers}
    in_names = {word.stem for c in phrase.table.columns for word in split_question_words(c.name)}
    if said.casefold() in UNITS - units - in_names:
        raise AmbiguousQuestionError(said, [one.name for one in numbers])


def _empties(phrase: QuestionPhrase) -> Iterator[Condition]:
    """Yield which cells must be empty, or must not be."""
    for one in phrase.columns:
        if len(one.columns) > 1:
            continue
        for sign in _FILLED:
            after = VOCABULARY.get(f"{sign}_after").match(phrase.question[one.end :])
            if not after and sign == "empty" and _denies(phrase, one):
                continue
            before = phrase.take_before(one.start, VOCABULARY.get(f"{sign}_before"))
            if after:
                phrase.take(one.end, one.end + after.end())
            if before or after:
                phrase.drop(one)
                yield Condition(one.columns[0], sign, at=one.start)
                break


def _denies(phrase: QuestionPhrase, mention: Mention) -> bool:
    """Tell whether words such as `not` or `no` deny what a column says, and not that it says it.

    Raises:
        AmbiguousQuestionError: Where they may mean either: `not approved`, beside `rejected` and
            `pending`, or `no stock`, where some cells are 0.
    """
    column, before = mention.columns[0], phrase.question[: mention.start]
    found = VOCABULARY.empty_before.search(before.rstrip("\"'“‘「` ") + " ")
    if not found or VOCABULARY.says_empty.search(found[0]):
        return False
    empty = any(map(is_empty_cell, column.cells))
    if column.is_yes_no and not empty:
        return True
    said = phrase.question[found.start() : mention.end].strip()
    known = {*column.distinct} & (YES_CELLS | NO_CELLS)
    options: list[str] = []
    if Decimal(0) in column.values:
        options = [f"{column.name} = 0"]
    elif column.kind == "text" and (known or (VOCABULARY.not_done.search(said) and not empty)):
        others = (cell for name, cell in column.distinct.items() if name not in YES_CELLS)
        options = [f"{column.name} = “{cell}”" for cell in others]
    if options:
        phrase.take(found.start(), mention.start)
        raise AmbiguousQuestionError(said, options[:MOST_OPTIONS])
    return False


def _answers(phrase: QuestionPhrase) -> Iterator[Condition]:
    """Yield that a column of yes and no says yes, where it is named as what a row is."""
    for one in phrase.columns:
        column = one.columns[0]
        grouped = VOCABULARY.grouping_before.search(phrase.question[: one.start])
        if len(one.columns) > 1 or not column.is_yes_no or grouped:
            continue
        denied = phrase.take_before(one.start, VOCABULARY.negation_before)
        denied = phrase.take_before(one.start, VOCABULARY.empty_before) or denied
        said = tuple(cell for name, cell in column.distinct.items() if name in YES_CELLS)
        phrase.drop(one)
        yield Condition(column, "≠" if denied else "=", said, at=one.start)


def _scaled(said: str, scale: str = "") -> Decimal:
    found = parse_number(said.replace("−", "-"))
    return (found.value if found else Decimal(0)) * Decimal(10) ** _POWERS[scale.lower()]


def _span(said: str) -> tuple[date, date] | None:
    """Return the first and the last day of a day, a month or a year."""
    text = re.sub(r"\s+", "", said) if "年" in said else said.strip()
    parts = len(re.findall(r"\d+", text))
    first = parse_day(f"{text}-1-1" if text.isdecimal() else text)
    if first is None:
        return None
    if parts == (1 if re.search("[A-Za-z]", text) else 2):
        return first, first.replace(day=monthrange(first.year, first.month)[1])
    return first, date(first.year, 12, 31) if parts == 1 else first
