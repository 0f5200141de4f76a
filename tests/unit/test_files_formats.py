"""Letters, notebooks, OpenDocument and Rich Text are read like other documents."""

from __future__ import annotations

import io
import json
from datetime import datetime
from email.message import EmailMessage

import pytest
from docx import Document
from pypdf import PdfWriter

from tests.unit.test_files_samples import archive, edited, pdf, refused
from tools.files.extractor import extract_document

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table"))


async def read(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return await extract_document(path)


def texts(document):
    return "\n\n".join(section["text"] for section in document["sections"])


def odt(body, title=""):
    """Return an OpenDocument text with this body."""
    meta = f'<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/">'
    content = f"<office:document-content {SPACES}><office:body><office:text>{body}"
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"{content}</office:text></office:body></office:document-content>",
            "meta.xml": f"{meta}<dc:title>{title}</dc:title></office:document-meta>",
        }
    )


async def test_an_opendocument_text_is_read_with_headings_lists_and_tables(tmp_path):
    cells = "<table:table-row>{}</table:table-row>".format
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    body = (
        '<text:h text:outline-level="1">Tide mills</text:h>'
        "<text:p>Eling<text:s/>grinds <text:span>wheat</text:span>.</text:p>"
        "<text:list><text:list-item><text:p>oak</text:p></text:list-item></text:list>"
        "<text:tracked-changes><text:p>was deleted</text:p></text:tracked-changes>"
        f"<table:table>{cells(cell('Mill') + cell('Year'))}{cells(cell('Eling') + cell('1785'))}"
        "</table:table>"
    )

    document = await read(tmp_path, "a.odt", odt(body, title="On mills"))

    assert document["title"] == "On mills"
    assert document["sections"][0]["place"] == "tide-mills"
    assert texts(document) == (
        "# Tide mills\n\nEling grinds wheat.\n\n- oak\n\nMill: Eling; Year: 1785."
    )


async def test_an_opendocument_text_tells_who_wrote_it_and_when(tmp_path):
    told = (
        "Mills</dc:title><meta:initial-creator>Ada Byron</meta:initial-creator>"
        "<dc:creator>Bob Ross</dc:creator><dc:date>2021-05-03T10:00:00</dc:date><dc:title>"
    )
    content = odt("<text:p>Eling grinds wheat.</text:p>", title=told)
    space = ' xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
    content = edited(
        content, "meta.xml", {"<office:document-meta": f"<office:document-meta{space}"}
    )

    document = await read(tmp_path, "a.odt", content)

    assert document["metadata"].author == "Ada Byron"
    assert document["metadata"].published == "2021-05-03"


async def test_rich_text_is_read_with_its_letters_and_its_title(tmp_path):
    source = (
        r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\title The mill of M\'fcller}}"
        r"\f0 The mill at Gr\'fcnau runs.\par It has \b two\b0  wheels \u8212- both of oak.\par}"
    )

    document = await read(tmp_path, "a.rtf", source)

    assert document["title"] == "The mill of Müller"
    assert "The mill at Grünau runs." in texts(document)
    assert "It has two wheels — both of oak." in texts(document)


@pytest.mark.parametrize("html", [False, True])
async def test_a_letter_tells_who_wrote_to_whom_and_names_what_is_attached(tmp_path, html):
    letter = EmailMessage()
    letter["Subject"] = "Gate of the mill – März"
    letter["From"] = "Ann Marsh <ann@example.org>"
    letter["To"] = "ben@example.org"
    letter["Date"] = "Tue, 03 Mar 2026 09:30:00 +0000"
    words = "The gate opens at 9. Bring the long key."
    letter.set_content(f"<p>{words}</p>" if html else words, subtype="html" if html else "plain")
    letter.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="plan.pdf")

    document = await read(tmp_path, "a.eml", letter.as_bytes())

    assert document["title"] == "Gate of the mill – März"
    assert "From: Ann Marsh <ann@example.org>." in texts(document)
    assert "Date: Tue, 03 Mar 2026 09:30:00 +0000." in texts(document)
    assert "The gate opens at 9. Bring the long key." in texts(document)
    assert "Attached, and not read: plan.pdf." in texts(document)


