"""Exports of a report, opened again by the libraries and programs that read their formats."""

from __future__ import annotations

import base64
import io
import json
import logging
import re
import shutil
import struct
import subprocess
import threading
import zipfile
import zlib
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import docx
import jsonschema_rs
import pypdfium2
import pytest
from docx.oxml.ns import qn
from lxml import etree
from lxml import html as lxml_html

from config.errors import Problem
from report.exports import pdf_report
from report.exports.bundle import read_bundle
from report.exports.export_formats import (
    EXPORT_FORMATS,
    ExportedReport,
    find_format,
    find_format_of_file,
)
from report.rendering.markdown_report import render_markdown
from text.pattern_files import read_packaged_text

QUOTE = "The waggle dance tells other bees the direction of food."
TEXTS = {
    "S1": f"{QUOTE} A longer dance means a longer way.\n\nIn 1927 nobody believed it.",
    "S2": "蜜蜂用摇摆舞告诉同伴花的方向。这是一九二七年发现的。",
}
SOURCES = [
    {
        "id": "S1",
        "page": "page1",
        "title": "Dance & <way>",
        "location": "https://bees.example/a?x=1&y={2}",
        "kind": "web",
        "site": "bees.example",
        "author": "Karl von Frisch; 王小明; ACME",
        "published": "1967-05",
        "language": "en",
    },
    {
        "id": "S2",
        "page": "page2",
        "title": "蜜蜂_100%",
        "location": "/home/ada/蜜蜂.txt",
        "kind": "file",
    },
]
BODY = f"""They show the way: <q s="S1">{QUOTE}</q> [S1]

## What the dance tells 方向

Bees dance [S1][S2] with **care** and `code`.

- one
- two
  - nested [S2]

1. first
2. second

Between.

1. first again
2. second again

> A quoted line [S1].

| Bee | Flowers |
|---|--:|
| worker [S1] | 1,234 |
| 蜜蜂 | 2 |

```python
print("x" < 3)
```

### Below

The end.
"""


def make_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0\xff\0\0\0\xff\0" * 2)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='96' height='48'>"
    b"<rect width='96' height='48' fill='#1a5fb4'/></svg>"
)


def make_report(**more) -> ExportedReport:
    document = {
        "title": "Bees & <dances>",
        "question": "How do bees find food?",
        "status": "succeeded",
        "notices": [],
        "body": BODY,
        "gaps": [],
        "method": {"summary": "Two searches.", "parts": []},
        "sources": SOURCES,
        "texts": TEXTS,
        "removed": [],
        "doubted": [],
        "unreviewed": 0,
        "language": "en",
        "created": "2026-01-12",
        **more,
    }
    return ExportedReport("bees-1", "bees", document, {"S1": "2026-01-11", "S2": "2026-01-10"})


def with_figures() -> ExportedReport:
    figures = [
        {"name": "a.png", "data": base64.b64encode(make_png()).decode()},
        {
            "name": "b.svg",
            "data": base64.b64encode(SVG).decode(),
        },
    ]
    computation = {
        "source": SOURCES[1],
        "code": "print(1)",
        "inputs": ["a.csv"],
        "sha256": "f" * 64,
        "outcome": "same",
        "figures": figures,
    }
    return make_report(computations=[computation])


def export(name: str, report: ExportedReport | None = None) -> bytes:
    return find_format(name).load()(report or make_report())


