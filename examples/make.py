"""Make the PDF, Office and EPUB files in `docs/` from the texts in `sources/`.

Needs reportlab (BSD licence) beside what the project itself installs:
`pip install reportlab && python examples/make.py`. The other documents are kept as they are.
"""

import csv
from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import Paragraph, SimpleDocTemplate

HERE = Path(__file__).parent
DOCS = HERE / "docs"
SOURCES = HERE / "sources"


def parse(name):
    """Return (kind, text) for each line of a source; kind is '#', '##', '|', 'p' or a word."""
    found = []
    for line in (SOURCES / name).read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark in ("#", "##", "|"):
            found.append((mark, rest.strip(" |")))
        elif mark in ("author:", "running:", "notes:"):
            found.append((mark[:-1], rest))
        elif line:
            found.append(("p", line))
    return found


def cells(text):
    """Return the cells of a table row that is written with bars between them."""
    return [cell.strip() for cell in text.split("|")]


def make_pdf(source, target):
    """Set a text as a paper: a running head, numbered pages, and a title with its author."""
    lines = parse(source)
    facts = dict(lines)
    body = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=13.5, alignment=4, spaceAfter=6)
    heading = ParagraphStyle("heading", body, fontName="Times-Bold", fontSize=12, spaceBefore=8)
    title = ParagraphStyle("title", body, fontName="Times-Bold", fontSize=16, leading=19, alignment=1, spaceAfter=8)
    author = ParagraphStyle("author", body, alignment=1, fontName="Times-Italic")
    styles = {"#": title, "##": heading, "author": author, "p": body}

    def edges(canvas, page):
        """Draw the running head and the number of a page."""
        canvas.setFont("Times-Roman", 9)
        canvas.drawString(2.5 * cm, A4[1] - 1.5 * cm, facts["running"])
        canvas.drawCentredString(A4[0] / 2, 1.3 * cm, str(page.page))

    story = [Paragraph(escape(text), styles[kind]) for kind, text in lines if kind in styles]
    SimpleDocTemplate(
        str(DOCS / target), pagesize=A4, leftMargin=2.5 * cm, rightMargin=2.5 * cm,
        title=facts["#"], author=facts["author"], invariant=1,
    ).build(story, onFirstPage=edges, onLaterPages=edges)


def make_docx(source, target):
    """Write a text as a Word document, with headings and tables."""
    document = Document()
    rows = []
    for kind, text in [*parse(source), ("", "")]:
        if kind == "|":
            rows.append(cells(text))
            continue
        if rows:
            table = document.add_table(0, len(rows[0]), "Table Grid")
            for row in rows:
                for cell, value in zip(table.add_row().cells, row):
                    cell.text = value
            rows = []
        if kind in ("#", "##"):
            document.add_heading(text, 0 if kind == "#" else 1)
        elif kind:
            document.add_paragraph(text)
    document.core_properties.title = dict(parse(source))["#"]
    document.save(DOCS / target)


def make_pptx(source, target):
    """Write a text as slides: one for each heading, with tables and speaker notes."""
    show = Presentation()
    slide, rows = None, []

    def table():
        """Put the rows that were gathered on the slide, in the place of its text."""
        if rows:
            shape = slide.shapes.add_table(len(rows), len(rows[0]), Inches(0.5), Inches(1.6), Inches(9), Inches(4))
            for line, row in zip(shape.table.rows, rows):
                for cell, value in zip(line.cells, row):
                    cell.text = value
            slide.placeholders[1].element.getparent().remove(slide.placeholders[1].element)
            rows.clear()

    for kind, text in parse(source):
        if kind in ("#", "##"):
            table()
            slide = show.slides.add_slide(show.slide_layouts[0 if kind == "#" else 1])
            slide.shapes.title.text = text
        elif kind == "|":
            rows.append(cells(text))
        elif kind == "notes":
            slide.notes_slide.notes_text_frame.text = text
        else:
            frame = slide.placeholders[1].text_frame
            frame.text = f"{frame.text}\n{text}".strip()
    table()
    show.core_properties.title = dict(parse(source))["#"]
    show.save(DOCS / target)


def make_xlsx(target):
    """Write every table of the sources as a sheet of one workbook."""
    book = Workbook()
    book.properties.title = "Figures on retention"
    book.remove(book.active)
    for path in sorted(SOURCES.glob("*.csv")):
        sheet = book.create_sheet(path.stem[2:])
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.reader(stream):
                sheet.append([number(cell) for cell in row])
    book.save(DOCS / target)


def number(cell):
    """Return a cell as a number where it is one."""
    try:
        return int(cell) if cell.isdigit() else float(cell)
    except ValueError:
        return cell


PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body>{body}</body></html>'
CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">{name}</dc:identifier>'
    "<dc:title>{title}</dc:title><dc:language>en</dc:language>"
    '<meta property="dcterms:modified">2024-01-01T00:00:00Z</meta></metadata>'
    '<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{items}'
    "</manifest><spine>{spine}</spine></package>"
)
ITEM = '<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
NAV = '<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="toc"><ol>{links}</ol></nav>'


def make_epub(source, target):
    """Write a text as an e-book: one chapter for each heading."""
    lines = parse(source)
    title = escape(dict(lines)["#"])
    chapters = []
    for kind, text in lines:
        if kind == "##":
            chapters.append((escape(text), [f"<h1>{escape(text)}</h1>"]))
        elif kind == "p":
            chapters[-1][1].append(f"<p>{escape(text)}</p>")
    names = [f"chapter{number}" for number, _ in enumerate(chapters, 1)]
    items = "".join(ITEM.format(name=name) for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    links = "".join(f'<li><a href="{name}.xhtml">{head}</a></li>' for name, (head, _) in zip(names, chapters))
    with ZipFile(DOCS / target, "w", ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", ZIP_STORED)
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("OEBPS/book.opf", PACKAGE.format(name=target, title=title, items=items, spine=spine))
        book.writestr("OEBPS/nav.xhtml", PAGE.format(title=title, body=NAV.format(links=links)))
        for name, (head, parts) in zip(names, chapters):
            book.writestr(f"OEBPS/{name}.xhtml", PAGE.format(title=head, body="".join(parts)))


def make_gbk(source, target):
    """Write a Chinese text in the encoding that older Chinese programs use."""
    (DOCS / target).write_bytes((SOURCES / source).read_text(encoding="utf-8").encode("gbk"))


if __name__ == "__main__":
    DOCS.mkdir(exist_ok=True)
    make_pdf("decay-paper.md", "decay-paper.pdf")
    make_pdf("interference-paper.md", "interference-paper.pdf")
    make_docx("sleep-and-memory.md", "sleep-and-memory.docx")
    make_docx("zh-memory.md", "zh-memory.docx")
    make_epub("waggle-dance.md", "waggle-dance.epub")
    make_pptx("memory-lecture.md", "memory-lecture.pptx")
    make_xlsx("retention-figures.xlsx")
    make_gbk("zh-beekeeping-notes.txt", "zh-beekeeping-notes.txt")
