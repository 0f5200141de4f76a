"""Read Excel workbooks; a place is a sheet and a range of its rows."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import column_index_from_string
from openpyxl.utils.exceptions import InvalidFileException

from config.errors import ErrorCode
from tools.files.archive import open_archive
from tools.files.formats import FileContent, FileRefused
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
    limit = _TextLimit(file.limits.text)
    for sheet in book.worksheets:
        place = make_place_namer(f"sheet={sheet.title.translate(_ESCAPES)}&rows")
        rows = make_row_pieces(limit.watch(_rows(sheet)), sheet.title)
        sections += arrange_sections(rows, place, MAX_SECTION // 2)
    return ParsedDocument(title=book.properties.title or "", sections=sections)


class _TextLimit:
    """Refuses a workbook as soon as its cells have more text than a document may have."""

    def __init__(self, limit: int) -> None:
        self._limit, self._seen = limit, 0

    def watch(self, rows: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield rows, and count their characters.

        Raises:
            FileRefused: `file_too_large`.
        """
        for row in rows:
            self._seen += sum(map(len, row))
            if self._seen > self._limit:
                what = f"it has more than {self._limit} characters of text"
                raise FileRefused(ErrorCode.FILE_TOO_LARGE, what)
            yield row


def read_workbook_grids(file: FileContent) -> list[CellGrid]:
    """Read the cells of all sheets."""
    return [make_grid(sheet.title, _rows(sheet)) for sheet in _open(file).worksheets]


def _open(file: FileContent) -> Any:
    open_archive(file).close()
    return load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)


def _rows(sheet: Any) -> Iterator[list[str]]:
    # Some programs declare wrong dimensions, and openpyxl reads only what is inside them.
    sheet.reset_dimensions()
    below = _find_merged(sheet)
    above: list[str] = []
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        row = [_render(cell) for cell in cells]
        for column in below.get(number, ()):
            row += [""] * (column + 1 - len(row))
            row[column] = row[column] or (above[column] if column < len(above) else "")
        above = row
        yield row


_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s+ref=\"([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})\"")
_PIECE = 1_000_000
_OVERLAP = 100
_MAX_MERGED = 100_000


def _find_merged(sheet: Any) -> dict[int, list[int]]:
    """Return the columns that merged cells continue from the row above, by the row.

    They stand behind the cells in a sheet, and openpyxl does not read them in this mode.
    """
    found: dict[int, list[int]] = {}
    places: set[bytes] = set()
    with sheet._get_source() as source:
        piece = source.read(_PIECE)
        while piece:
            for match in _MERGED.finditer(piece):
                column, first, last = match.groups()
                rows = range(int(first) + 1, min(int(last), int(first) + _MAX_MERGED) + 1)
                if match[0] in places or len(places) + len(rows) > _MAX_MERGED:
                    continue
                places.add(match[0])
                for row in rows:
                    found.setdefault(row, []).append(column_index_from_string(column.decode()) - 1)
            more = source.read(_PIECE)
            piece = piece[-_OVERLAP:] + more if more else b""
    return found


def _render(value: object) -> str:
    """Write a value as Excel shows it: whole numbers without a point, dates without midnight."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return "" if value is None else str(value)
