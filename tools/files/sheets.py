"""Read Excel workbooks; a place is a sheet and a range of its rows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from tools.files.archive import open_archive
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    MAX_SECTION,
    CellGrid,
    DocumentSection,
    ParsedDocument,
    arrange_sections,
    make_grid,
    make_place_namer,
    make_row_pieces,
)

BROKEN = (InvalidFileException,)
"""What openpyxl raises on damaged files."""

_ESCAPES = str.maketrans({"%": "%25", "&": "%26", "#": "%23", " ": "%20"})


def read_workbook(file: FileContent) -> ParsedDocument:
    """Read the values of all sheets; a formula has the value it had when last saved."""
    book = _open(file)
    sections: list[DocumentSection] = []
    for sheet in book.worksheets:
        place = make_place_namer(f"sheet={sheet.title.translate(_ESCAPES)}&rows")
        rows = make_row_pieces(_rows(sheet), sheet.title)
        sections += arrange_sections(rows, place, MAX_SECTION // 2)
    return ParsedDocument(title=book.properties.title or "", sections=sections)


def read_workbook_grids(file: FileContent) -> list[CellGrid]:
    """Read the cells of all sheets."""
    return [make_grid(sheet.title, _rows(sheet)) for sheet in _open(file).worksheets]


def _open(file: FileContent) -> Any:
    open_archive(file).close()
    return load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)


def _rows(sheet: Any) -> Iterator[list[str]]:
    # Some programs declare wrong dimensions, and openpyxl reads only what is inside them.
    sheet.reset_dimensions()
    for cells in sheet.iter_rows(values_only=True):
        yield [_render(cell) for cell in cells]


def _render(value: object) -> str:
    """Write a value as Excel shows it: whole numbers without a point, dates without midnight."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return "" if value is None else str(value)
