"""Word computed results, the rows they rest on and how they were computed, in two languages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any, NamedTuple

from text.pattern_files import read_packaged_toml
from text.pluralization import pluralize
from tools.computed_pages import to_plain_line
from tools.tables.cell_values import parse_number
from tools.tables.query import CellValue, ParsedQuery, QueryResult, ResultItem
from tools.tables.question_parser import UnclearQuestion
from tools.tables.typed_table import Condition, TableColumn

MAX_ITEMS = 20
"""The most rows or groups that are named."""

UNUSABLE_SHOWN = 3
"""So many cells of a column are shown that cannot be computed with."""

MAX_CELL = 120
"""The longest cell that is shown, in characters."""

UNITLESS = ("count", "share", "distinct", "list")
"""Operations whose result counts rows or values, whatever the unit of the column."""

SIGNS_BEFORE = ("$", "€", "£", "¥", "￥", "₹")
"""Currency signs that precede the number."""

PLACES = 2
"""Decimals of a mean or a share, beyond those of the cells."""


@cache
def _read_tables() -> dict[str, Any]:
    """Return the tables of texts, each in English and in Chinese."""
    return read_packaged_toml("tools.tables", "answer_text.toml")


def _say(text: str, language: str, /, *parts: object, **named: object) -> str:
    """Return a text in a language, with its parts."""
    return str(_read_tables()["texts"][text][language == "zh"]).format(*parts, **named)


def render_table_answer(result: QueryResult, language: str) -> str:
    """Return the answer, the rows or groups it names, and below them how it was computed.

    Every line is a sentence or an item, so that each can be cited on its own.
    """
    lines = [_answer(result, language)]
    if len(result.items) > 1 and result.query.operation != "distinct":
        lines += [f"- {_item(one, result.query)}" for one in result.items[:MAX_ITEMS]]
        if (more := len(result.items) - MAX_ITEMS) > 0:
            lines.append(_say("more", language, more))
    return "\n".join([*lines, _basis(result, language)])


def render_query_title(query: ParsedQuery, language: str) -> str:
    """Return the title of a computation in a list of sources."""
    what = f"{_operation(query, language)}{_where(query.conditions, language)}"
    return _say("title", language, query.table.name, what)


class JoiningWords(NamedTuple):
    """What stands between the parts of a title."""

    where: str
    """Before conditions."""
    joined: str
    """Between conditions."""
    either: str
    """Between the values of one condition."""


def get_joining_words(language: str) -> JoiningWords:
    """Return what stands between the parts of a title in a language."""
    return JoiningWords(_say("where", language, ""), _say("and", language), _say("or", language))


def _basis(result: QueryResult, language: str) -> str:
    """Return which rows were computed with, and which were left out and why."""
    query, numbers = result.query, result.query.table.numbers
    what = f"{_operation(query, language)}{_where(query.conditions, language)}"
    if query.base:
        what += _say("base", language, _where(query.base, language))
    counts = {"first": numbers[0], "last": numbers[-1], "used": result.used}
    text = _sentence("basis", result, language, what=what, **counts)
    sentence = _say("semicolon", language).join([text, *_omissions(result, language)])
    return f"{sentence}{_say('full_stop', language)}"


def _omissions(result: QueryResult, language: str) -> list[str]:
    column, table = result.query.column or result.query.group, result.query.table
    texts = []
    if result.empty:
        texts.append(_say("empty", language, result.empty, _plain(column.name) if column else ""))
    if result.unusable:
        texts.append(_say("unusable", language, ", ".join(map(_plain, result.unusable[:3]))))
    if table.totals:
        rows = _say("comma", language).join(map(str, table.totals[:3]))
        more = _say("more_rows", language, left) if (left := len(table.totals) - 3) > 0 else ""
        texts.append(_say("totals" if table.totals[1:] else "total", language, rows + more))
    return texts


def explain_unclear_question(unclear: UnclearQuestion, language: str) -> str:
    """Return why nothing was computed."""
    if unclear.unusable:
        return _explain_unusable(unclear.unusable, to_plain_line(unclear.table.name), language)
    name = "may_mean" if unclear.options else "unknown"
    return _say(
        f"{name}_again" if unclear.choices else name,
        language,
        table=to_plain_line(unclear.table.name),
        wording=_plain(unclear.wording),
        options=_either([_plain(one) for one in unclear.options], language),
        again=" / ".join(map(to_plain_line, unclear.choices)),
        columns=_say("comma", language).join(_plain(one.name) for one in unclear.table.columns),
    )


def _explain_unusable(column: TableColumn, table: str, language: str) -> str:
    """Return that the cells of a column are not computed with, and some of them."""
    cells = [cell for cell in column.distinct.values() if not parse_number(cell)]
    some = [*cells, *(cell for cell in column.distinct.values() if parse_number(cell))]
    shown = _say("comma", language).join(f"“{_plain(cell)}”" for cell in some[:UNUSABLE_SHOWN])
    return _say("unusable_column", language, name=_plain(column.name), table=table, cells=shown)


def explain_unfit_query(wording: str, language: str) -> str:
    """Return that a query names what its table does not have, or cannot be computed."""
    return _say("unfit", language, _plain(wording))


def render_same_results(names: Sequence[str], language: str) -> str:
    """Return that other tables give the same result, with the first of their names."""
    return _name_several("same", names, language)


def explain_unread_tables(files: Sequence[str], language: str) -> str:
    """Return which files were too many, or too large, to be looked at."""
    return _name_several("unread", files, language)


def _name_several(text: str, names: Sequence[str], language: str) -> str:
    shown = _say("comma", language).join(map(_plain, names[:MAX_ITEMS]))
    rest, more = "", len(names) - MAX_ITEMS
    if more > 0:
        tables = pluralize(more, "other table")
        rest = _say(f"{text}_rest", language, all=len(names), more=more, tables=tables)
    return _say(text, language, shown=shown, rest=rest)


def explain_several_tables(queries: Sequence[ParsedQuery], language: str) -> str:
    """Return that a question fits several tables."""
    options = [f"{to_plain_line(one.table.name)} ({_operation(one, language)})" for one in queries]
    return _say("several_tables", language, _either(options, language))


def _either(options: Sequence[str], language: str) -> str:
    if language == "zh" or len(options) < 2:
        return "、".join(options)
    return f"{', '.join(options[:-1])} or {options[-1]}"


def _answer(result: QueryResult, language: str) -> str:
    query, items = result.query, result.items
    if query.group:
        return _answer_groups(result, _plain(query.group.name), language)
    if query.operation in ("count", "list"):
        return _answer_rows(result, language)
    if result.used == 0:
        where = _where([*query.base, *query.conditions], language)
        return _sentence("none", result, language, what=f"{_operation(query, language)}{where}")
    if query.operation == "share":
        return _answer_share(result, language)
    if query.operation == "lookup":
        return _answer_cells(result, language)
    ranked = query.operation in ("min", "max")
    if ranked and len({one.value for one in items}) > 1:
        return _sentence("extremes", result, language)
    shown = _render_value(result.value, query) + (_name_items(items, language) if ranked else "")
    return _sentence("value", result, language, shown=shown)


def _sentence(text: str, result: QueryResult, language: str, /, **parts: object) -> str:
    """Return a sentence on a result, with parts of its own and those that many sentences have."""
    query = result.query
    fits = render_conditions(query.conditions, language)
    common = {
        "table": query.table.name,
        "what": _operation(query, language),
        "fits": fits,
        "where": _where(query.conditions, language),
        "rows_where": _say("rows_where", language, fits) if fits else "",
        "count": len(result.items),
        "fitting": result.fitting,
        "size": query.table.size,
        "rows": pluralize(query.table.size, "row"),
    }
    return _say(text, language, **common | parts)


def _answer_rows(result: QueryResult, language: str) -> str:
    if not result.query.conditions:
        return _sentence("all_rows", result, language)
    single = result.query.operation == "list" and len(result.items) == 1
    name = _plain(result.items[0].name) if single else ""
    only = _say("only", language, name) if name else ""
    return _sentence("row" if result.fitting == 1 else "rows", result, language, only=only)


def _answer_share(result: QueryResult, language: str) -> str:
    """Return a share of the rows, or of those that were chosen first."""
    size = result.used
    share = _round(Decimal(100 * result.fitting) / size, PLACES)
    base = render_conditions(result.query.base, language)
    base = _say("share_base", language, base) if base else ""
    rows = pluralize(size, "row")
    return _sentence("share", result, language, size=size, rows=rows, base=base, share=share)


def _answer_cells(result: QueryResult, language: str) -> str:
    name = _plain(result.query.column.name) if result.query.column else ""
    values = {_plain(str(one.value)) for one in result.items}
    if len(values) == 1:
        return _sentence("cell", result, language, name=name, value=values.pop())
    rows = pluralize(len(result.items), "row fits", "rows fit")
    return _sentence("cells", result, language, name=name, rows=rows)


def _answer_groups(result: QueryResult, by: str, language: str) -> str:
    query, items = result.query, result.items
    what = _operation(query, language, grouped=False)
    if query.extreme and items:
        most = _read_tables()["operations"][query.extreme][language == "zh"]
        shown = f"{_render_value(items[0].value, query)}{_name_items(items, language)}"
        return _sentence("group", result, language, by=by, what=what, most=most, shown=shown)
    groups = pluralize(len(items), "group")
    return _sentence("groups", result, language, by=by, what=what, groups=groups)


def _name_items(items: Sequence[ResultItem], language: str) -> str:
    """Return the name of the only row or group; several follow as a list."""
    if len(items) == 1:
        return _say("named", language, _plain(items[0].name))
    if not items:
        return ""
    is_tie = len({one.value for one in items}) == 1
    return _say("tied" if is_tie else "first_listed", language, len(items))


def _item(item: ResultItem, query: ParsedQuery) -> str:
    name = _plain(item.name)
    return name if item.value is None else f"{name}: {_render_value(item.value, query)}"


def _operation(query: ParsedQuery, language: str, grouped: bool = True) -> str:
    column, name = query.column, str(query.operation)
    ranked = name in ("min", "max")
    if ranked and column and column.kind == "date":
        name = "earliest" if name == "min" else "latest"
    what = str(_read_tables()["operations"][name][language == "zh"])
    if column and (of := _plain(column.name)):
        what = _say("of_extreme" if ranked else "of", language, what=what, name=of)
    if grouped and query.group:
        what += _say("per", language, _plain(query.group.name))
    return what


def _where(conditions: Sequence[Condition], language: str) -> str:
    """Return the conditions as they are applied: ` where section = “libs”`."""
    fits = render_conditions(conditions, language)
    return _say("where", language, fits) if fits else ""


def render_conditions(conditions: Sequence[Condition], language: str) -> str:
    """Return conditions as they are applied: `section = “libs”`."""
    return _say("and", language).join(_condition(one, language) for one in conditions)


def _condition(one: Condition, language: str) -> str:
    name, bound = _plain(one.column.name), one.bound
    if bound is not None:
        shown = bound.isoformat() if isinstance(bound, date) else _format_number(bound)
        return f"{name} {one.sign} {shown}"
    texts = _say("or", language).join(f"“{_plain(text)}”" for text in one.texts)
    worded = _read_tables()["conditions"].get(one.sign)
    return (
        str(worded[language == "zh"]).format(name, texts)
        if worded
        else f"{name} {one.sign} {texts}"
    )


def _render_value(value: CellValue | None, query: ParsedQuery) -> str:
    if not isinstance(value, Decimal):
        return _plain(str(value)) if value is not None else ""
    column = query.column
    unit = column.unit if column and query.operation not in UNITLESS else ""
    return format_quantity(value, unit)


def format_quantity(value: Decimal, unit: str) -> str:
    """Return a number with its unit, such as `$60,000` or `1 day`."""
    if unit in SIGNS_BEFORE:
        return f"{'-' * (value < 0)}{unit}{_format_number(abs(value))}"
    if value == 1 and unit.lower() in _read_tables()["plural_units"].split():
        unit = unit.removesuffix("s")
    return f"{_format_number(value)} {unit}".rstrip()


def _format_number(value: Decimal) -> str:
    """Return a number with thousands separators and at most a few decimals."""
    shown = value if value.as_tuple().exponent in range(-6, 1) else _round(value, PLACES)
    separator = "," if abs(shown) >= 10_000 else ""
    if shown == shown.to_integral_value():
        return f"{int(shown):{separator}}"
    return f"{shown.normalize():{separator}f}"


def _round(value: Decimal, places: int) -> Decimal:
    """Round to some decimals; a number below 1 keeps as many significant digits."""
    if value and abs(value) < 1:
        places += -value.adjusted() - 1
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _plain(text: str) -> str:
    return to_plain_line(text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…")
