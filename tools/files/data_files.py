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
    MOST_IN_SECTION,
    CellGrid,
    DocumentPiece,
    ParsedDocument,
    arrange_sections,
    make_place_namer,
    render_row,
)
from tools.files.text_files import make_line_sections

HEADER_WITHIN = 5
"""A table to compute with has its header in one of its first rows that hold anything."""


def read_csv(file: FileContent) -> ParsedDocument:
    """Read a table; it has no title."""
    return ParsedDocument(
        title="",
        sections=arrange_sections(
            make_row_pieces(_rows(file)), make_place_namer("rows"), MOST_IN_SECTION // 2
        ),
    )


def read_csv_grids(file: FileContent) -> list[CellGrid]:
    """Read the cells of a table."""
    return [make_grid("", _rows(file))]


def make_grid(name: str, rows: Iterable[list[str]]) -> CellGrid:
    """Return the cells of rows below their header."""
    header: list[str] = []
    kept: list[tuple[int, list[str]]] = []
    for number, raw in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in raw]
        if not header and len(kept) < HEADER_WITHIN and _is_header(cells):
            header, kept = cells, []
        elif any(cells):
            kept.append((number, cells))
    return CellGrid(name, header, kept)


def _rows(file: FileContent) -> Iterator[list[str]]:
    text = decode_bytes(file.data)
    csv.field_size_limit(file.limits.text)
    mark = "\t" if file.suffix == ".tsv" else detect_separator(text)
    return csv.reader(io.StringIO(text, newline=""), delimiter=mark)


def detect_separator(text: str) -> str:
    """Return what separates the columns: the mark that most often splits lines alike."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]

    def likeness(mark: str) -> tuple[int, int]:
        counts = [line.count(mark) for line in lines]
        most = max(counts, default=0)
        return (counts.count(most) if most else 0, most)

    return max(",;\t|", key=likeness)


def make_row_pieces(rows: Iterable[list[str]]) -> Iterator[DocumentPiece]:
    """Yield each row as a sentence; the first with two or more cells is the header."""
    header: list[str] = []
    for number, raw in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in raw]
        if not header and _is_header(cells):
            header = cells
        elif any(cells):
            yield DocumentPiece("", str(number), str(number), render_row(header, cells) + "\n")


def _is_header(cells: list[str]) -> bool:
    return sum(map(bool, cells)) > 1 and not any(map(_number, cells))


def _number(cell: str) -> bool:
    """Tell whether a cell is a number, which no header is; years as headers are too rare."""
    return cell.replace(".", "", 1).replace(",", "").lstrip("-+").isdecimal()


_WIDEST = 2_000


def read_json(file: FileContent) -> ParsedDocument:
    """Read JSON as text, one record of JSON Lines as a row; what does not parse is kept as it is.

    A file without line ends is laid out anew, and its places count the lines of that layout.
    """
    text = decode_bytes(file.data)
    if file.suffix == ".jsonl":
        text = "\n".join(_record(line) for line in text.splitlines())
    elif max(map(len, text.splitlines()), default=0) > _WIDEST:
        text = _laid_out(text)
    return ParsedDocument(title="", sections=make_line_sections(text))


def _record(line: str) -> str:
    value = _parsed(line)
    if not isinstance(value, dict):
        return line
    cells = [item if isinstance(item, str) else _dumped(item) for item in value.values()]
    return render_row([str(name) for name in value], [" ".join(cell.split()) for cell in cells])


def _laid_out(text: str) -> str:
    value = _parsed(text)
    return text if value is None else json.dumps(value, ensure_ascii=False, indent=1)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
