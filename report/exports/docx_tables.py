"""Tables in a document of Word, made row by row, since python-docx looks up each cell anew."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Emu, Pt, Twips
from docx.text.paragraph import Paragraph

from report.exports.column_widths import (
    ColumnExtent,
    fit_columns,
    measure_table_columns,
)
from report.exports.docx_parts import add_words
from report.markdown.markdown_reader import ALIGNMENT_CLASSES

_ROOM = 1.2  # times the usual width of words: heads are bold, and some fonts are broad
_TWIPS_PER_POINT = 20
_STYLE = (
    f"<w:style {nsdecls('w')} w:type='table' w:customStyle='1' w:styleId='{{id}}'>"
    "<w:name w:val='{name}'/><w:basedOn w:val='TableNormal'/><w:uiPriority w:val='99'/>"
    "<w:tblPr><w:tblBorders><w:top w:val='single' w:sz='6' w:color='888888'/>"
    "<w:bottom w:val='single' w:sz='6' w:color='888888'/>"
    "<w:insideH w:val='single' w:sz='4' w:color='CCCCCC'/></w:tblBorders>"
    "<w:tblCellMar><w:top w:w='60' w:type='dxa'/><w:left w:w='{side}' w:type='dxa'/>"
    "<w:bottom w:w='60' w:type='dxa'/><w:right w:w='{side}' w:type='dxa'/></w:tblCellMar>"
    "</w:tblPr><w:tblStylePr w:type='firstRow'><w:tblPr/><w:tcPr>"
    "<w:shd w:val='clear' w:color='auto' w:fill='F2F2F2'/></w:tcPr></w:tblStylePr></w:style>"
)
_CELL = (
    f"<w:tc {nsdecls('w')}><w:p><w:pPr><w:pStyle w:val='{{style}}'/>{{alignment}}</w:pPr></w:p>"
    "</w:tc>"
)


class _Look(NamedTuple):
    """How a table looks."""

    name: str
    """The name of its style; the style of the words in its cells has ` Text` behind it."""
    size: float
    """Of the words, in points."""
    side: int
    """The space at both sides of a cell, in twips."""

    def get_id(self) -> str:
        """Return the id of its style."""
        return self.name.replace(" ", "")


_LOOKS = (
    _Look("Report Table", 10, 80),
    _Look("Dense Report Table", 8, 45),
    _Look("Very Dense Report Table", 6.5, 40),
)
"""What a table may look like; the later ones are for those that are wider than the page."""


def prepare_table_styles(document: Any) -> None:
    """Add the styles of tables to a document: lines between rows, and a head that stands out."""
    for look in _LOOKS:
        style = _STYLE.format(id=look.get_id(), name=look.name, side=look.side)
        document.styles.element.append(parse_xml(style))
        text = document.styles.add_style(f"{look.name} Text", WD_STYLE_TYPE.PARAGRAPH)
        text.base_style, text.font.size = document.styles["Normal"], Pt(look.size)
        text.paragraph_format.space_after, text.paragraph_format.line_spacing = Pt(0), 1.0


def add_table(
    document: Any, rows: Sequence[Any], write_cell: Callable[[Any, Paragraph], None]
) -> None:
    """Add a table with columns as wide as their words need, whose head is repeated on each page.

    Args:
        document: The document.
        rows: The rows, elements `tr` of HTML.
        write_cell: Writes the words of an element `th` or `td` that has others in it.
    """
    page = document.sections[-1]
    width = Emu(page.page_width - page.left_margin - page.right_margin).twips
    look, widths = _choose_look(rows, width)
    columns = len(widths)
    table = document.add_table(0, columns, look.name)
    for column, one in zip(table.columns, widths, strict=True):
        column.width = Twips(round(one))
    make_cell = partial(_make_cell, _make_templates(look), table, write_cell)
    for row in rows:
        made = OxmlElement("w:tr")
        properties = made.get_or_add_trPr()
        properties.append(OxmlElement("w:cantSplit"))
        if row is rows[0] and row.find("th") is not None:
            properties.append(OxmlElement("w:tblHeader"))
        made.extend(map(make_cell, [*row, *[None] * (columns - len(row))]))
        table._tbl.append(made)


def _make_templates(look: _Look) -> dict[str, Any]:
    """Return an empty cell for each alignment."""
    style = f"{look.get_id()}Text"
    aligned = {one: f"<w:jc w:val='{one}'/>" for one in sorted(ALIGNMENT_CLASSES)}
    return {
        one: parse_xml(_CELL.format(style=style, alignment=alignment))
        for one, alignment in {"": "", **aligned}.items()
    }


def _make_cell(
    templates: dict[str, Any],
    table: Any,
    write_cell: Callable[[Any, Paragraph], None],
    written: Any | None,
) -> Any:
    """Return a cell with the words of an element of HTML, or an empty one."""
    made = copy.deepcopy(templates["" if written is None else written.get("class", "")])
    if written is None:
        return made
    if len(written):
        write_cell(written, Paragraph(made[0], table))
    elif written.text:
        add_words(made[0], written.text, bold=written.tag == "th")
    return made


def _choose_look(rows: Sequence[Any], width: float) -> tuple[_Look, Sequence[float]]:
    """Return the first look in which no word is broken, else the last one, with the widths.

    Args:
        rows: The rows.
        width: Of the page without its margins, in twips.
    """
    extents = measure_table_columns(rows)
    for look in _LOOKS:
        em = look.size * _TWIPS_PER_POINT * _ROOM
        scaled = [ColumnExtent(*(one * em + 2 * look.side for one in extent)) for extent in extents]
        if sum(one.least for one in scaled) <= width:
            break
    return look, fit_columns(scaled, width)
