"""The tables of a numbered report, as plain cells with their citations."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from report.markdown.markdown_blocks import MarkdownBlock, parse_blocks, split_cells
from report.pictures.cited_text import CitedText, read_cited_text
from report.pictures.quantity_cells import parse_cell
from text.regex import regex

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""A spreadsheet takes a cell that begins so for a formula; wide signs where it is Chinese."""

_EDGE = regex(r"^\|(?=\|)|\|(?=\|$)")
_NAME_WORD = regex(r"[^\W_]+")
_MAX_NAME = 60  # characters, without the suffix
_BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads no UTF-8


class ReportTable(NamedTuple):
    """A table with its head."""

    end: int
    """The place behind its last row, among the blocks of the body."""
    section: str
    """The heading that it stands below; may be empty."""
    head: list[str]
    rows: list[list[CitedText]]
    """As many cells as the head has, in each row."""

    def get_column(self, at: int) -> list[CitedText]:
        """Return the cells of a column."""
        return [row[at] for row in self.rows]


def list_report_tables(body: str) -> list[ReportTable]:
    """Return the tables of a numbered body, in order; rows without a head are none."""
    return list(_iter_tables(parse_blocks(body)))


def _iter_tables(blocks: Sequence[MarkdownBlock]) -> Iterator[ReportTable]:
    section, rows = "", list[str]()
    for at, block in enumerate([*blocks, MarkdownBlock("blank", "", "")]):
        if block.kind == "row":
            rows.append(block.text)
            continue
        if len(rows) > 2 and _is_separator(rows[1]):
            head, *cells = [_read_row(row) for row in rows]
            names = [one.words for one in head]
            filled = [_fill(row, len(names)) for row in cells[1:]]
            yield ReportTable(at, section, names, filled)
        rows = []
        if block.kind == "heading":
            section = read_cited_text(block.text).words


def _is_separator(row: str) -> bool:
    return "-" in row and not row.strip("|:- \t")


def _read_row(row: str) -> list[CitedText]:
    """Return the cells of a row, the first and the last one also if they are empty."""
    return [*map(read_cited_text, split_cells(_EDGE.sub(r"\g<0> ", row.strip())))]


def _fill(row: Sequence[CitedText], columns: int) -> list[CitedText]:
    """Return a row with exactly some cells, as a page shows it."""
    return [*row[:columns], *[CitedText("")] * (columns - len(row))]


def write_csv(table: ReportTable) -> str:
    """Return a table as CSV (RFC 4180) without citations, which spreadsheets open as text.

    A cell that a spreadsheet would take for a formula begins with an apostrophe, unless it is a
    number.
    """
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(map(_guard, table.head))
    rows.writerows([_guard(cell.words) for cell in row] for row in table.rows)
    return _BYTE_ORDER_MARK + written.getvalue()


def name_csv(table: ReportTable, number: int) -> str:
    """Return a name for the file of a table, by its number in the report and its heading."""
    words = _NAME_WORD.findall(table.section)
    return "-".join(["table", str(number), *words])[:_MAX_NAME].rstrip("-") + ".csv"


def _guard(cell: str) -> str:
    is_formula = cell.startswith(_FORMULA_SIGNS) and parse_cell(cell) is None
    return f"'{cell}" if is_formula else cell
