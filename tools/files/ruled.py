"""Read tables that are drawn with lines: a row is one line, however many its cells take."""

from __future__ import annotations

from collections.abc import Iterator

from retrieval.regex import regex

_RULE = regex(r"\s*[┌├└╔╠╚╟┏┣┗╒╞╘][─═━┬┼┴╦╬╩╤╪╧╥╫╨┳╋┻╭╮╰╯┐┤┘╗╣╝╢┓┫┛╕╡╛]*\s*$")
_ROW = regex(r"\s*[│║┃].*[│║┃]\s*$")
_CELL = regex(r"[│║┃]")
_INNER = regex(r"\s*[├╠╟┣╞]")


def unruled(lines: list[str]) -> list[str]:
    """Return the lines of a text with each row of its ruled tables as one line, `| a | b |`.

    Where more than the head is parted by a rule, a row is all between two rules; elsewhere a line
    goes on with the row above it if its first cell is empty.
    """
    if not any(_ROW.match(line) for line in lines):
        return lines
    parted = sum(bool(_INNER.match(line)) for line in lines) > 1
    return list(_rows(lines, parted))


def _rows(lines: list[str], parted: bool) -> Iterator[str]:
    row: list[str] = []
    for line in lines:
        cells = _cells(line)
        if row and len(cells) == len(row) and (parted or not cells[0]):
            row = [f"{above} {cell}".strip() for above, cell in zip(row, cells, strict=True)]
            continue
        if row:
            yield f"| {' | '.join(row)} |"
        row = cells
        if not cells and not _RULE.match(line):
            yield line
    if row:
        yield f"| {' | '.join(row)} |"


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a ruled table; none of any other."""
    return [one.strip() for one in _CELL.split(line.strip())[1:-1]] if _ROW.match(line) else []
