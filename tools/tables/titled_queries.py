"""Read the title of a computed result back as the query that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import NamedTuple, get_args

from text.regex import regex
from tools.tables.answer_text import get_joining_words, render_conditions, render_query_title
from tools.tables.cell_values import parse_number
from tools.tables.query import Operation, ParsedQuery
from tools.tables.typed_table import Condition, Sign, TableColumn, TypedTable

UNTOLD = ("share",)
"""Operations whose titles leave out a part of the query: of which rows a share is taken."""

MOST_CONDITIONS = 6

_BLANK = "¤"
_VALUE = regex(r"“(?P<text>[^”]*)”")
_BOUND = regex(r"\d{4}-\d\d-\d\d|-?\d[\d,]*(?:\.\d+)?")


class TitledQuery(NamedTuple):
    """A query, and the language of its title."""

    query: ParsedQuery
    language: str


def parse_query_title(title: str, table: TypedTable) -> TitledQuery | None:
    """Return the query that a title names word for word; None if it names none of this table.

    How many rows or which of the groups are asked for, no title tells.

    Args:
        title: A title as `render_query_title` writes it, in either language.
        table: The table.
    """
    title = _fold(title)
    if not title.startswith(_fold(table.name)):
        return None
    for language in ("en", "zh"):
        found = _find_query(title, table, language)
        if found:
            return TitledQuery(found, language)
    return None


def _find_query(title: str, table: TypedTable, language: str) -> ParsedQuery | None:
    named = [one for one in table.columns if _fold(one.name) in title]
    named.sort(key=lambda one: -len(one.name))
    for operation in get_args(Operation):
        for column in () if operation in UNTOLD else (None, *named):
            for group in (None, *named):
                query = ParsedQuery(table, operation, column, group=group)
                found = _add_conditions(query, named, title, language)
                if found:
                    return found
    return None


def _add_conditions(
    query: ParsedQuery, named: Sequence[TableColumn], title: str, language: str
) -> ParsedQuery | None:
    """Return a query with the conditions of a title that begins with its own; None for no such."""
    head = _fold(render_query_title(query, language))
    if head == title:
        return query
    where = head + get_joining_words(language).where
    if not title.startswith(where):
        return None
    for conditions in _read_conditions(title[len(where) :], named, language):
        whole = replace(query, conditions=tuple(conditions))
        if _fold(render_query_title(whole, language)) == title:
            return whole
    return None


def _read_conditions(
    text: str, named: Sequence[TableColumn], language: str, most: int = MOST_CONDITIONS
) -> Iterator[list[Condition]]:
    """Yield the ways in which a text is conditions on some columns."""
    joined = get_joining_words(language).joined
    for column in named if most else ():
        for condition, rest in _read_condition(text, column, language):
            if not rest:
                yield [condition]
            elif rest.startswith(joined):
                following = _read_conditions(rest[len(joined) :], named, language, most - 1)
                yield from ([condition, *more] for more in following)


def _read_condition(
    text: str, column: TableColumn, language: str
) -> Iterator[tuple[Condition, str]]:
    """Yield the conditions on a column with which a text begins, each with what follows it."""
    for sign in get_args(Sign):
        shown = _fold(render_conditions([Condition(column, sign, (_BLANK,))], language))
        before, blank, _ = shown.partition(f"“{_BLANK}”")
        if not text.startswith(before):
            continue
        rest = text[len(before) :]
        if not blank:
            yield Condition(column, sign), rest
            continue
        bound = _BOUND.match(rest)
        value = _read_bound(bound[0]) if bound else None
        if bound and value is not None:
            yield Condition(column, sign, bound=value), rest[bound.end() :]
        texts, rest = _read_values(rest, column, language)
        if texts:
            yield Condition(column, sign, texts), rest


def _read_bound(written: str) -> Decimal | date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        number = parse_number(written)
    return number.value if number else None


def _read_values(text: str, column: TableColumn, language: str) -> tuple[tuple[str, ...], str]:
    """Return the quoted values with which a text begins, as the table spells them, and the rest."""
    spelled = {_fold(one): one for one in column.distinct.values()}
    either, texts = get_joining_words(language).either, list[str]()
    while found := _VALUE.match(text):
        texts.append(spelled.get(found["text"], found["text"]))
        text = text[found.end() :]
        if not text.startswith(either + "“"):
            break
        text = text[len(either) :]
    return tuple(texts), text


def _fold(text: str) -> str:
    return " ".join(text.split())