async def test_a_notebook_is_read_cell_by_cell_with_what_it_printed(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# Flow of a mill\n", "\n", "It is *measured* here."]},
        {
            "cell_type": "code",
            "source": "flow = 3 * 14\nprint(flow)",
            "outputs": [{"output_type": "stream", "text": ["42\n"]}, {"data": {"image/png": "x"}}],
        },
        {"cell_type": "code", "source": "flow", "outputs": [{"data": {"text/plain": "42.5"}}]},
    ]

    document = await read(tmp_path, "a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))

    assert document["title"] == "Flow of a mill"
    assert document["sections"][0]["place"] == "cell=1-3"
    assert texts(document) == (
        "# Flow of a mill\n\nIt is measured here.\n\nflow = 3 * 14\nprint(flow)\n\n42\n\n"
        "flow\n\n42.5"
    )


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Of mills\ntags: [a]\n---\n",
        '---\nlayout: x\ntitle: "Of mills"\n...\n',
        "---\ntitle: >\n  Of mills\n---\n",
        '+++\ntitle = "Of mills"\n+++\n',
    ],
)
async def test_the_title_in_front_matter_of_every_kind_is_the_title(tmp_path, front):
    document = await read(tmp_path, "a.md", f"{front}# Heading\n\nThe mill runs.")

    assert document["title"] == "Of mills"
    assert texts(document) == "# Heading\n\nThe mill runs."


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.rtf", "no rich text", "file_type_mismatch"),
        ("a.msg", "no letter", "file_type_mismatch"),
        ("a.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000), "file_broken"),
        ("a.odt", archive({"content.xml": "<a>"}), "file_broken"),
        ("a.odt", archive({"word/document.xml": "<a/>"}), "file_type_mismatch"),
        ("a.ipynb", "{}", "file_type_mismatch"),
        ("a.ipynb", "{", "file_broken"),
    ],
)
async def test_what_is_broken_or_something_else_is_refused(tmp_path, name, content, code):
    assert await refused(tmp_path, name, content) == code


def docx():
    document = Document()
    document.add_paragraph("The mill was built by the causeway. " * 3)
    own = document.core_properties
    own.author, own.modified, own.language = "Ada Byron", datetime(2024, 5, 31), "en-GB"
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


FRONT = "---\ntitle: Mills\nauthor: Ada Byron\ndate: 2024-05-31\nlang: en\n---\nThe mill grinds.\n"
PAGE = """<html lang="en"><head><title>Mills</title><meta name="author" content="Ada Byron">
<meta property="article:published_time" content="2024-05-31T10:00:00Z"></head><body><article>
<h1>Mills</h1><p>{}</p></article></body></html>""".format("The mill grinds at ebb. " * 20)
LETTER = (
    "From: Ada Byron <ada@a.org>\nTo: Bob <bob@a.org>\nDate: Fri, 31 May 2024 10:00:00 +0000\n"
    "Subject: Mills\n\nThe mill grinds.\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", FRONT.encode()),
        ("a.html", PAGE.encode()),
        ("a.eml", LETTER.encode()),
        ("a.docx", docx()),
    ],
)
async def test_a_file_tells_who_wrote_it_and_when(tmp_path, name, content):
    known = (await read(tmp_path, name, content))["metadata"]

    assert (known.author, known.published) == ("Ada Byron", "2024-05-31")


async def test_a_pdf_tells_who_wrote_it_and_when(tmp_path):
    writer = PdfWriter(clone_from=io.BytesIO(pdf(["The mill grinds at ebb."])))
    writer.add_metadata({"/Author": "Ada Byron", "/CreationDate": "D:20240531100000Z"})
    file = io.BytesIO()
    writer.write(file)

    known = (await read(tmp_path, "a.pdf", file.getvalue()))["metadata"]

    assert (known.author, known.published) == ("Ada Byron", "2024-05-31")


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("A List<String> and vector<object> here.", "A List<String> and vector<object> here."),
        ("It holds if a<b and c>d.", "It holds if a<b and c>d."),
        ("Put it into <title> and go on.", "Put it into <title> and go on."),
        ("Open the <select> of the page.", "Open the <select> of the page."),
        ("<script> begins a script.", "<script> begins a script."),
        ("<!-- never closed", "<!-- never closed"),
        ("<Tabs>\n\nIn a tab.\n\n</Tabs>", "In a tab."),
        ("It is <b>bold</b> <button>Save</button>", "It is bold"),
        ("<style>\np {color: red}\n\nb {}\n</style>", ""),
        ("<!-- a\n\nremark -->", ""),
    ],
)
async def test_words_in_angle_brackets_hide_nothing_of_a_markdown_file(tmp_path, written, read_as):
    document = await read(tmp_path, "a.md", f"# Mills\n\n{written}\n\n## Wheels\n\nOak lasts.\n")

    middle = f"{read_as}\n\n" if read_as else ""
    assert texts(document) == f"# Mills\n\n{middle}## Wheels\n\nOak lasts."
