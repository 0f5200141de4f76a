"""Read Word files; a place is the anchor of a heading."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from docx import Document as open_document
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn

from tools.files.archive import open_archive
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_document,
    table_blocks,
    unwrap_line,
)

BROKEN = (OpcError, PythonDocxError)
"""What python-docx raises on damaged files."""

# A file contains drawings twice: for new readers, and as a fallback for old ones.
_STRUCK = "w:rPr/*[self::w:strike or self::w:dstrike][not(@w:val='0' or @w:val='false')]"
_TEXT = (
    f".//w:t[not(ancestor::*[local-name()='Fallback'] or ancestor::w:r[{_STRUCK}])]"
    " | .//w:tab | .//w:br | .//w:cr"
)


def read_word(file: FileContent) -> ParsedDocument:
    """Read paragraphs and tables, also in text boxes, without notes and headers."""
    open_archive(file).close()
    document = open_document(io.BytesIO(file.data))
    levels = {style.style_id: _level(style) for style in document.styles}
    own = document.core_properties
    made = make_document(_blocks(document.element.body, levels), own.title)
    dated = own.modified or own.created
    return declare_metadata(made, author=own.author, published=dated, language=own.language)


def _level(style: Any) -> int:
    """Return the level of headings in a style by its outline level, 0 for text."""
    if style.name == "Title":
        return 1
    levels = style.element.xpath("./w:pPr/w:outlineLvl/@w:val")
    return int(levels[0]) + 1 if levels and int(levels[0]) < 9 else 0


def _blocks(body: Any, levels: dict[str, int]) -> Iterator[TextBlock]:
    """Yield the paragraphs and tables of the body, however deep they are wrapped in controls."""
    for node in body.iter(qn("w:p"), qn("w:tbl")):
        if next(node.iterancestors(qn("w:tbl"), qn("w:p")), None) is not None:
            continue
        if node.tag == qn("w:tbl"):
            rows = node.xpath("./w:tr")
            yield from table_blocks([[_text(cell) for cell in row.xpath("./w:tc")] for row in rows])
        else:
            yield from _paragraph(node, levels)


def _paragraph(node: Any, levels: dict[str, int]) -> Iterator[TextBlock]:
    text = _text(node)
    style = node.style or ""
    if text and not style.lower().startswith("toc"):
        level = levels.get(style, 0)
        listed = not level and (node.xpath("./w:pPr/w:numPr") or style.startswith("List"))
        yield TextBlock(f"- {text}" if listed else text, level)


def _text(node: Any) -> str:
    """Return the text of a paragraph or a cell without deleted (`w:delText`) and struck words."""
    parts = node.xpath(_TEXT)
    return unwrap_line("".join(one.text if one.tag == qn("w:t") else " " for one in parts))
