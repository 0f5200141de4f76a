"""Columns of numbers are right-aligned, unless their writer aligned them."""

from __future__ import annotations

import io
import re
import zipfile

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH

from report.exports.export_formats import ExportedReport, find_format
from report.pictures.report_tables import list_report_tables
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from report.rendering.number_columns import align_number_columns
from report.rendering.numbering import NumberedText
from tests.cases import each_case
from tests.unit.test_render import document


def align(body: str) -> str:
    shown = NumberedText(body, [], [], [])
    return align_number_columns(shown, list_report_tables(body)).body


def is_aligned(*cells: str) -> bool:
    rows = "\n".join(f"| x{at} | {cell} |" for at, cell in enumerate(cells))
    return "|---|--:|" in align(f"| name | value |\n|---|---|\n{rows}")


@each_case(
    [
        ("1,234", "2", "-3.5"),
        ("12 %", "0.5%", "n/a"),
        ("$1.2 billion", "—", "$900 million"),
        ("12 km", "340 km", "7 km"),
        ("1.5 GB", "300 MB"),
        ("3–5", "7", "10 to 12"),
        ("5-7 %", "< 1 %", "over 90 %"),
        ("100+", "5", ""),
        ("1,234 (12 %)", "7 (0.1 %)"),
        ("**12**", "`7`", "3 \ue0001, p. 4\ue001\U000f0000"),
        ("12 亿元", "3.4 亿元", "无数据"),
        ("12 people per km²", "7 people per km²"),
    ]
)
def test_numbers_units_shares_ranges_and_gaps_are_right_aligned(cells: tuple[str, ...]):
    assert is_aligned(*cells)


@each_case(
    [
        ("one", "2", "3"),
        ("2024", "1999", "2020–2021"),
        ("2024-05-11", "2024-06-01"),
        ("May 2024", "June 2024"),
        ("n/a", "—", ""),
        ("1.2.3", "1.2.4"),
        ("12:30", "14:15"),
        ("3 small hives in a garden", "1 large hall"),
        ("Section 4", "Section 5"),
    ]
)
def test_words_years_dates_and_names_stay_where_they_are(cells: tuple[str, ...]):
    assert not is_aligned(*cells)


def test_an_alignment_that_the_writer_gave_stays():
    body = "| a | b | c | d |\n|:--|:-:|---|--:|\n| 1 | 2 | 3 | 4 |"

    assert align(body).splitlines()[1] == "|:--|:-:|--:|--:|"


def test_everything_else_of_a_text_stays_as_it_is():
    code = "```\n| a |\n|---|\n| 1 |\n```"
    body = f"Text.\n\n- item\n\n{code}\n\n| a | b |\n|---|---|\n| x | y |\n\nEnd."

    assert align(body) == body


TABLE = "| Bee | Flowers |\n|---|---|\n| worker [S1] | 1,234 |\n| queen | 2 [S2] |\n\nEnd [S1]."


def test_every_format_of_a_text_aligns_numbers_right():
    report = ExportedReport("bees-1", "bees", document(TABLE), {})
    assert "|---|--:|" in render_markdown(document(TABLE))
    page = render_html(document(TABLE))
    cells = re.findall(r"<t[hd]\b([^>]*)>", page)
    assert ['class="right"' in one for one in cells] == [False, True] * 3
    with zipfile.ZipFile(io.BytesIO(find_format("epub").load()(report))) as archive:
        book = archive.read("book/report.xhtml").decode()
        assert book.count('<td class="right">') == 2
        assert ".right { text-align: right; }" in archive.read("book/style.css").decode()
    (table,) = docx.Document(io.BytesIO(find_format("docx").load()(report))).tables
    aligned = [[cell.paragraphs[0].alignment for cell in row.cells] for row in table.rows]
    assert aligned == [[None, WD_ALIGN_PARAGRAPH.RIGHT]] * 3
