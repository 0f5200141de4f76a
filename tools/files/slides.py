"""Read PowerPoint files; a place is a slide, or several slides with little text."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.exc import PythonPptxError

from tools.files.archive import open_archive
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    DocumentPiece,
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_numbered_document,
    number_piece,
    render_text_blocks,
    table_blocks,
    unwrap_line,
)

_MIN_SECTION = 600

BROKEN = (PythonPptxError,)
"""What python-pptx raises on damaged files."""


def read_slides(file: FileContent) -> ParsedDocument:
    """Read the text, tables and notes of all slides, without pictures and charts."""
    open_archive(file).close()
    show = Presentation(io.BytesIO(file.data))
    pieces = [_piece(number, slide) for number, slide in enumerate(show.slides, start=1)]
    title = show.core_properties.title or next((piece.title for piece in pieces), "")
    own, made = show.core_properties, make_numbered_document(title, pieces, "slide", _MIN_SECTION)
    dated = own.modified or own.created
    return declare_metadata(made, author=own.author, published=dated, language=own.language)


def _piece(number: int, slide: Any) -> DocumentPiece:
    heading = slide.shapes.title
    title = unwrap_line(heading.text_frame.text) if heading is not None else ""
    others = [shape for shape in slide.shapes if heading is None or shape != heading]
    blocks = [*([TextBlock(title, 1)] if title else []), *_blocks(others)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        blocks += _paragraphs(slide.notes_slide.notes_text_frame)
    return number_piece(number, render_text_blocks(blocks), title)


def _blocks(shapes: Iterable[Any]) -> Iterator[TextBlock]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _blocks(shape.shapes)
        elif shape.has_text_frame:
            yield from _paragraphs(shape.text_frame)
        elif getattr(shape, "has_table", False):
            rows = [[unwrap_line(cell.text) for cell in row.cells] for row in shape.table.rows]
            yield from table_blocks(rows)


def _paragraphs(frame: Any) -> Iterator[TextBlock]:
    texts = (unwrap_line(paragraph.text) for paragraph in frame.paragraphs)
    yield from (TextBlock(text) for text in texts if text)
