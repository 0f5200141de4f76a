"""Find the rows of a table that sum up others, so that nothing is counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate

from text.regex import regex
from text.script import CJK
from tools.tables.cell_values import fold_cell, parse_number

NumberedRow = tuple[int, Sequence[str]]
"""The number of a row in its file, and its cells."""

_SUM = (
    r"(?:grand[ -]?|sub[ -]?)?totals?|totale|sum|overall|total g[eé]n[eé]ral|sous-total|suma"
    r"|gesamt(?:summe|ergebnis)?|(?:zwischen|end)?summe|insgesamt"
    r"|合计|总计|小计|总和|共计|合計|總計|小計|總和|共計"
)
_TOTAL = regex(rf"(?:{_SUM})")
_MAYBE_TOTAL = regex(rf"(?:{_SUM}|all|sum of)\b.+|.+\b(?:{_SUM})|.*[合总小總][计計]")
_MEAN = regex(r"average|avg\.?|mean|durchschnitt|moyenne|平均[值数]?")
_PART = regex(r"sub|sous|zwischen|小[计計]")
_HINT = regex(
    r"(?i)\ball\b|total|sum|overall|gesamt|average|avg|mean|durchschnitt|moyenne|[计計和均]"
)
_INSIDE_CHINESE = regex(f"(?<=[{CJK}]) +(?=[{CJK}])")

MOST_COMPARED = 1_000_000
"""So many rows at the most are gone through for all rows that may be sums."""

MOST_UNNAMED = 5_000
"""In a table with no more rows, the last one may be a sum whatever it is called."""

CLOSE = Decimal("0.005")
"""How far a mean may be from the exact one, as a share of it: it is often rounded."""


def find_total_rows(rows: Sequence[NumberedRow]) -> list[int]:
    """Return the numbers of the rows that sum up others, in their order.

    A row is one if its first cell is a word for it, such as `Total`. One that may be called so by
    chance (`Total Austria`, `All shops`, a second cell, no name at all) is one if a number of it
    is the sum of the rows above it, or of all others.
    """
    found = {at for at in range(len(rows)) if _TOTAL.fullmatch(_label(rows[at][1]))}
    places = [at for at in range(len(rows)) if at not in found]
    maybe = [at for at in places if _may_sum_up(rows, at)]
    if len(rows) <= MOST_UNNAMED:
        maybe = [*dict.fromkeys([*maybe, *places[-1:]])]
    columns: list[list[Decimal | None]] = []
    for at in maybe[-max(MOST_COMPARED // max(len(rows), 1), 1) :]:
        columns = columns or _parse_columns([cells for _, cells in rows])
        if _sums_up(rows, at, columns, found):
            found.add(at)
    return [rows[at][0] for at in sorted(found)]


def _label(cells: Sequence[str]) -> str:
    return _fold(next(filter(None, cells), ""))


def _fold(cell: str) -> str:
    """Return a name that may be one of a sum in the form for comparisons; else nothing."""
    if not _HINT.search(cell):
        return ""
    return _INSIDE_CHINESE.sub("", fold_cell(cell).strip(" :*"))


def _name(rows: Sequence[NumberedRow], at: int) -> str:
    """Return what a row is called: in a group that the row above is in, by its second cell."""
    cells = rows[at][1]
    if at and cells[0] and cells[:1] == rows[at - 1][1][:1]:
        return _label(cells[1:])
    return _label(cells)


def _is_bare(cells: Sequence[str]) -> bool:
    """Tell whether a row has nothing but numbers, and no first cell."""
    return not cells[0] and all(not cell or parse_number(cell) for cell in cells)


def _may_sum_up(rows: Sequence[NumberedRow], at: int) -> bool:
    name = _name(rows, at)
    named = bool(name) and any(one.fullmatch(name) for one in (_TOTAL, _MAYBE_TOTAL, _MEAN))
    return named or _is_bare(rows[at][1])


def _parse_columns(rows: Sequence[Sequence[str]]) -> list[list[Decimal | None]]:
    """Return the numbers of each column, row by row; `None` for a cell that is none."""
    width = max(map(len, rows))
    columns: list[list[Decimal | None]] = [[None] * len(rows) for _ in range(width)]
    for at, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell and (number := parse_number(cell)):
                columns[column][at] = number.value
    return columns


def _sums_up(
    rows: Sequence[NumberedRow],
    at: int,
    columns: Sequence[Sequence[Decimal | None]],
    found: set[int],
) -> bool:
    """Tell whether the numbers of a row are those of others taken together."""
    name = _name(rows, at)
    above, others, numbers = [], [], []
    for column in (one for one in columns if one[at]):
        values = [(n, one) for n, one in enumerate(column) if one is not None and n not in found]
        above.append([one for n, one in values if n < at])
        others.append([one for n, one in values if n != at])
        numbers.append(column[at] or Decimal(0))
    if not numbers or len(rows) - len(found) <= 2:
        return False
    of_all = sum(map(_is_sum, numbers, others))
    if _MEAN.fullmatch(name):
        return all(map(_is_mean, numbers, above)) or all(map(_is_mean, numbers, others))
    if _is_bare(rows[at][1]):
        return of_all == len(numbers)
    if _may_sum_up(rows, at):
        least = 1 if _PART.match(name) else 2
        pairs = zip(numbers, above, strict=True)
        return of_all > 0 or any(_ends_in(number, values, least) for number, values in pairs)
    # By chance a single number is the sum of a few others, several at once are not.
    return len(others[0]) > 2 and of_all == len(numbers) > 1


def _is_sum(number: Decimal, values: Sequence[Decimal]) -> bool:
    return len(values) > 1 and sum(values) == number


def _is_mean(number: Decimal, values: Sequence[Decimal]) -> bool:
    """Tell whether a number is the mean of some values, rounded or not."""
    some = len(values) > 1
    return some and abs(sum(values, Decimal(0)) / len(values) - number) <= CLOSE * abs(number)


def _ends_in(number: Decimal, values: Sequence[Decimal], least: int) -> bool:
    """Tell whether the last ones of some values add up to a number."""
    sums = accumulate(reversed(values))
    return any(size >= least and one == number for size, one in enumerate(sums, 1))
