"""Read CSV, TSV, JSON and JSON Lines; a place is a range of rows or lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    MAX_SECTION,
    CellGrid,
    DocumentPiece,
    ParsedDocument,
    make_numbered_document,
    number_piece,
    render_row,
)
from tools.files.text_files import make_line_sections

HEADER_WITHIN = 5
"""The header of a table to compute with is among its first five rows that are not empty."""


def read_csv(file: FileContent) -> ParsedDocument:
    """Read a table; it has no title."""
    return make_numbered_document("", make_row_pieces(_rows(file)), "rows", MAX_SECTION // 2)


def read_csv_grids(file: FileContent) -> list[CellGrid]:
    """Read the cells of a table."""
    return [make_grid("", _rows(file))]


def make_grid(name: str, rows: Iterable[list[str]]) -> CellGrid:
    """Return the cells of the rows below their header."""
    header: list[str] = []
    body: list[tuple[int, list[str]]] = []
    for number, cells in _numbered(rows):
        if not header and len(body) < HEADER_WITHIN and _is_header(cells):
            header, body = cells, []
        else:
            body.append((number, cells))
    return CellGrid(name, header, body)


def make_row_pieces(rows: Iterable[list[str]], title: str = "") -> Iterator[DocumentPiece]:
    """Yield each row as a sentence; the first with two or more cells is the header."""
    header: list[str] = []
    for number, cells in _numbered(rows):
        if not header and _is_header(cells):
            header = cells
        else:
            yield number_piece(number, render_row(header, cells) + "\n", title)


def _numbered(rows: Iterable[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty with their numbers, from 1."""
    for number, row in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            yield number, cells


def _rows(file: FileContent) -> Iterator[list[str]]:
    text = decode_bytes(file.data)
    csv.field_size_limit(file.limits.text)
    delimiter = "\t" if file.suffix == ".tsv" else detect_separator(text)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def detect_separator(text: str) -> str:
    """Return the character that splits most of the first lines into the same number of columns."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]

    def regularity(separator: str) -> tuple[int, int]:
        counts = [line.count(separator) for line in lines]
        most = max(counts, default=0)
        return (counts.count(most) if most else 0, most)

    return max(",;\t|", key=regularity)


def _is_header(cells: list[str]) -> bool:
    """Tell whether a row has several cells and none is a number; years in a header are too rare."""
    bare = [cell.replace(".", "", 1).replace(",", "").lstrip("-+") for cell in cells]
    return sum(map(bool, cells)) > 1 and not any(map(str.isdecimal, bare))


_MAX_LINE = 2_000


def read_json(file: FileContent) -> ParsedDocument:
    """Read JSON as text and a record of JSON Lines as a row; invalid JSON stays as it is.

    A file with very long lines is reformatted, and its places count the lines of the new layout.
    """
    text = decode_bytes(file.data)
    if file.suffix == ".jsonl":
        text = "\n".join(_render_record(line) for line in text.splitlines())
    elif max(map(len, text.splitlines()), default=0) > _MAX_LINE:
        value = _parse_json(text)
        text = text if value is None else json.dumps(value, ensure_ascii=False, indent=1)
    return ParsedDocument(title="", sections=make_line_sections(text))


def _render_record(line: str) -> str:
    record = _parse_json(line)
    if not isinstance(record, dict):
        return line
    cells = [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in record.values()
    ]
    return render_row(list(record), [" ".join(cell.split()) for cell in cells])


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
