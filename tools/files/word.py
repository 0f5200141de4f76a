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
    " | .//w:tab | .//w:br | .//w:cr | .//w:p"
)
_MAX_COLUMNS = 63


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


def _blocks(root: Any, levels: dict[str, int]) -> Iterator[TextBlock]:
    """Yield the paragraphs and tables of the body or a cell, however deep controls wrap them."""
    around = _nearest(root, "w:tbl", "w:p")
    for node in root.iter(qn("w:p"), qn("w:tbl")):
        if _nearest(node, "w:tbl", "w:p") is not around:
            continue
        if node.tag == qn("w:tbl"):
            yield from table_blocks(list(_rows(node)))
        else:
            yield from _paragraph(node, levels)


def _nearest(node: Any, *names: str) -> Any:
    """Return the nearest element of these names around a node; `None` for none."""
    return next(node.iterancestors(*map(qn, names)), None)


def _rows(table: Any) -> Iterator[list[str]]:
    """Yield the rows of a table, each cell in its column; what is merged stands in all its rows."""
    above: list[str] = []
    for row in table.iter(qn("w:tr")):
        if _nearest(row, "w:tbl") is table:
            above = _cells(row, above)
            yield above


def _cells(row: Any, above: list[str]) -> list[str]:
    cells = [""] * _number(row, "./w:trPr/w:gridBefore/@w:val", 0)
    for cell in row.iter(qn("w:tc")):
        if _nearest(cell, "w:tr") is not row:
            continue
        goes_on = cell.xpath("./w:tcPr/w:vMerge[not(@w:val='restart')]")
        if goes_on and len(cells) < len(above):
            text = above[len(cells)]
        else:
            text = " ".join(block.text for block in _blocks(cell, {}))
        width = _number(cell, "./w:tcPr/w:gridSpan/@w:val", 1)
        cells += [text, *[""] * (width - 1)]
    return cells


def _number(node: Any, path: str, default: int) -> int:
    """Return how many columns an attribute names, with the most that Word allows."""
    found = [one for one in node.xpath(path) if one.isdecimal()]
    return min(int(found[0]), _MAX_COLUMNS) if found else default


def _paragraph(node: Any, levels: dict[str, int]) -> Iterator[TextBlock]:
    text = _text(node)
    style = node.style or ""
    if text and not style.lower().startswith("toc"):
        level = levels.get(style, 0)
        listed = not level and (node.xpath("./w:pPr/w:numPr") or style.startswith("List"))
        yield TextBlock(f"- {text}" if listed else text, level)


def _text(node: Any) -> str:
    """Return the text of a paragraph without deleted (`w:delText`) and struck words."""
    parts = node.xpath(_TEXT)
    return unwrap_line("".join(one.text if one.tag == qn("w:t") else " " for one in parts))
