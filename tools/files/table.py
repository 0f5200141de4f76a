"""Read CSV and TSV files; a place is a range of rows, of which the header is the first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from tools.files.decode import decode
from tools.files.outline import row
from tools.files.sections import MOST, Piece, arrange, numbered
from tools.files.shapes import Document, File, Grid

HEADER_WITHIN = 5
"""A table to compute with has its header in one of its first rows that hold anything."""


def read(file: File) -> Document:
    """Read a table; it has no title."""
    return Document(title="", sections=arrange(as_pieces(_rows(file)), numbered("rows"), MOST // 2))


def grids(file: File) -> list[Grid]:
    """Read the cells of a table."""
    return [grid("", _rows(file))]


def grid(name: str, rows: Iterable[list[str]]) -> Grid:
    """Return the cells of rows below their header."""
    header: list[str] = []
    kept: list[tuple[int, list[str]]] = []
    for number, raw in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in raw]
        if not header and len(kept) < HEADER_WITHIN and _is_header(cells):
            header, kept = cells, []
        elif any(cells):
            kept.append((number, cells))
    return Grid(name, header, kept)


def _rows(file: File) -> Iterator[list[str]]:
    text = decode(file.data)
    csv.field_size_limit(file.limits.text)
    mark = "\t" if file.suffix == ".tsv" else separator(text)
    return csv.reader(io.StringIO(text, newline=""), delimiter=mark)


def separator(text: str) -> str:
    """Return what separates the columns: the mark that most often splits lines alike."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]

    def likeness(mark: str) -> tuple[int, int]:
        counts = [line.count(mark) for line in lines]
        most = max(counts, default=0)
        return (counts.count(most) if most else 0, most)

    return max(",;\t|", key=likeness)


def as_pieces(rows: Iterable[list[str]]) -> Iterator[Piece]:
    """Yield each row as a sentence; the first with two or more cells is the header."""
    header: list[str] = []
    for number, raw in enumerate(rows, start=1):
        cells = [" ".join(cell.split()) for cell in raw]
        if not header and _is_header(cells):
            header = cells
        elif any(cells):
            yield Piece("", str(number), str(number), row(header, cells) + "\n")


def _is_header(cells: list[str]) -> bool:
    return sum(map(bool, cells)) > 1 and not any(map(_number, cells))


def _number(cell: str) -> bool:
    """Tell whether a cell is a number, which no header is; years as headers are too rare."""
    return cell.replace(".", "", 1).replace(",", "").lstrip("-+").isdecimal()
