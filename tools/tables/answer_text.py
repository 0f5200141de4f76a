"""Say what was computed, over which rows and how, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from text.pluralization import pluralize
from tools.computed_pages import to_plain_line
from tools.tables.query import CellValue, ParsedQuery, QueryResult, ResultItem
from tools.tables.query_builder import UnclearQuestion
from tools.tables.typed_table import Condition

SHOWN = 20
"""How many rows or groups are named at the most."""

LONGEST = 120
"""How much of a cell is shown, in characters."""

UNITLESS = ("count", "share", "distinct", "list")
"""What is computed in rows or values, whatever the unit of the column."""

SIGNS_BEFORE = ("$", "€", "£", "¥", "￥", "₹")
"""The signs of money that stand before the number."""

SPELT_OUT = frozenset(
    [
        "seconds",
        "minutes",
        "hours",
        "days",
        "weeks",
        "months",
        "years",
        "pages",
        "words",
        "points",
        "metres",
        "meters",
        "miles",
        "grams",
        "kilograms",
        "tonnes",
        "litres",
        "liters",
        "pieces",
        "euros",
        "dollars",
        "pounds",
        "degrees",
        "items",
        "units",
        "parts",
    ]
)
"""Units in words, of which a single one has no `s`."""

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
    named = [_item(one, result.query) for one in result.items[:SHOWN]]
    several = len(result.items) > 1 and result.query.operation != "distinct"
    lines = [_said(result, zh), *([f"- {one}" for one in named] if several else [])]
    if several and len(result.items) > SHOWN:
        more = len(result.items) - SHOWN
        lines.append(f"- 另有 {more} 项" if zh else f"- and {more} more")
    return "\n".join([*lines, _basis(result, zh)])


def render_query_title(reading: ParsedQuery, language: str) -> str:
    """Return what a computation is called in a list of sources."""
    zh = language == "zh"
    what = f"{_operation(reading, zh)}{_where(reading.conditions, zh)}"
    return (
        f"{reading.table.name}，计算：{what}" if zh else f"{reading.table.name}, computed: {what}"
    )


def _basis(result: QueryResult, zh: bool) -> str:
    """Return which rows were computed with, and which were left out and why."""
    table = result.query.table
    first, last = table.numbers[0], table.numbers[-1]
    what = f"{_operation(result.query, zh)}{_where(result.query.conditions, zh)}"
    if result.query.base:
        what += f"{'，总体' if zh else ', of those'}{_where(result.query.base, zh)}"
    if zh:
        used = f"共 {table.size} 行，用了 {result.used} 行"
        said = f"依据 {table.name} 第 {first}–{last} 行计算：{what}；{used}"
    else:
        said = (
            f"Computed over rows {first}–{last} of {table.name}: {what}; "
            f"{result.used} of {pluralize(table.size, 'row')} used"
        )
    left = _left_out(result, zh)
    return said + "".join(f"{'；' if zh else '; '}{one}" for one in left) + ("。" if zh else ".")


def explain_unclear_question(unclear: UnclearQuestion, language: str) -> str:
    """Return why nothing was computed."""
    table, said = to_plain_line(unclear.table.name), _plain(unclear.wording)
    options = [_plain(one) for one in unclear.options]
    again = " / ".join(to_plain_line(one) for one in unclear.choices)
    if language == "zh":
        if options:
            return f"在 {table} 中，“{said}”可能指 {'、'.join(options)}" + (
                f"，请改问：{again}" if again else "，请写明是哪一个"
            )
        if again:
            return f"没有读懂“{said}”；如果指 {table} 的行，请改问：{again}"
        known = "、".join(_plain(one.name) for one in unclear.table.columns)
        return f"这一问超出了能计算的范围：没有读懂“{said}”；{table} 的列是：{known}"
    if options:
        return f"in {table}, “{said}” could mean {_either(options)}: " + (
            f"ask {again}" if again else "say which is meant"
        )
    if again:
        return f"“{said}” was not understood; if the rows of {table} are meant, ask {again}"
    known = ", ".join(_plain(one.name) for one in unclear.table.columns)
    return f"“{said}” was not understood; the columns of {table} are: {known}"


def explain_unfit_query(said: str, language: str) -> str:
    """Return that a query names what its table does not have, or cannot be computed."""
    said = _plain(said)
    return (
        f"表格中没有“{said}”，或不能这样计算"
        if language == "zh"
        else (f"the tables have no “{said}”, or it cannot be computed with")
    )


def render_same_results(names: Sequence[str], language: str) -> str:
    """Return that other tables say the same, with their names as far as there is room."""
    shown = [_plain(one) for one in names[:SHOWN]]
    if language == "zh":
        more = f"等共 {len(names)} 个表" if len(names) > SHOWN else ""
        return f"{'、'.join(shown)} {more}的结果相同。"
    more = f" and {pluralize(len(names) - SHOWN, 'other table')}" if len(names) > SHOWN else ""
    return f"The result is the same in {', '.join(shown)}{more}."


def explain_unread_tables(files: Sequence[str], language: str) -> str:
    """Return which files were too many, or too large, to be looked at."""
    shown = [_plain(one) for one in files[:SHOWN]]
    more = len(files) - len(shown)
    if language == "zh":
        rest = f"等 {len(files)} 个" if more else ""
        return f"这些文件太多或太大，没有查看：{'、'.join(shown)}{rest}。请写明文件名"
    rest = f" and {more} more" if more else ""
    return f"too many or too large to be looked at: {', '.join(shown)}{rest}; name the file"


def _either(options: Sequence[str]) -> str:
    return " or ".join([", ".join(options[:-1]), options[-1]] if options[1:] else options)


def explain_several_tables(readings: Sequence[ParsedQuery], language: str) -> str:
    """Return that a question can be read over several tables."""
    meant = [
        f"{to_plain_line(one.table.name)} ({_operation(one, language == 'zh')})" for one in readings
    ]
    if language == "zh":
        return f"问题可以指 {'、'.join(meant)}。请写明是哪个文件"
    return f"the question could be about {_either(meant)}: name the file"


def _said(result: QueryResult, zh: bool) -> str:
    reading = result.query
    where, table = _where(reading.conditions, zh), reading.table.name
    if reading.group:
        return _of_groups(result, zh)
    if reading.operation in ("count", "list", "share"):
        return _of_rows(result, where, zh)
    if result.used == 0:
        return _none(result, zh)
    if reading.operation == "lookup":
        return _of_cells(result, where, zh)
    what = _operation(reading, zh)
    shown = _shown(result.value, reading)
    tail = _named(result.items, zh) if reading.operation in ("min", "max") else ""
    if reading.operation in ("min", "max") and len({one.value for one in result.items}) > 1:
        return _of_first(result, what, where, zh)
    if zh:
        return f"{table} 中{where[1:] + ' 的行，' if where else ''}{what}是 {shown}{tail}。"
    return f"In {table}, the {what}{where} is {shown}{tail}."


def _of_first(result: QueryResult, what: str, where: str, zh: bool) -> str:
    """Return what leads on to the list of the largest or smallest."""
    name, many = result.query.table.name, len(result.items)
    if zh:
        return f"{name} 中{where[1:] + ' 的行，' if where else ''}{what}的 {many} 项是："
    return f"In {name}, the {many} rows with the {what}{where} are:"


def _of_rows(result: QueryResult, where: str, zh: bool) -> str:
    reading = result.query
    table, size, fitting = reading.table.name, reading.table.size, result.fitting
    rows = pluralize(size, "row")
    if reading.operation == "share":
        return _of_share(result, where, zh)
    if not reading.conditions:
        return f"{table} 共有 {size:,} 行。" if zh else f"{table} has {rows}."
    if zh:
        named = _tail(result.items, zh) if reading.operation == "list" else ""
        return f"{table} 共 {size:,} 行，其中 {fitting:,} 行满足条件{where}{named}。"
    named = _tail(result.items, zh) if reading.operation == "list" else ""
    verb = "has" if fitting == 1 else "have"
    return f"In {table}, {fitting:,} of the {rows} {verb} {where.removeprefix(' where ')}{named}."


def _of_share(result: QueryResult, where: str, zh: bool) -> str:
    """Return a share of the rows, or of those that were chosen first."""
    reading, of, fitting = result.query, result.used, result.fitting
    if of == 0:
        return _none(result, zh)
    share = _rounded(Decimal(100 * fitting) / of, PLACES)
    base = _where(reading.base, zh)
    if zh:
        chosen = f"{base[1:]} 的 {of:,} 行" if base else f"{of:,} 行"
        return f"{reading.table.name} 的{chosen}中，{fitting:,} 行满足条件{where}，占 {share} %。"
    rows = f"{pluralize(of, 'row')}{base}"
    fits = where.removeprefix(" where ")
    return f"In {reading.table.name}, {fitting:,} of the {rows} have {fits}: that is {share} %."


def _none(result: QueryResult, zh: bool) -> str:
    """Return that no row can be computed with."""
    reading = result.query
    what = f"{_operation(reading, zh)}{_where([*reading.base, *reading.conditions], zh)}"
    table = reading.table.name
    return (
        f"{table} 中没有可用于计算的行（{what}）。"
        if zh
        else f"In {table}, no row can be used for this: {what}."
    )


def _of_cells(result: QueryResult, where: str, zh: bool) -> str:
    reading = result.query
    name = _plain(reading.column.name) if reading.column else ""
    values = dict.fromkeys(_plain(str(one.value)) for one in result.items)
    if len(values) == 1:
        shown = next(iter(values))
        if zh:
            return f"{reading.table.name} 中 {where[1:]} 的行，{name} 是 {shown}。"
        return f"In {reading.table.name}, {name}{where} is {shown}."
    if zh:
        return f"{reading.table.name} 中有 {len(result.items)} 行满足条件{where}，{name} 分别是："
    rows = pluralize(len(result.items), "row fits", "rows fit")
    return f"In {reading.table.name}, {rows}{where}; their {name}:"


def _of_groups(result: QueryResult, zh: bool) -> str:
    reading = result.query
    by = _plain(reading.group.name) if reading.group else ""
    where, what = _where(reading.conditions, zh), _operation(reading, zh, grouped=False)
    if reading.extreme and result.items:
        most = _NAMES[reading.extreme][zh]
        shown = _shown(result.items[0].value, reading)
        tail = _named(result.items, zh)
        if zh:
            return f"{reading.table.name} 中按 {by} 分组，{what}{most}的是 {shown}{tail}。"
        return f"In {reading.table.name}, the {most} {what} per {by}{where} is {shown}{tail}."
    if zh:
        return f"{reading.table.name} 中按 {by} 分为 {len(result.items)} 组，各组的{what}："
    groups = pluralize(len(result.items), "group")
    return f"In {reading.table.name}, the {what} per {by}{where} in {groups} is:"


def _named(items: Sequence[ResultItem], zh: bool) -> str:
    """Return the one row or group that is meant; several follow as a list."""
    if len(items) == 1:
        name = _plain(items[0].name)
        return f"（{name}）" if zh else f" ({name})"
    if not items:
        return ""
    level = len({one.value for one in items}) == 1
    if zh:
        return f"，共有 {len(items)} 项" if level else f"；前 {len(items)} 项如下"
    return f", in {len(items)} of them" if level else f"; the first {len(items)} are listed"


def _tail(items: Sequence[ResultItem], zh: bool) -> str:
    return (
        f"（{_plain(items[0].name)}）"
        if zh and len(items) == 1
        else (f": {_plain(items[0].name)}" if len(items) == 1 else "")
    )


def _item(item: ResultItem, reading: ParsedQuery) -> str:
    name = _plain(item.name)
    return name if item.value is None else f"{name}: {_shown(item.value, reading)}"


def _operation(reading: ParsedQuery, zh: bool, grouped: bool = True) -> str:
    column = reading.column
    name = reading.operation
    if column and column.kind == "date" and name in ("min", "max"):
        name = "earliest" if name == "min" else "latest"  # type: ignore[assignment]
    what = _NAMES[name][zh]
    of = _plain(column.name) if column else ""
    if of:
        direct = name in ("min", "max", "earliest", "latest")
        what = f"{of} 的{what}" if zh else f"{what} {of}" if direct else f"{what} of {of}"
    if grouped and reading.group:
        by = _plain(reading.group.name)
        what += f"，按 {by} 分组" if zh else f" per {by}"
    return what


def _where(conditions: Sequence[Condition], zh: bool) -> str:
    """Return the conditions as they are applied: ` where section = “libs”`."""
    if not conditions:
        return ""
    joined = " 且 " if zh else " and "
    return ("：" if zh else " where ") + joined.join(_condition(one, zh) for one in conditions)


def _condition(one: Condition, zh: bool) -> str:
    """Return one condition in words."""
    name = _plain(one.column.name)
    if one.sign == "empty":
        return f"{name} 为空" if zh else f"{name} empty"
    if one.sign == "filled":
        return f"{name} 有值" if zh else f"{name} filled"
    if one.bound is not None:
        return f"{name} {one.sign} {_shown_bound(one.bound)}"
    sign = _SIGNS[one.sign][zh] if one.sign in _SIGNS else one.sign
    either = " 或 " if zh else " or "
    return f"{name} {sign} {either.join(f'“{_plain(text)}”' for text in one.texts)}"


def _left_out(result: QueryResult, zh: bool) -> list[str]:
    column, table = result.query.column or result.query.group, result.query.table
    name = _plain(column.name) if column else ""
    said = []
    if result.empty:
        said.append(
            f"{result.empty} 行的 {name} 为空，未计入"
            if zh
            else f"{result.empty} left out because {name} is empty"
        )
    if result.unusable:
        held = ", ".join(_plain(one) for one in result.unusable[:3])
        said.append(f"未计入不是数值的单元格：{held}" if zh else f"left out as no value: {held}")
    if table.totals:
        at = ", ".join(map(str, table.totals[:3]))
        said.append(
            f"第 {at} 行是合计，未计入" if zh else f"row {at} sums up others and is left out"
        )
    return said


def _shown(value: CellValue | None, reading: ParsedQuery) -> str:
    if not isinstance(value, Decimal):
        return _plain(str(value)) if value is not None else ""
    column = reading.column
    unit = column.unit if column and reading.operation not in UNITLESS else ""
    return format_quantity(value, unit or "")


def format_quantity(value: Decimal, unit: str) -> str:
    """Return a number with its unit, such as `$60,000` or `1 day`."""
    if unit in SIGNS_BEFORE:
        return f"{'-' * (value < 0)}{unit}{_format_number(abs(value))}"
    one = unit.removesuffix("s") if value == 1 and unit.lower() in SPELT_OUT else unit
    return f"{_format_number(value)} {one}".rstrip()


def _format_number(value: Decimal) -> str:
    """Return a number with thousands separators, rounded where it has more decimals than help."""
    shown = value if value.as_tuple().exponent in range(-6, 1) else _rounded(value, PLACES)
    if shown == shown.to_integral_value():
        return f"{int(shown):,}" if abs(shown) >= 10_000 else f"{int(shown)}"
    return f"{shown.normalize():,f}" if abs(shown) >= 10_000 else f"{shown.normalize():f}"


def _rounded(value: Decimal, places: int) -> Decimal:
    """Return a number with some decimals; a small one keeps as many digits that say something."""
    if value and abs(value) < 1:
        places += -value.adjusted() - 1
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _shown_bound(bound: Decimal | date) -> str:
    return _format_number(bound) if isinstance(bound, Decimal) else bound.isoformat()


def _plain(text: str) -> str:
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return to_plain_line(short)
