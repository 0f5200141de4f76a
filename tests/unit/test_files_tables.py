"""Tables in documents are read with each value under its own header, and none is lost."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from docx import Document
from docx.oxml import OxmlElement
from openpyxl import Workbook

from tools.files.extractor import extract_document


def table(rows: list[list[str]]):
    """Return a Word document and its one table."""
    document = Document()
    made = document.add_table(rows=len(rows), cols=len(rows[0]))
    for at, cells in enumerate(rows):
        for column, text in enumerate(cells):
            made.cell(at, column).text = text
    return document, made


async def read_word(folder: Path, document) -> str:
    file = io.BytesIO()
    document.save(file)
    (folder / "a.docx").write_bytes(file.getvalue())
    read = await extract_document(folder / "a.docx")
    return "\n".join(section["text"] for section in read["sections"])


async def test_the_paragraphs_of_a_word_cell_do_not_run_together(tmp_path):
    document, made = table([["Name", "Note"], ["Ann", "She opens the gate."]])
    made.cell(1, 1).add_paragraph("Ben closes it.")

    assert await read_word(tmp_path, document) == (
        "Name: Ann; Note: She opens the gate. Ben closes it."
    )


async def test_a_merged_word_cell_leaves_the_next_ones_under_their_headers(tmp_path):
    document, made = table([["Region", "Q1", "Q2", "Q3"], ["North", "10", "", "30"]])
    made.cell(1, 1).merge(made.cell(1, 2))

    assert await read_word(tmp_path, document) == "Region: North; Q1: 10; Q3: 30."


async def test_a_word_cell_merged_over_rows_is_read_in_each(tmp_path):
    document, made = table([["Region", "Mill"], ["North", "Eling"], ["", "Woodbridge"]])
    made.cell(1, 0).merge(made.cell(2, 0))

    assert "Region: North; Mill: Woodbridge." in await read_word(tmp_path, document)


async def test_rows_in_a_content_control_of_word_are_read(tmp_path):
    document, made = table([["Mill", "Year"], ["Eling", "1785"], ["Woodbridge", "1793"]])
    row = made.rows[1]._tr
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    row.addprevious(control)
    control.append(content)
    content.append(row)

    assert await read_word(tmp_path, document) == (
        "Mill: Eling; Year: 1785.\n\nMill: Woodbridge; Year: 1793."
    )


async def test_a_table_in_a_word_cell_keeps_its_rows_and_headers(tmp_path):
    document, made = table([["Mill", "Output"], ["Eling", ""]])
    inner = made.cell(1, 1).add_table(rows=2, cols=2)
    for at, text in enumerate(["Year", "Tons", "1785", "40"]):
        inner.cell(at // 2, at % 2).text = text

    assert await read_word(tmp_path, document) == "Mill: Eling; Output: Year: 1785; Tons: 40."


async def test_a_title_across_a_word_table_and_a_box_are_no_headers(tmp_path):
    document, made = table([["Mills", ""], ["Mill", "Year"], ["Eling", "1785"]])
    made.cell(0, 0).merge(made.cell(0, 1))
    box = document.add_table(rows=2, cols=1)
    box.cell(0, 0).text, box.cell(1, 0).text = "Note", "Oak wheels last."

    assert await read_word(tmp_path, document) == (
        "Mills.\n\nMill: Eling; Year: 1785.\n\nNote.\n\nOak wheels last."
    )


async def read_html(folder: Path, body: str) -> str:
    (folder / "a.html").write_text(f"<html><title>Mills</title><body>{body}</body></html>")
    read = await extract_document(folder / "a.html")
    return "\n".join(section["text"] for section in read["sections"])


def row(*cells: str, tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


async def test_a_web_table_of_header_cells_alone_is_read(tmp_path):
    rows = row("Name", "Eling", tag="th") + row("Year", "1785", tag="th")

    assert await read_html(tmp_path, f"<h1>Mills</h1><table>{rows}</table>") == (
        "# Mills\n\nName; Eling.\n\nYear; 1785."
    )


async def test_headers_of_a_web_table_without_rows_are_read(tmp_path):
    head = f"<thead>{row('Mill', 'Year', tag='th')}</thead>"

    assert "Mill; Year." in await read_html(tmp_path, f"<h1>Mills</h1><table>{head}</table>")


async def test_a_table_in_a_web_cell_leaves_the_outer_header(tmp_path):
    inner = f"<table>{row('Flour', 'Bran', tag='th')}{row('40', '7')}</table>"
    rows = row("Mill", "Yield", tag="th") + row("Eling", inner) + row("Woodbridge", "none")

    text = await read_html(tmp_path, f"<h1>Mills</h1><table>{rows}</table>")

    assert text.endswith("Eling\n\nFlour: 40; Bran: 7.\n\nMill: Woodbridge; Yield: none.")


@pytest.mark.parametrize("tag", ["thead", "tbody"])
async def test_a_column_of_a_web_table_is_named_by_all_of_its_headers(tmp_path, tag):
    groups = '<tr><th rowspan="2">Mill</th><th colspan="2">Flour</th><th>Bran</th></tr>'
    head = f"<{tag}>{groups}{row('2019', '2020', '2020', tag='th')}</{tag}>"
    rows = f"{head}<tbody>{row('Eling', '40', '41', '7')}</tbody>"

    assert "Mill: Eling; Flour 2019: 40; Flour 2020: 41; Bran 2020: 7." in await read_html(
        tmp_path, f"<h1>Mills</h1><table>{rows}</table>"
    )


@pytest.mark.parametrize(
    ("first", "second", "read_as"),
    [
        ("Country,2019,2020", "France,11,12", "Country: France; 2019: 11; 2020: 12."),
        ("Country,2000,2010,2020", "Chad,1,2,3", "Country: Chad; 2000: 1; 2010: 2; 2020: 3."),
        ("Mill,1914,1918", "Eling,1785,1910", "Mill; 1914; 1918.\nEling; 1785; 1910."),
        ("2019,2020", "11,12", "2019; 2020.\n11; 12."),
        ("Eling,40,41,42", "Ash,1,2,3", "Eling; 40; 41; 42.\nAsh; 1; 2; 3."),
    ],
)
async def test_years_in_their_order_may_head_the_columns_of_a_table(
    tmp_path, first, second, read_as
):
    (tmp_path / "a.csv").write_text(f"{first}\n{second}\n")

    read = await extract_document(tmp_path / "a.csv")

    assert read["sections"][0]["text"] == read_as


async def test_a_cell_of_a_workbook_that_is_merged_over_rows_is_read_in_each(tmp_path):
    book = Workbook()
    for cells in (
        ["Region", "Mill", "Tons"],
        ["North", "Eling", 40],
        ["", "Ash", 7],
        ["S", "T", 1],
    ):
        book.active.append(cells)
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("B4:C4")
    book.save(tmp_path / "a.xlsx")

    read = await extract_document(tmp_path / "a.xlsx")

    assert read["sections"][0]["text"] == (
        "Region: North; Mill: Eling; Tons: 40.\nRegion: North; Mill: Ash; Tons: 7.\n"
        "Region: S; Mill: T."
    )
