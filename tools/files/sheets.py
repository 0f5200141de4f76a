"""Read Excel workbooks; a place is a sheet and a range of its rows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from tools.files.archive import unpack
from tools.files.sections import MOST, arrange, numbered
from tools.files.shapes import Document, File, Grid, Section
from tools.files.table import as_pieces, grid

BROKEN = (InvalidFileException,)
"""What openpyxl raises on damaged files."""

_ESCAPES = str.maketrans({"%": "%25", "&": "%26", "#": "%23", " ": "%20"})


def read(file: File) -> Document:
    """Read the values of all sheets; formulas count as the value they had when last saved."""
    unpack(file).close()
    book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
    sections = [section for sheet in book.worksheets for section in _sheet(sheet)]
    return Document(title=book.properties.title or "", sections=sections)


def grids(file: File) -> list[Grid]:
    """Read the cells of all sheets."""
    unpack(file).close()
    book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
    return [grid(sheet.title, _rows(sheet)) for sheet in book.worksheets]


def _sheet(sheet: Any) -> list[Section]:
    place = numbered(f"sheet={sheet.title.translate(_ESCAPES)}&rows")
    return [
        Section(title=sheet.title, place=section["place"], text=section["text"])
        for section in arrange(as_pieces(_rows(sheet)), place, MOST // 2)
    ]


def _rows(sheet: Any) -> Iterator[list[str]]:
    # Some programs write a wrong size, and only what is inside it would be read.
    sheet.reset_dimensions()
    for cells in sheet.iter_rows(values_only=True):
        yield [_text(cell) for cell in cells]


def _text(value: object) -> str:
    """Write a value as Excel shows it: whole numbers without a point, dates without midnight."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return "" if value is None else str(value)
