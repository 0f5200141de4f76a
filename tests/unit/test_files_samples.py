"""Small documents of every binary format, made by the tests that read them."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pypdf import PdfReader, PdfWriter

from config.errors import Problem
from tools.files.extractor import extract_document
from tools.files.formats import FileLimits

CONTAINER = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'


def pdf(*pages, title=""):
    """Return a PDF whose pages consist of these lines."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, lines in enumerate(pages):
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 60 780 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * at} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    return _assembled(objects)


def _assembled(objects):
    data, starts = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        starts.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode("cp1252")
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n"
    end += f"<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()


def locked_pdf(password):
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(["A secret line."]))))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    return _saved(writer.write)


def docx(*paragraphs, rows=(), title=""):
    """Return a Word file; a paragraph that begins with `# ` is a heading."""
    document = Document()
    document.core_properties.title = title
    for text in paragraphs:
        heading = text.startswith("# ")
        document.add_paragraph(text.removeprefix("# "), "Heading 1" if heading else None)
    if rows:
        table = document.add_table(len(rows), len(rows[0]))
        for line, row in zip(table.rows, rows, strict=True):
            for cell, value in zip(line.cells, row, strict=True):
                cell.text = value
    return _saved(document.save)


def pptx(*slides):
    """Return a slide show of (title, text, notes)."""
    show = Presentation()
    for title, text, notes in slides:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return _saved(show.save)


def xlsx(**sheets):
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.replace("_", " "))
        for row in rows:
            sheet.append(row)
    return _saved(book.save)


def archive(members):
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED, compresslevel=1) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return stream.getvalue()


def epub(*chapters, head="", title="A book"):
    """Return a book of these HTML bodies, in this order and not in that of their names."""
    names = [f"c{len(chapters) - at}.xhtml" for at in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = f"{head}<package><metadata><title>{title}</title></metadata>"
    package += f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    bodies = {
        name: f"<html><body>{body}</body></html>"
        for name, body in zip(names, chapters, strict=True)
    }
    return archive({"META-INF/container.xml": CONTAINER, "book.opf": package, **bodies})


def edited(data, member, changes):
    """Return an archive with words of one member changed."""
    with ZipFile(BytesIO(data)) as made:
        members = {name: made.read(name) for name in made.namelist()}
    text = members[member].decode()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    return archive({**members, member: text})


async def refused(folder, name, content, limits=None):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(Problem) as caught:
        await extract_document(path, limits or FileLimits())
    assert caught.value.hint
    assert caught.value.where == str(path)
    return caught.value.code


async def outcome(path):
    """Return what was read, or the code of what stood in the way."""
    try:
        return str(await extract_document(path, FileLimits(seconds=10)))
    except Problem as problem:
        return problem.code


def _saved(save):
    stream = BytesIO()
    save(stream)
    return stream.getvalue()
