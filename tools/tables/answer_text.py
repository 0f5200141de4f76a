"""Word computed results, the rows they rest on and how they were computed, in two languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from text.pluralization import pluralize
from tools.computed_pages import to_plain_line
from tools.tables.query import CellValue, ParsedQuery, QueryResult, ResultItem
from tools.tables.query_builder import UnclearQuestion
from tools.tables.typed_table import Condition

MAX_ITEMS = 20
"""The most rows or groups that are named."""

MAX_CELL = 120
"""The longest cell that is shown, in characters."""

UNITLESS = ("count", "share", "distinct", "list")
"""Operations whose result counts rows or values, whatever the unit of the column."""

SIGNS_BEFORE = ("$", "€", "£", "¥", "￥", "₹")
"""Currency signs that precede the number."""

_PLURAL_UNITS = """seconds minutes hours days weeks months years pages words points metres meters
    miles grams kilograms tonnes litres liters pieces euros dollars pounds degrees items units
    parts"""
PLURAL_UNITS = frozenset(_PLURAL_UNITS.split())
"""Units in words, which lose their `s` behind 1."""

PLACES = 2
"""Decimals of a mean or a share, beyond those of the cells."""

_NAMES: Mapping[str, tuple[str, str]] = {
    "total": ("total", "总和"),
    "average": ("average", "平均值"),
    "median": ("median", "中位数"),
    "min": ("smallest", "最小"),
    "max": ("largest", "最大"),
    "earliest": ("earliest", "最早"),
    "latest": ("latest", "最晚"),
    "count": ("number of rows", "行数"),
    "share": ("share of rows", "行数占比"),
    "distinct": ("number of different values", "不同值的个数"),
    "list": ("list of rows", "列出各行"),
    "lookup": ("look-up", "查找"),
}
_SIGNS: Mapping[str, tuple[str, str]] = {
    "starts": ("starts with", "开头为"),
    "ends": ("ends in", "结尾为"),
    "contains": ("contains", "包含"),
}


def render_table_answer(result: QueryResult, language: str) -> str:
    """Return the answer, the rows or groups it names, and below them how it was computed.

    Every line is a sentence or an item, so that each can be cited on its own.
    """
    zh = language == "zh"
    lines = [_answer(result, zh)]
    if len(result.items) > 1 and result.query.operation != "distinct":
        lines += [f"- {_item(one, result.query)}" for one in result.items[:MAX_ITEMS]]
        if (more := len(result.items) - MAX_ITEMS) > 0:
            lines.append(f"- 另有 {more} 项" if zh else f"- and {more} more")
    return "\n".join([*lines, _basis(result, zh)])


def render_query_title(query: ParsedQuery, language: str) -> str:
    """Return the title of a computation in a list of sources."""
    zh = language == "zh"
    what = f"{_operation(query, zh)}{_where(query.conditions, zh)}"
    return f"{query.table.name}，计算：{what}" if zh else f"{query.table.name}, computed: {what}"


def _basis(result: QueryResult, zh: bool) -> str:
    """Return which rows were computed with, and which were left out and why."""
    table = result.query.table
    first, last = table.numbers[0], table.numbers[-1]
    what = f"{_operation(result.query, zh)}{_where(result.query.conditions, zh)}"
    if result.query.base:
        what += f"{'，总体' if zh else ', of those'}{_where(result.query.base, zh)}"
    if zh:
        used = f"共 {table.size} 行，用了 {result.used} 行"
        text = f"依据 {table.name} 第 {first}–{last} 行计算：{what}；{used}"
    else:
        used = f"{result.used} of {pluralize(table.size, 'row')} used"
        text = f"Computed over rows {first}–{last} of {table.name}: {what}; {used}"
    omitted = "".join(f"{'；' if zh else '; '}{one}" for one in _omissions(result, zh))
    return f"{text}{omitted}{'。' if zh else '.'}"


def _omissions(result: QueryResult, zh: bool) -> list[str]:
    column, table = result.query.column or result.query.group, result.query.table
    name = _plain(column.name) if column else ""
    texts = []
    if result.empty:
        english = f"{result.empty} left out because {name} is empty"
        texts.append(f"{result.empty} 行的 {name} 为空，未计入" if zh else english)
    if result.unusable:
        cells = ", ".join(map(_plain, result.unusable[:3]))
        texts.append(f"未计入不是数值的单元格：{cells}" if zh else f"left out as no value: {cells}")
    if table.totals:
        rows = ", ".join(map(str, table.totals[:3]))
        english = f"row {rows} sums up others and is left out"
        texts.append(f"第 {rows} 行是合计，未计入" if zh else english)
    return texts


def explain_unclear_question(unclear: UnclearQuestion, language: str) -> str:
    """Return why nothing was computed."""
    table, wording = to_plain_line(unclear.table.name), _plain(unclear.wording)
    options = [_plain(one) for one in unclear.options]
    again = " / ".join(to_plain_line(one) for one in unclear.choices)
    names = [_plain(one.name) for one in unclear.table.columns]
    if language == "zh":
        if options:
            ask = f"请改问：{again}" if again else "请写明是哪一个"
            return f"在 {table} 中，“{wording}”可能指 {'、'.join(options)}，{ask}"
        if again:
            return f"没有读懂“{wording}”；如果指 {table} 的行，请改问：{again}"
        columns = f"{table} 的列是：{'、'.join(names)}"
        return f"这一问超出了能计算的范围：没有读懂“{wording}”；{columns}"
    if options:
        ask = f"ask {again}" if again else "say which is meant"
        return f"in {table}, “{wording}” could mean {_either(options)}: {ask}"
    if again:
        return f"“{wording}” was not understood; if the rows of {table} are meant, ask {again}"
    return f"“{wording}” was not understood; the columns of {table} are: {', '.join(names)}"


def explain_unfit_query(wording: str, language: str) -> str:
    """Return that a query names what its table does not have, or cannot be computed."""
    wording = _plain(wording)
    if language == "zh":
        return f"表格中没有“{wording}”，或不能这样计算"
    return f"the tables have no “{wording}”, or it cannot be computed with"


def render_same_results(names: Sequence[str], language: str) -> str:
    """Return that other tables give the same result, with the first of their names."""
    shown = [_plain(one) for one in names[:MAX_ITEMS]]
    more = len(names) - len(shown)
    if language == "zh":
        return f"{'、'.join(shown)} {f'等共 {len(names)} 个表' if more else ''}的结果相同。"
    others = f" and {pluralize(more, 'other table')}" if more else ""
    return f"The result is the same in {', '.join(shown)}{others}."


def explain_unread_tables(files: Sequence[str], language: str) -> str:
    """Return which files were too many, or too large, to be looked at."""
    shown = [_plain(one) for one in files[:MAX_ITEMS]]
    more = len(files) - len(shown)
    if language == "zh":
        rest = f"等 {len(files)} 个" if more else ""
        return f"这些文件太多或太大，没有查看：{'、'.join(shown)}{rest}。请写明文件名"
    rest = f" and {more} more" if more else ""
    return f"too many or too large to be looked at: {', '.join(shown)}{rest}; name the file"


def explain_several_tables(queries: Sequence[ParsedQuery], language: str) -> str:
    """Return that a question fits several tables."""
    zh = language == "zh"
    options = [f"{to_plain_line(one.table.name)} ({_operation(one, zh)})" for one in queries]
    if zh:
        return f"问题可以指 {'、'.join(options)}。请写明是哪个文件"
    return f"the question could be about {_either(options)}: name the file"


def _either(options: Sequence[str]) -> str:
    return " or ".join([", ".join(options[:-1]), options[-1]] if options[1:] else options)


def _answer(result: QueryResult, zh: bool) -> str:
    query = result.query
    where, table = _where(query.conditions, zh), query.table.name
    if query.group:
        return _answer_groups(result, _plain(query.group.name), zh)
    if query.operation == "share":
        return _answer_share(result, where, zh)
    if query.operation in ("count", "list"):
        return _answer_rows(result, where, zh)
    if result.used == 0:
        return _answer_none(result, zh)
    if query.operation == "lookup":
        return _answer_cells(result, where, zh)
    what = _operation(query, zh)
    rows = f"{where[1:]} 的行，" if where else ""
    ranked = query.operation in ("min", "max")
    if ranked and len({one.value for one in result.items}) > 1:
        several = len(result.items)
        if zh:
            return f"{table} 中{rows}{what}的 {several} 项是："
        return f"In {table}, the {several} rows with the {what}{where} are:"
    shown = _render_value(result.value, query) + (_name_items(result.items, zh) if ranked else "")
    return (
        f"{table} 中{rows}{what}是 {shown}。"
        if zh
        else f"In {table}, the {what}{where} is {shown}."
    )


def _answer_rows(result: QueryResult, where: str, zh: bool) -> str:
    query = result.query
    table, size, fitting = query.table.name, query.table.size, result.fitting
    rows = pluralize(size, "row")
    if not query.conditions:
        return f"{table} 共有 {size:,} 行。" if zh else f"{table} has {rows}."
    only = _plain(result.items[0].name) if len(result.items) == 1 else ""
    if zh:
        name = f"（{only}）" if only and query.operation == "list" else ""
        return f"{table} 共 {size:,} 行，其中 {fitting:,} 行满足条件{where}{name}。"
    name = f": {only}" if only and query.operation == "list" else ""
    verb = "has" if fitting == 1 else "have"
    return f"In {table}, {fitting:,} of the {rows} {verb} {where.removeprefix(' where ')}{name}."


def _answer_share(result: QueryResult, where: str, zh: bool) -> str:
    """Return a share of the rows, or of those that were chosen first."""
    query, size, fitting = result.query, result.used, result.fitting
    if size == 0:
        return _answer_none(result, zh)
    share = _round(Decimal(100 * fitting) / size, PLACES)
    base = _where(query.base, zh)
    if zh:
        chosen = f"{base[1:]} 的 {size:,} 行" if base else f"{size:,} 行"
        return f"{query.table.name} 的{chosen}中，{fitting:,} 行满足条件{where}，占 {share} %。"
    rows = f"{pluralize(size, 'row')}{base}"
    fits = where.removeprefix(" where ")
    return f"In {query.table.name}, {fitting:,} of the {rows} have {fits}: that is {share} %."


def _answer_none(result: QueryResult, zh: bool) -> str:
    """Return that no row can be computed with."""
    query = result.query
    what = f"{_operation(query, zh)}{_where([*query.base, *query.conditions], zh)}"
    if zh:
        return f"{query.table.name} 中没有可用于计算的行（{what}）。"
    return f"In {query.table.name}, no row can be used for this: {what}."


def _answer_cells(result: QueryResult, where: str, zh: bool) -> str:
    query, table = result.query, result.query.table.name
    name = _plain(query.column.name) if query.column else ""
    values = list(dict.fromkeys(_plain(str(one.value)) for one in result.items))
    if len(values) == 1:
        if zh:
            return f"{table} 中 {where[1:]} 的行，{name} 是 {values[0]}。"
        return f"In {table}, {name}{where} is {values[0]}."
    if zh:
        return f"{table} 中有 {len(result.items)} 行满足条件{where}，{name} 分别是："
    rows = pluralize(len(result.items), "row fits", "rows fit")
    return f"In {table}, {rows}{where}; their {name}:"


def _answer_groups(result: QueryResult, by: str, zh: bool) -> str:
    query, table = result.query, result.query.table.name
    where, what = _where(query.conditions, zh), _operation(query, zh, grouped=False)
    if query.extreme and result.items:
        most = _NAMES[query.extreme][zh]
        shown = f"{_render_value(result.items[0].value, query)}{_name_items(result.items, zh)}"
        if zh:
            return f"{table} 中按 {by} 分组，{what}{most}的是 {shown}。"
        return f"In {table}, the {most} {what} per {by}{where} is {shown}."
    if zh:
        return f"{table} 中按 {by} 分为 {len(result.items)} 组，各组的{what}："
    groups = pluralize(len(result.items), "group")
    return f"In {table}, the {what} per {by}{where} in {groups} is:"


def _name_items(items: Sequence[ResultItem], zh: bool) -> str:
    """Return the name of the only row or group; several follow as a list."""
    if len(items) == 1:
        name = _plain(items[0].name)
        return f"（{name}）" if zh else f" ({name})"
    if not items:
        return ""
    same = len({one.value for one in items}) == 1
    if zh:
        return f"，共有 {len(items)} 项" if same else f"；前 {len(items)} 项如下"
    return f", in {len(items)} of them" if same else f"; the first {len(items)} are listed"


def _item(item: ResultItem, query: ParsedQuery) -> str:
    name = _plain(item.name)
    return name if item.value is None else f"{name}: {_render_value(item.value, query)}"


def _operation(query: ParsedQuery, zh: bool, grouped: bool = True) -> str:
    column, name = query.column, str(query.operation)
    if column and column.kind == "date" and name in ("min", "max"):
        name = "earliest" if name == "min" else "latest"
    what = _NAMES[name][zh]
    if column and (of := _plain(column.name)):
        direct = name in ("min", "max", "earliest", "latest")
        what = f"{of} 的{what}" if zh else f"{what} {of}" if direct else f"{what} of {of}"
    if grouped and query.group:
        by = _plain(query.group.name)
        what += f"，按 {by} 分组" if zh else f" per {by}"
    return what


def _where(conditions: Sequence[Condition], zh: bool) -> str:
    """Return the conditions as they are applied: ` where section = “libs”`."""
    if not conditions:
        return ""
    texts = (" 且 " if zh else " and ").join(_condition(one, zh) for one in conditions)
    return f"{'：' if zh else ' where '}{texts}"


def _condition(one: Condition, zh: bool) -> str:
    name = _plain(one.column.name)
    if one.sign == "empty":
        return f"{name} 为空" if zh else f"{name} empty"
    if one.sign == "filled":
        return f"{name} 有值" if zh else f"{name} filled"
    if one.bound is not None:
        bound = one.bound
        shown = bound.isoformat() if isinstance(bound, date) else _format_number(bound)
        return f"{name} {one.sign} {shown}"
    sign = _SIGNS[one.sign][zh] if one.sign in _SIGNS else one.sign
    either = " 或 " if zh else " or "
    return f"{name} {sign} {either.join(f'“{_plain(text)}”' for text in one.texts)}"


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
    unit = unit.removesuffix("s") if value == 1 and unit.lower() in PLURAL_UNITS else unit
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
