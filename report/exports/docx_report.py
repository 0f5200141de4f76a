"""A report as a document of Word, with footnotes, real lists and real tables."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from typing import Any, NamedTuple

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Cm, Pt, RGBColor

from report.exports.docx_parts import (
    CODE_STYLE,
    FootnotesPart,
    add_bookmark,
    add_field,
    add_link,
    add_words,
    make_numbering,
    make_reference,
    prepare_styles,
)
from report.exports.docx_pictures import add_picture
from report.exports.docx_tables import add_table, prepare_table_styles
from report.exports.export_formats import ExportedReport, replace_unfit_characters
from report.exports.report_tree import ReportTree, build_report_tree, to_data
from report.exports.zip_file import write_zip
from report.labels import get_label, is_chinese_tag

_DEEPEST_LIST = 3  # of which the template has styles


class _Style(NamedTuple):
    """How some words are written."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False


_STYLES = {"h1": "Title", **{f"h{level}": f"Heading {level - 1}" for level in range(2, 7)}}
_PLAIN = _Style()
_MARKS: dict[str, dict[str, bool]] = {
    "strong": {"bold": True},
    "em": {"italic": True},
    "s": {"struck": True},
    "code": {"code": True},
}


def export_docx(report: ExportedReport) -> bytes:
    """Return a report as a document of Word; its archive has no times."""
    report = replace_unfit_characters(report)
    tree = build_report_tree(report)
    document = docx.Document()
    prepare_styles(document, tree.language)
    prepare_table_styles(document)
    _describe(document, report, tree.language)
    _Writer(document, tree).write()
    saved = io.BytesIO()
    document.save(saved)
    with zipfile.ZipFile(saved) as archive:
        return write_zip({name: archive.read(name) for name in archive.namelist()})


def _describe(document: Any, report: ExportedReport, language: str) -> None:
    """Set page, header and footer, and what the document says of itself."""
    title, created = report.document["title"], report.document["created"]
    about = document.core_properties
    about.title, about.language, about.author, about.comments = title, language, "Dossier", ""
    about.identifier = report.run
    day = datetime.fromisoformat(created) if created else datetime(1980, 1, 1, tzinfo=UTC)
    about.created = about.modified = day.replace(tzinfo=UTC)
    about.last_modified_by, about.revision = "Dossier", 1
    (section,) = document.sections
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    section.top_margin = section.bottom_margin = Cm(2.3)
    section.different_first_page_header_footer = True  # below the running title stands the title
    head = section.header.paragraphs[0]
    head.add_run(title)
    feet = [one.paragraphs[0] for one in (section.footer, section.first_page_footer)]
    for foot in feet:
        foot.alignment = WD_ALIGN_PARAGRAPH.CENTER
        add_field(foot, "PAGE")
        foot.add_run(" / ")
        add_field(foot, "NUMPAGES")
    for paragraph in (head, *feet):
        for run in paragraph.runs:
            run.font.size, run.font.color.rgb = Pt(8.5), RGBColor(0x66, 0x66, 0x66)


