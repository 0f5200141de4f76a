"""Read CSV, TSV, JSON and JSON Lines; a place is a range of rows or lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    MAX_SECTION,
    CellGrid,
    ParsedDocument,
    make_grid,
    make_numbered_document,
    make_row_pieces,
    render_row,
)
from tools.files.text_files import make_line_sections


def read_csv(file: FileContent) -> ParsedDocument:
    """Read a table; it has no title."""
    return make_numbered_document("", make_row_pieces(_rows(file)), "rows", MAX_SECTION // 2)


def read_csv_grids(file: FileContent) -> list[CellGrid]:
    """Read the cells of a table."""
    return [make_grid("", _rows(file))]


def _rows(file: FileContent) -> Iterator[list[str]]:
    text = decode_bytes(file.data)
    csv.field_size_limit(file.limits.text)
    delimiter = "\t" if file.suffix == ".tsv" else detect_separator(text)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def detect_separator(text: str) -> str:
    """Return the character that splits most of the first lines into the same number of columns."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]

    def regularity(separator: str) -> tuple[int, int]:
        """Return how many lines have the largest count of a separator, and that count."""
        counts = [line.count(separator) for line in lines]
        most = max(counts, default=0)
        return (counts.count(most) if most else 0, most)

    return max(",;\t|", key=regularity)


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