def run_program(*command: str, data: bytes = b"") -> str:
    """Return what a program prints; without it the test says that it was skipped."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=200)
    return done.stdout.decode()


# --- formats


@pytest.mark.parametrize("name", [one for one in EXPORT_FORMATS if one not in ("pdf",)])
def test_the_same_report_gives_the_same_bytes(name: str):
    assert export(name, with_figures()) == export(name, with_figures())


def test_an_unknown_format_is_refused_with_those_there_are():
    with pytest.raises(Problem) as refused:
        find_format("odt")

    assert refused.value.code == "unknown_format"
    assert refused.value.exit_status == 2
    assert "docx" in str(refused.value)


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.PDF", "pdf"), ("a.csl.json", "csl"), ("a.json", "json"), ("a.b.bib", "bib"), ("pdf", "")],
)
def test_the_name_of_a_file_says_its_format(file: str, name: str):
    assert find_format_of_file(file) == name


# --- Word


def open_docx(report: ExportedReport | None = None):
    content = export("docx", report)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        notes = etree.fromstring(archive.read("word/footnotes.xml"))
    return docx.Document(io.BytesIO(content)), notes


def test_a_document_of_word_has_real_headings_lists_and_tables():
    document, _ = open_docx()

    styles = {one.text: one.style.name for one in document.paragraphs}
    assert styles["Bees & <dances>"] == "Title"
    assert styles["What the dance tells 方向"] == "Heading 1"
    assert styles["Below"] == "Heading 2"
    assert styles["one"] == "List Bullet"
    assert styles["nested"] == "List Bullet 2"
    assert styles["first"] == "List Number"
    assert styles["A quoted line."] == "Quote"
    assert styles['print("x" < 3)'] == "Code"
    (table,) = document.tables
    assert [cell.text for row in table.rows for cell in row.cells] == [
        "Bee", "Flowers", "worker", "1,234", "蜜蜂", "2",
    ]  # fmt: skip
    assert table.rows[0]._tr.trPr.find(qn("w:tblHeader")) is not None


def test_the_columns_of_a_table_of_word_are_as_wide_as_their_words_need():
    narrow = "| Bee | What it is told by another one |\n|---|---|\n| a | b |"
    wide = "|".join(["Observation"] * 14)
    rows = f"|{wide}|\n|{'---|' * 14}\n|{'1,234,567|' * 14}"

    document, _ = open_docx(make_report(body=f"{narrow}\n\nText [S1].\n\n{rows}\n"))

    first, second = document.tables
    section = document.sections[0]
    page = section.page_width - section.left_margin - section.right_margin
    bee, told = (one.width for one in first.columns)
    assert 4 * bee < told
    assert bee + told < page
    assert first.style.name == "Report Table"
    assert second.style.name == "Very Dense Report Table"
    assert sum(one.width for one in second.columns) <= page * 1.001
    assert second.cell(1, 13).paragraphs[0].style.name == "Very Dense Report Table Text"


def test_words_in_cells_of_word_keep_their_emphasis_links_and_spaces():
    document, _ = open_docx(make_report(body="| a |\n|---|\n| one **two** `three` ~~four~~ [S1] |"))

    (cell,) = document.tables[0].rows[1].cells
    runs = cell.paragraphs[0].runs
    assert cell.text == "one two three four"
    assert [one.text for one in runs if one.bold] == ["two"]
    assert [one.text for one in runs if one.font.strike] == ["four"]
    assert [one.text for one in runs if one.style.name == "Code Char"] == ["three"]
    assert cell._tc.findall(f".//{qn('w:footnoteReference')}")
    (head,) = document.tables[0].rows[0].cells
    assert [one.bold for one in head.paragraphs[0].runs] == [True]


def test_each_ordered_list_counts_from_its_own_first_number():
    document, _ = open_docx(make_report(body="1. a\n2. b\n\nText [S1].\n\n7. c\n8. d\n"))

    items = [one for one in document.paragraphs if one.style.name == "List Number"]
    lists = [one._p.pPr.numPr.numId.val for one in items]
    assert lists[0] == lists[1] != lists[2] == lists[3]
    numbers = document.part.numbering_part.element
    starts = [
        numbers.num_having_numId(one).find(f".//{qn('w:startOverride')}").get(qn("w:val"))
        for one in dict.fromkeys(lists)
    ]
    assert starts == ["1", "7"]


def test_a_footnote_of_word_names_the_source_and_the_words_it_rests_on():
    document, notes = open_docx()

    texts = {
        one.get(qn("w:id")): "".join(one.itertext()).strip()
        for one in notes.findall(qn("w:footnote"))
        if one.get(qn("w:type")) is None
    }
    used = [one.get(qn("w:id")) for one in document.element.body.iter(qn("w:footnoteReference"))]
    assert used == list(texts)
    assert texts["1"] == f"[1] Dance & <way>: “{QUOTE}”"
    assert any(one.startswith("[2] 蜜蜂_100%") for one in texts.values())


def test_a_document_of_word_says_its_language_title_and_day():
    document, _ = open_docx(make_report(language="zh-CN"))

    about = document.core_properties
    assert (about.title, about.language, about.identifier) == ("Bees & <dances>", "zh-CN", "bees-1")
    assert about.created.date().isoformat() == "2026-01-12"
    (told,) = document.styles.element.iter(qn("w:lang"))
    assert told.get(qn("w:eastAsia")) == "zh-CN"


def test_a_web_address_is_a_link_in_word():
    document, _ = open_docx()

    links = [one.target_ref for one in document.part.rels.values() if one.is_external]
    assert links == ["https://bees.example/a?x=1&y=%7B2%7D"]


def test_figures_of_word_have_words_for_the_blind_and_captions_that_count():
    document, _ = open_docx(with_figures())

    first, second = document.inline_shapes
    assert [one._inline.docPr.get("descr")[-6:] for one in (first, second)] == ["a.png)", "b.svg)"]
    captions = [one for one in document.paragraphs if one.style.name == "Caption"]
    assert [one.text[:10] for one in captions] == ["Figure 1. ", "Figure 2. "]
    fields = [one.text for one in document.element.body.iter(qn("w:instrText"))]
    assert fields == ["SEQ Figure \\* ARABIC"] * 2


def test_a_figure_in_svg_stays_one_in_word_with_a_picture_for_others():
    document, _ = open_docx(with_figures())

    second = document.inline_shapes[1]
    blip = second._inline.graphic.graphicData.pic.blipFill.blip
    (vectors,) = blip.iter("{http://schemas.microsoft.com/office/drawing/2016/SVG/main}svgBlip")
    parts = document.part.related_parts
    assert etree.fromstring(parts[vectors.get(qn("r:embed"))].blob).tag.endswith("svg")
    assert parts[blip.embed].image.content_type == "image/png"
    assert (second.width.inches, second.height.inches) == (1, 0.5)


@pytest.mark.parametrize("inside", ["<image href='/etc/hostname'/>", "<image href='http://a/b'/>"])
def test_a_figure_in_svg_brings_nothing_else_into_a_document(inside: str):
    report = with_figures()
    figure = report.document["computations"][0]["figures"][1]
    figure["data"] = base64.b64encode(SVG.replace(b"</svg>", f"{inside}</svg>".encode())).decode()

    document, _ = open_docx(report)

    parts = [one for one in document.part.package.iter_parts() if one.partname.ext == "svg"]
    assert len(parts) == 1
    assert b"href" not in parts[0].blob


def test_a_figure_that_cannot_be_read_is_only_named_in_word():
    report = with_figures()
    report.document["computations"][0]["figures"][1]["data"] = base64.b64encode(b"<svg").decode()

    document, _ = open_docx(report)

    assert len(document.inline_shapes) == 1
    assert any(one.text.startswith("Figure 2. ") for one in document.paragraphs)


def test_pandoc_reads_the_footnotes_of_a_document_of_word(tmp_path: Path):
    file = tmp_path / "a.docx"
    file.write_bytes(export("docx"))

    told = run_program("pandoc", str(file), "-t", "markdown", "--wrap=none")

    assert "# What the dance tells 方向" in told
    assert re.search(r"\[\^1\]: \\\[1\\\] Dance .*waggle dance", told)


@pytest.mark.parametrize(
    ("name", "style"), [("docx", "numeric"), ("epub", "footnotes"), ("html", "author-year")]
)
def test_characters_that_xml_cannot_have_are_blanks(name: str, style: str):
    sources = [{**one, "title": "Dance\x0b \x9cnotes", "author": "Ada\x00 B"} for one in SOURCES]
    odd = make_report(title="Bees\x0c and\x07 food", sources=sources)._replace(style=style)

    assert export(name, odd)


def test_libreoffice_opens_a_document_of_word(tmp_path: Path):
    (tmp_path / "a.docx").write_bytes(export("docx", with_figures()))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    convert = ("--headless", "--convert-to", "pdf", "--outdir", str(tmp_path))
    run_program("soffice", profile, *convert, str(tmp_path / "a.docx"))

    told = run_program("pdftotext", "-layout", str(tmp_path / "a.pdf"), "-")

    assert "[1] Dance & <way>" in told
    assert "What the dance tells" in told


# --- EPUB


def open_epub(report: ExportedReport | None = None) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(export("epub", report))) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_book_names_each_of_its_files_and_each_link_in_it_leads_somewhere():
    files = open_epub(with_figures())

    package = etree.fromstring(files["book/package.opf"])
    listed = {one.get("href") for one in package.iter("{*}item")}
    assert listed | {"package.opf"} == {
        name.removeprefix("book/") for name in files if name.startswith("book/")
    }
    page = etree.fromstring(files["book/report.xhtml"])
    ids = {one.get("id") for one in page.iter() if one.get("id")}
    inside = [
        one.get("href") for one in page.iter("{*}a") if not one.get("href").startswith("http")
    ]
    assert {one.removeprefix("#") for one in inside} <= ids
    contents = etree.fromstring(files["book/contents.xhtml"])
    entries = [one.get("href").partition("#")[2] for one in contents.iter("{*}a")]
    assert set(filter(None, entries)) <= ids
    assert {one.get("src") for one in page.iter("{*}img")} == {"figure-1.png", "figure-2.svg"}
    assert files["book/figure-1.png"] == make_png()


def test_a_page_of_a_book_is_also_read_by_those_who_take_it_for_html():
    page = open_epub(with_figures())["book/report.xhtml"].decode()

    assert "<article" in page
    assert not re.search(r"</?\w+:\w+[ >]", page)


def test_a_footnote_of_a_book_leads_back_and_to_its_source():
    page = etree.fromstring(open_epub()["book/report.xhtml"])

    notes = list(page.iter("{*}aside"))
    references = [one for one in page.iter("{*}a") if one.get("class") == "note"]
    assert [f"#{one.get('id')}" for one in notes] == [one.get("href") for one in references]
    back, source = notes[0].iter("{*}a")
    assert back.get("href") == f"#{references[0].get('id')}"
    (entry,) = page.xpath(f"//*[@id='{source.get('href')[1:]}']")
    assert "Dance & <way>" in "".join(entry.itertext())
    assert QUOTE in "".join(notes[0].itertext())


def test_what_a_model_or_a_source_wrote_is_no_markup_in_a_book():
    report = make_report(title="<script>x</script>", body="<b onclick='x()'>Hi</b> & [S1] ]]>")

    page = etree.fromstring(open_epub(report)["book/report.xhtml"])

    assert not list(page.iter("{*}script", "{*}b"))
    assert "<script>x</script>" in "".join(page.itertext())


def test_pandoc_reads_a_book(tmp_path: Path):
    (tmp_path / "a.epub").write_bytes(export("epub"))

    told = run_program("pandoc", str(tmp_path / "a.epub"), "-t", "plain", "--wrap=none")

    assert "What the dance tells 方向" in told
    assert "蜜蜂_100%" in told


# --- bibliographies


def test_sources_are_escaped_for_tex_and_addresses_are_not():
    told = export("bib").decode()

    assert "@misc{frisch1967,\n" in told
    assert "title = {{Dance \\& <way>}}," in told
    assert "author = {Karl von Frisch and {王小明} and {ACME}}," in told
    assert "url = {https://bees.example/a?x=1&y=%7B2%7D}," in told
    assert "urldate = {2026-01-11}," in told
    assert "month = may," in told
    assert "title = {{蜜蜂\\_100\\%}}," in told
    assert "howpublished = {/home/ada/蜜蜂.txt}," in told


def test_pandoc_reads_the_bibliography_as_it_is_meant():
    told = run_program("pandoc", "-f", "biblatex", "-t", "csljson", data=export("bib"))

    first, second = json.loads(told)
    assert first["title"].replace('<span class="nocase">', "").startswith("Dance & ")
    assert first["URL"] == "https://bees.example/a?x=1&y=%7B2%7D"
    assert first["issued"]["date-parts"] == [[1967, 5]]
    assert first["accessed"]["date-parts"] == [[2026, 1, 11]]
    assert [one.get("family") or one.get("literal") for one in first["author"]] == [
        "Frisch", "王小明", "ACME",
    ]  # fmt: skip
    assert "蜜蜂_100%" in second["title"]


def test_works_of_one_author_and_year_have_keys_of_their_own():
    sources = [
        SOURCES[0] | {"id": f"S{at}", "location": f"https://a.example/{at}"} for at in (1, 2)
    ]

    keys = [one["id"] for one in json.loads(export("csl", make_report(sources=sources)))]

    assert keys == ["frisch1967", "frisch1967-2"]


def test_csl_names_what_is_known_and_nothing_else():
    web, file = json.loads(export("csl"))

    assert web["author"][1] == {"literal": "王小明"}
    assert web["issued"] == {"date-parts": [[1967, 5]]}
    assert web["accessed"] == {"date-parts": [[2026, 1, 11]]}
    assert file.keys() == {"id", "type", "title", "archive_location", "citation-number"}


# --- the bundle


def test_a_bundle_read_again_gives_the_same_report():
    report = with_figures()

    again = read_bundle(export("json", report))

    assert again == report.document
    assert render_markdown(again) == render_markdown(report.document)


def test_a_bundle_has_each_page_with_its_hash_and_where_each_citation_leads():
    bundle = json.loads(export("json"))

    assert (bundle["format"], bundle["version"]) == ("dossier-report", 1)
    assert {one["source"]: one["text"] for one in bundle["evidence"]} == TEXTS
    assert bundle["evidence"][0]["page"] == "page1"
    first = bundle["citations"][0]
    (passage,) = first["passages"]
    text = TEXTS[passage["source"]]
    assert passage["words"] == text[passage["start"] : passage["end"]] == QUOTE
    assert first["sentence"] == f"They show the way: “{QUOTE}”"


def test_a_bundle_fits_its_published_schema_and_a_damaged_one_does_not():
    schema = jsonschema_rs.validator_for(read_packaged_text("report.exports", "bundle.schema.json"))
    bundle = json.loads(export("json", with_figures()))

    assert [one.message for one in schema.iter_errors(bundle)] == []
    for damaged in (
        bundle | {"version": 2},
        {key: bundle[key] for key in bundle if key != "citations"},
        bundle | {"evidence": [bundle["evidence"][0] | {"sha256": "0"}]},
        bundle | {"document": bundle["document"] | {"texts": {}}},
    ):
        assert not schema.is_valid(damaged)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one | {"version": 2},
        lambda one: one | {"format": "other"},
        lambda one: {key: one[key] for key in one if key != "evidence"},
        lambda one: one | {"evidence": [one["evidence"][0] | {"text": "Other words."}]},
        lambda one: [one],
    ],
)
def test_a_bundle_that_is_another_or_was_changed_is_refused(change):
    changed = change(json.loads(export("json")))

    with pytest.raises(Problem) as refused:
        read_bundle(json.dumps(changed).encode())

    assert refused.value.code == "export_invalid"


# --- PDF


@pytest.fixture(scope="module")
def pdf() -> bytes:
    pytest.importorskip("weasyprint")
    return export("pdf", make_report(texts={}, language="zh-CN"))


def test_a_pdf_has_title_outline_links_and_the_text_of_the_page(pdf: bytes):
    pypdf = pytest.importorskip("pypdf")

    read = pypdf.PdfReader(io.BytesIO(pdf))

    told = "\n".join(page.extract_text() for page in read.pages)
    assert read.metadata.title == "Bees & <dances>"
    assert read.metadata.author == "Dossier"
    assert read.metadata.creation_date.date().isoformat() == "2026-01-12"
    assert "They show the way" in told
    assert f"1 / {len(read.pages)}" in told
    outline = str(read.outline)
    assert "What the dance tells" in outline
    links = [
        one.get_object()["/A"]["/URI"]
        for page in read.pages
        for one in page.get("/Annots", [])
        if "/A" in one.get_object()
    ]
    assert "https://bees.example/a?x=1&y=%7B2%7D" in links


def test_a_pdf_is_tagged_for_screen_readers_in_its_language(pdf: bytes):
    pypdf = pytest.importorskip("pypdf")

    root = pypdf.PdfReader(io.BytesIO(pdf)).trailer["/Root"]

    assert root["/Lang"] == "zh-CN"
    assert root["/MarkInfo"]["/Marked"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert b"pdfuaid:part" in root["/Metadata"].get_object().get_data()
    assert "/StructTreeRoot" in root


def test_the_same_report_gives_the_same_pdf(pdf: bytes):
    assert export("pdf", make_report(texts={}, language="zh-CN")) == pdf


def test_pdftotext_reads_chinese_in_a_pdf(pdf: bytes, tmp_path: Path):
    (tmp_path / "a.pdf").write_bytes(pdf)

    told = run_program("pdftotext", str(tmp_path / "a.pdf"), "-")

    assert "What the dance tells 方向" in told
    assert "蜜蜂_100%" in told


def prepare_pdf(report: ExportedReport) -> str:
    """Return the page from which a PDF is drawn."""
    return pdf_report.prepare_page(find_format("html").load()(report).decode(), report.document)


def test_a_pdf_has_below_each_source_the_sentences_that_rest_on_it_and_their_places():
    page = lxml_html.document_fromstring(prepare_pdf(make_report()))

    (told, *_) = page.xpath("//*[@id='s1']//ul[@class='uses']//a")
    assert told.text_content() == f"They show the way: “{QUOTE}”"
    assert page.xpath(f"//a[@class='ref'][@id='{told.get('href')[1:]}']")
    doubtful = make_report(doubted=[{"text": "The end.", "reason": "numbers", "proof": ""}])
    page = lxml_html.document_fromstring(prepare_pdf(doubtful))
    assert page.find_class("doubts")
    assert not page.xpath("//*[@class='doubts']//a[@class='back']")


def test_a_table_of_a_pdf_is_as_dense_as_the_page_needs_and_its_ends_stay_together():
    def table(columns: int, rows: int) -> str:
        head = "|".join(["Observation"] * columns)
        return f"|{head}|\n|{'---|' * columns}\n" + f"|{'words|' * columns}\n" * rows

    body = "\n\nText.\n\n".join(table(*size) for size in ((2, 3), (8, 20), (10, 20), (30, 20)))
    page = lxml_html.document_fromstring(prepare_pdf(make_report(body=f"{body}\n\nEnd [S1].")))

    frames = page.find_class("table")
    assert [one.get("class") for one in frames] == [
        "table short",
        "table dense",
        "table very-dense",
        "table very-dense broken",
    ]
    kept = [row.get("class") == "kept" for row in frames[1].iter("tr")]
    assert kept == [True] * 3 + [False] * 15 + [True] * 2 + [False]


def test_no_column_of_a_wide_table_of_a_pdf_is_beyond_its_page():
    pytest.importorskip("weasyprint")
    cells = "|".join(f"Observation{at:02}" for at in range(14))
    body = f"|{cells}|\n|{'---|' * 14}\n|{cells}|\n\nEnd [S1]."

    made = export("pdf", make_report(body=body, texts={}, sources=SOURCES[:1]))

    with closing(pypdfium2.PdfDocument(made)) as opened:
        text = opened[0].get_textpage()
        assert text.get_text_range().count("Ob") == 2 * 14
        right = max(text.get_charbox(at)[2] for at in range(text.count_chars()))
        assert right < opened[0].get_width() - 50


def test_very_long_words_of_a_pdf_are_broken_in_pieces_and_whole():
    word, other = "x1y2z3" * 500, "0123456789" * 200
    body = f"Words {word} and *{other}* and\n\n```\n{other}\n```\n\n{'蜜' * 900} [S1]."
    report = make_report(body=body, texts={})

    page = prepare_pdf(report)

    pieces = re.findall(r'<span class="piece">(\w+)</span>', page)
    assert max(map(len, pieces)) == 200
    assert "".join(pieces) == word + other + other
    assert re.search(
        r"<p>Words <span class=\"piece\">x1.*</span> and <em><span.*</em> and</p>", page
    )


def test_no_letter_of_a_long_word_is_lost_in_a_pdf(tmp_path: Path):
    pytest.importorskip("weasyprint")
    word = "".join(f"{at:04}" for at in range(300))
    report = make_report(body=f"Word {word} [S1].", texts={}, sources=SOURCES[:1])
    (tmp_path / "a.pdf").write_bytes(export("pdf", report))

    told = run_program("pdftotext", "-raw", str(tmp_path / "a.pdf"), "-")

    assert word in "".join(told.split())


def test_footnotes_stand_at_the_foot_of_the_page_of_a_pdf():
    pytest.importorskip("weasyprint")
    pypdf = pytest.importorskip("pypdf")
    body = "Bees dance [S1]." + "\n\nThe end of the page comes." * 60

    made = export("pdf", make_report(body=body, sources=SOURCES[:1])._replace(style="footnotes"))

    first = pypdf.PdfReader(io.BytesIO(made)).pages[0].extract_text()
    assert first.index("The end of the page") < first.index("1. [1] Dance & <way>")


def test_a_long_pdf_has_contents_and_a_running_title_and_a_short_one_has_not():
    page = find_format("html").load()(make_report()).decode()
    long = make_report(body=BODY + "\n\nBees dance in the dark [S1]." * 400)
    pages = find_format("html").load()(long).decode()

    short, contents = (
        pdf_report.prepare_page(one, report.document)
        for one, report in ((page, make_report()), (pages, long))
    )

    assert "contents" not in re.sub(r"<style>.*?</style>", "", short, flags=re.DOTALL)
    assert '<nav class="contents"><h2>Contents</h2>' in contents
    assert re.search(
        r'<li><a href="#(h\d)">What the dance tells 方向</a></li>.*<h2 id="\1">',
        contents,
        re.DOTALL,
    )
    assert 'class="card"' not in contents


def test_nothing_is_fetched_while_a_pdf_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    pytest.importorskip("weasyprint")
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"http://127.0.0.1:{server.server_port}"
    (tmp_path / "a.css").write_text("p { font-size: 40pt }")
    page = (
        f"<html><head><link rel=stylesheet href='{host}/a.css'>"
        f"<link rel=stylesheet href='file://{tmp_path}/a.css'></head>"
        f"<body><img src='{host}/b.png'><p>Bees</p></body></html>"
    )
    monkeypatch.setattr(pdf_report, "render_styled_page", lambda *_, **__: page)
    try:
        assert export("pdf").startswith(b"%PDF")
    finally:
        server.shutdown()
        server.server_close()

    assert asked == []


def test_a_pdf_without_the_package_or_its_libraries_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(__import__("sys").modules, "weasyprint", None)
    with pytest.raises(Problem) as missing:
        export("pdf")
    assert missing.value.code == "pdf_unavailable"
    assert "dossier[pdf]" in str(missing.value)

    monkeypatch.delitem(__import__("sys").modules, "weasyprint")
    (tmp_path / "weasyprint.py").write_text("raise OSError('cannot load library pango')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Problem) as unloaded:
        export("pdf")
    assert unloaded.value.code == "pdf_unavailable"
    assert "libpango" in str(unloaded.value)


@pytest.mark.parametrize(("letter", "is_refused"), [("蜂", True), ("🐝", False)])
def test_a_pdf_without_a_font_for_chinese_is_refused(
    monkeypatch: pytest.MonkeyPatch, letter: str, is_refused: bool
):
    def draw(**_):
        message = '.notdef glyph rendered for Unicode string unsupported by fonts: "%s" (U+%04X)'
        logging.getLogger("weasyprint").warning(message, letter, ord(letter))
        return b"%PDF"

    stub = SimpleNamespace(
        URLFetcher=lambda **_: None,
        CSS=lambda **_: None,
        HTML=lambda **_: SimpleNamespace(write_pdf=draw),
    )
    monkeypatch.setattr(pdf_report, "_import_weasyprint", lambda: stub)

    if not is_refused:
        assert export("pdf") == b"%PDF"
        return
    with pytest.raises(Problem) as refused:
        export("pdf")
    assert refused.value.code == "pdf_unavailable"
    assert "fonts-noto-cjk" in str(refused.value)