class _Writer:
    """Writes the elements of a report into a document."""

    def __init__(self, document: Any, tree: ReportTree) -> None:
        self.document, self.tree = document, tree
        self.notes = {one.number: one for one in tree.footnotes}
        self.footnotes = FootnotesPart(document)
        self.figures = self.bookmarks = 0
        self.marks = dict(_MARKS)
        if is_chinese_tag(tree.language):
            del self.marks["em"]  # Chinese letters that are slanted are hard to read

    def write(self) -> None:
        """Write everything, in order."""
        for element in self.tree.root:
            self.write_block(element, self.document)

    def write_block(self, element: Any, place: Any) -> None:
        """Write a block into a document or a cell."""
        tag = element.tag
        if tag in ("ul", "ol"):
            self.write_list(element, place, 1)
        elif tag == "table":
            self.write_table(element, place)
        elif tag == "pre":
            self.write_code(element, place)
        elif tag == "blockquote":
            for inner in element:
                self.write_inline(inner, place.add_paragraph(style="Quote"))
        else:
            paragraph = place.add_paragraph(style=_STYLES.get(tag))
            self.write_inline(element, paragraph)
            if tag == "p" and element.get("id"):
                self.bookmarks += 1
                add_bookmark(paragraph, element.get("id"), self.bookmarks)

    def write_code(self, element: Any, place: Any) -> None:
        """Write a block of code, a paragraph with its lines."""
        paragraph = place.add_paragraph(style=CODE_STYLE)
        for at, line in enumerate(element.text_content().rstrip("\n").split("\n")):
            run = paragraph.add_run()
            if at:
                run.add_break()
            run.add_text(line)
        for note in element.iter("a"):
            self.write_note(note, paragraph)

    def write_list(self, element: Any, place: Any, depth: int) -> None:
        """Write the items of a list; an ordered one begins its own numbers."""
        kind = "List Number" if element.tag == "ol" else "List Bullet"
        shown = min(depth, _DEEPEST_LIST)
        style = kind if shown == 1 else f"{kind} {shown}"
        start = int(element.get("start") or 1)
        numbering = make_numbering(self.document, style, start) if element.tag == "ol" else None
        for item in element:
            paragraph = place.add_paragraph(style=style)
            if numbering is not None:
                paragraph._p.get_or_add_pPr().append(numbering())
            self.write_item(item, paragraph, place, depth)

    def write_item(self, item: Any, paragraph: Any, place: Any, depth: int) -> None:
        """Write an item: its words, and the blocks in it."""
        self.write_inline(item, paragraph, blocks=False)
        is_first = not (item.text or "").strip()
        for inner in item:
            if inner.tag in ("ul", "ol"):
                self.write_list(inner, place, depth + 1)
            elif inner.tag == "p" and is_first:
                self.write_inline(inner, paragraph)
            elif inner.tag == "p":
                shown = min(depth, _DEEPEST_LIST)
                style = "List Continue" if shown == 1 else f"List Continue {shown}"
                self.write_inline(inner, place.add_paragraph(style=style))
            elif inner.tag in _BLOCKS:
                self.write_block(inner, place)
            is_first = False

    def write_table(self, element: Any, place: Any) -> None:
        """Write a table whose first row is repeated on each page."""
        rows = list(element.iter("tr"))
        if any(len(row) for row in rows):
            add_table(self.document, rows, self.write_cell)
            place.add_paragraph()

    def write_cell(self, element: Any, paragraph: Any) -> None:
        """Write the words of a cell of a table."""
        self.write_inline(element, paragraph, _Style(bold=element.tag == "th"))

    def write_inline(
        self, element: Any, paragraph: Any, style: _Style = _PLAIN, *, blocks: bool = True
    ) -> None:
        """Write the words of an element; those of blocks in it may be written apart."""
        _write_words(element.text, paragraph, style)
        for inner in element:
            if inner.tag == "a" and inner.get("class") == "note":
                self.write_note(inner, paragraph)
            elif inner.tag == "a":
                add_link(paragraph, inner.get("href"), inner.text or "")
            elif inner.tag == "br":
                paragraph.add_run().add_break()
            elif inner.tag == "img":
                self.write_figure(inner, paragraph)
            elif blocks or inner.tag not in _BLOCKS:
                self.write_inline(inner, paragraph, style._replace(**self.marks.get(inner.tag, {})))
            if blocks or inner.tag not in _BLOCKS:
                _write_words(inner.tail, paragraph, style)

    def write_note(self, element: Any, paragraph: Any) -> None:
        """Write the mark of a footnote, and the footnote."""
        note = self.notes[int(element.text)]
        before = element.getprevious()
        is_adjacent = before is not None and before.tag == "a" and not (before.tail or "").strip()
        if is_adjacent:
            paragraph.add_run(", ").font.superscript = True
        words = f"[{note.source}] {note.describe(self.tree.language)}"
        paragraph._p.append(make_reference(self.footnotes.add(words)))

    def write_figure(self, element: Any, paragraph: Any) -> None:
        """Write a picture, and its caption below; one that Word cannot show is only named."""
        title = element.get("alt") or ""
        media, data = to_data(element.get("src") or "")
        caption = paragraph
        if add_picture(paragraph, media, data, title):
            paragraph.paragraph_format.keep_with_next = True
            caption = self.document.add_paragraph()
            paragraph._p.addnext(caption._p)
        caption.style = "Caption"
        label = get_label("figure", self.tree.language)
        add_field(caption, "SEQ Figure \\* ARABIC", str(self.figures + 1), before=f"{label} ")
        self.figures += 1
        caption.add_run(f". {title}" if title else "")


_BLOCKS = ("p", "ul", "ol", "table", "pre", "blockquote", "hr", *(f"h{at}" for at in range(1, 7)))


def _write_words(text: str | None, paragraph: Any, style: _Style) -> None:
    """Write words; line ends within them are spaces."""
    words = " ".join((text or "").split("\n"))
    if not words or (not words.strip() and "\n" in (text or "") and not paragraph.runs):
        return
    add_words(paragraph._p, words, **style._asdict())
