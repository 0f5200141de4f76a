"""Pictures and tables as files in a page: where they stand, that they are safe, what they say."""

from __future__ import annotations

import base64
import csv
import io
import re
import zipfile
from typing import Any

import pytest
from lxml import etree
from lxml import html as lxml_html

from config.errors import Problem
from graph.records import MEMORY, Source
from report.exports.csv_tables import export_csv, export_only_table
from report.exports.epub_report import export_epub
from report.exports.export_formats import (
    EXPORT_FORMATS,
    ExportedReport,
    Exporter,
    find_format_of_file,
)
from report.exports.report_text import export_markdown
from report.pictures.report_pictures import MAX_CHARTS, draw_pictures
from report.pictures.report_tables import list_report_tables
from report.pictures.source_map import build_source_map
from report.pictures.svg import measure_text, shorten_text, wrap_text
from report.rendering.chat_report import render_chat_report
from report.rendering.html_report import render_html
from report.rendering.numbering import NumberedText, number_document
from report.step_sources import list_step_sources
from report.verify.html_conversion import convert_html_report

TABLE = "| City | Homes |\n|---|--:|\n| A | 120 [S1] |\n| B | n/a |\n| C | 95 [S2] |\n| D | 3 |"
EVENTS = (
    "- 1957: One flies [S1].\n- 1961: Two fly [S2].\n- 1969: They land [S1].\n- 1971: End [S1]."
)
BODY = (
    f"Much is known [S1].\n\n## Homes\n\n{TABLE}\n\nMore.\n\n"
    f"## Flights\n\n{EVENTS}\n\n## End\n\nDone."
)
EVIL = '<script>alert(1)</script>"onload=x & ]]>'


def make_sources(count: int, site: str = "site{}.org") -> list[Source]:
    return [
        Source(
            id=f"S{at}",
            page=f"p{at}",
            title=f"Page {at}",
            location=f"https://{site.format(at)}/{at}",
            kind="web",
        )
        for at in range(1, count + 1)
    ]


def document(body: str = BODY, **more: Any) -> Any:
    plain = {"title": "T", "question": "", "status": "succeeded", "notices": [], "body": body}
    empty = {"gaps": [], "texts": {}, "removed": [], "doubted": [], "unreviewed": 0}
    around = {"language": "en", "created": "2026-01-12", "sources": make_sources(2)}
    method = {"summary": "Two searches.", "parts": []}
    return {**plain, **empty, **around, "method": method, **more}


def list_svg(page: str) -> list[Any]:
    return [etree.fromstring(one.encode()) for one in re.findall("<svg.*?</svg>", page, re.DOTALL)]


def read_csv(page: str) -> list[tuple[str, str]]:
    """Return the names and contents of the tables that a page offers as files."""
    root = lxml_html.document_fromstring(page)
    links = root.xpath("//a[@download]")
    return [
        (one.get("download"), base64.b64decode(one.get("href").partition(",")[2]).decode())
        for one in links
    ]


def test_a_picture_stands_behind_what_it_shows():
    page = render_html(document())
    order = ["Homes</th>", 'class="csv"', 'class="picture bars"', "More.", "They land"]
    order += ['class="picture timeline"', "Done."]
    assert [page.index(one) for one in order] == sorted(page.index(one) for one in order)


def test_a_page_without_tables_and_dates_has_no_pictures():
    page = render_html(document("Nothing is known [S1].\n\n- One\n- Two"))
    assert not list_svg(page)
    assert "download=" not in page


def test_the_page_leaves_no_marks_of_places_behind():
    assert not re.search("[\ue000-\uf8ff\U000f0000-\U0010fffd]", render_html(document()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pictures_are_well_formed_and_load_and_run_nothing(language: str):
    body = BODY.replace("| A |", f"| {EVIL} |").replace("One flies", f"One flies {EVIL}")
    pictures = list_svg(render_html(document(body, language=language)))
    assert len(pictures) == 2
    for root in pictures:
        tags = {etree.QName(one).localname for one in root.iter()}
        assert tags <= {"svg", "title", "desc", "g", "text", "a", "rect", "line", "circle"}
        names = {name for one in root.iter() for name in one.attrib}
        assert not {one for one in names if one.startswith("on") or one in ("style", "id")}
        targets = [one.get("href") for one in root.iter("{*}a")]
        assert all(one.startswith("#") for one in targets)


def test_a_picture_names_itself_and_says_what_it_shows():
    bars, timeline = list_svg(render_html(document()))
    assert (bars.get("role"), bars.get("aria-label")) == ("img", "Bar chart: Homes by City")
    assert bars.findtext("{*}title") == "Bar chart: Homes by City"
    assert bars.findtext("{*}desc").startswith("3 values, from 3 (D) to 120 (A)")
    # The links in an image cannot be reached.
    assert timeline.get("role") == "group"


def test_an_event_leads_to_its_source_and_a_caption_names_them():
    page = render_html(document())
    root = lxml_html.document_fromstring(page)
    links = root.xpath("//figure[contains(@class, 'timeline')]//a")
    assert [one.text for one in links] == ["[1]", "[2]", "[1]", "[1]", "[1]", "[2]"]
    assert all(root.xpath(f"//*[@id='{one.get('href')[1:]}']") for one in links)
    caption = root.xpath("//figure[contains(@class, 'bars')]/figcaption")[0].text_content()
    assert "the table in “Homes”" in caption
    assert caption.endswith("Sources: [1] [2]")


def test_only_so_many_charts_are_drawn():
    shown = NumberedText("\n\n".join([TABLE] * 12), [], [], [])
    shown = shown._replace(body=re.sub(r" \[S\d\]", "", shown.body))
    assert len(draw_pictures(shown, list_report_tables(shown.body), "en")) == MAX_CHARTS


@pytest.mark.parametrize("style", ["numeric", "author-year", "footnotes"])
def test_markdown_has_no_pictures(style: str):
    report = ExportedReport("r", "t", document(), {}, style)
    assert "data:" not in export_markdown(report).decode()
    assert "svg" not in render_chat_report(document(), "n", "t1-1")


def test_a_table_is_offered_as_csv_without_citations():
    ((name, content),) = read_csv(render_html(document()))
    assert name == "table-1-Homes.csv"
    assert content == "\ufeffCity,Homes\r\nA,120\r\nB,n/a\r\nC,95\r\nD,3\r\n"


def test_csv_is_quoted_and_no_cell_is_a_formula():
    cells = [
        'say "hi", Bob',
        "=HYPERLINK(1)",
        "+1-555",
        "-2.5",
        "@sum",
        "−3 %",
        "- none",
        "a\\|b",
        "＝A1",
    ]
    rows = "\n".join(f"| {one} | x |" for one in cells)
    ((_, content),) = read_csv(render_html(document(f"| **Cell** | Y |\n|---|---|\n{rows}")))
    read = [row[0] for row in csv.reader(io.StringIO(content.removeprefix("\ufeff")))]
    assert read == [
        "Cell",
        'say "hi", Bob',
        "'=HYPERLINK(1)",
        "'+1-555",
        "-2.5",
        "'@sum",
        "−3 %",
        "'- none",
        "a|b",
        "'＝A1",
    ]


def test_the_tables_of_a_report_are_exported_as_files_of_one_archive():
    body = f"## 人口\n\n{TABLE}\n\n## 房价\n\n{TABLE}"
    with zipfile.ZipFile(
        io.BytesIO(export_csv(ExportedReport("r", "t", document(body), {})))
    ) as one:
        assert one.namelist() == ["table-1-人口.csv", "table-2-房价.csv"]
        assert one.read("table-1-人口.csv").decode("utf-8-sig").splitlines()[1] == "A,120"


def test_a_file_of_csv_has_the_only_table_and_is_refused_for_several():
    write = EXPORT_FORMATS["csv"].load("homes.CSV")
    told = write(ExportedReport("r", "t", document(), {})).decode("utf-8-sig")
    assert told.splitlines()[:2] == ["City,Homes", "A,120"]
    with pytest.raises(Problem) as raised:
        write(ExportedReport("r", "t", document(f"{TABLE}\n\nMore.\n\n{TABLE}"), {}))
    assert (raised.value.code, ".zip" in raised.value.hint) == ("bad_choice", True)
    assert find_format_of_file("homes.csv") == find_format_of_file("homes.zip") == "csv"


@pytest.mark.parametrize("export", [export_csv, export_only_table])
def test_a_report_without_a_table_says_so(export: Exporter):
    with pytest.raises(Problem) as raised:
        export(ExportedReport("r", "t", document("No table."), {}))
    assert raised.value.code == "no_tables"


def test_a_book_has_the_pictures_on_white():
    book = export_epub(ExportedReport("r", "t", document(), {}))
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        names = [one for one in archive.namelist() if one.endswith(".svg")]
        pictures = [etree.fromstring(archive.read(one)) for one in names]
        page = archive.read("book/report.xhtml").decode()
    assert len(pictures) == 2
    assert all(one.find("{*}rect").get("fill") == "#fff" for one in pictures)
    assert page.index("Homes") < page.index("figure-1.svg") < page.index("More.")
    assert not [link for one in pictures for link in one.iter("{*}a")]


def test_a_page_is_verified_without_its_pictures():
    read = convert_html_report(render_html(document()))
    assert "120 [1]" in read
    assert not [one for one in ("Bar chart", "Timeline", "CSV", "no value") if one in read]


def map_sources(steps: list[list[str]], count: int, site: str = "site{}.org"):
    body = " ".join(f"Fact {at} [S{at}]." for at in range(1, count + 1))
    made = document(
        body,
        sources=make_sources(count, site),
        steps=[{"title": f"Step {at}", "sources": one} for at, one in enumerate(steps, start=1)],
    )
    return build_source_map(made, number_document(made)[0], "en"), made


def test_a_map_says_which_steps_rest_on_which_documents():
    found, made = map_sources([["S1", "S2"], ["S2"], []], 3)
    assert found is not None
    assert [one.steps for one in found.rows] == [(1,), (1, 2), ()]
    root = lxml_html.document_fromstring(render_html(made))
    (table,) = root.xpath("//div[@class='map']/table")
    rows = [[cell.text_content() for cell in row.iter("th", "td")] for row in table.iter("tr")]
    assert rows == [
        ["Source", "1", "2", "3"],
        ["[1] Page 1", "●", "", ""],
        ["[2] Page 2", "●", "●", ""],
        ["[3] Page 3", "", "", ""],
    ]
    assert [one.get("aria-label") for one in table.xpath(".//td/*")] == ["yes"] * 3
    assert next(table.iter("abbr")).get("title") == "Step 1: Step 1"


@pytest.mark.parametrize("steps", [[], [["S1", "S2"]], [["S1"], ["S1"]], [["S1"], [], ["S9"]]])
def test_a_map_that_says_no_more_than_the_list_is_left_out(steps: list[list[str]]):
    found, made = map_sources(steps, 3)
    assert found is None
    assert 'class="map"' not in render_html(made)


def test_many_documents_are_grouped_by_site_and_counted():
    every = [f"S{at}" for at in range(1, 21)]
    found, _ = map_sources([every[:10], every[5:]], 20, "example.org")
    assert found is not None
    assert [(one.label, len(one.numbers), one.steps) for one in found.rows] == [
        ("example.org", 20, (1, 2))
    ]
    found, made = map_sources([every[:10], every[5:]], 20)
    assert found is not None
    assert (len(found.rows), found.more_documents) == (12, 8)
    assert all(f"S{row.numbers[0]}" in every[5:10] for row in found.rows if len(row.steps) == 2)
    assert "<p>and 8 more</p>" in render_html(made)


def test_the_steps_of_a_turn_are_kept_with_what_they_cite():
    step = {"title": "How?", "sources": ["S2"]}
    state: Any = {
        "turn": 2,
        "findings": {"1/a": {**step, "sources": ["S1"]}, "2/b": step, f"2/{MEMORY}": step},
    }
    assert list_step_sources(state) == [step]


def test_text_is_measured_by_the_width_of_its_letters():
    assert measure_text("中文") == pytest.approx(2 * 13, rel=0.05)
    assert measure_text("ill") < measure_text("mmm") / 2


@pytest.mark.parametrize("text", ["一二三四五六七八九十，" * 4, "several words of a sentence " * 4])
def test_lines_keep_to_their_width_and_lose_nothing_but_the_end(text: str):
    lines = wrap_text(text, 100, 3)
    assert len(lines) == 3
    assert all(measure_text(one) <= 100 for one in lines)
    assert text.startswith("".join(lines[:1]))
    assert lines[-1].endswith("…")
    assert not any(one.startswith("，") for one in lines)


def test_a_text_with_room_is_not_cut():
    assert shorten_text("short", 100) == "short"
    assert wrap_text("short", 100, 3) == ["short"]


@pytest.mark.parametrize("row", ["||120|", "| |120|", "|120||", "|A||"])
def test_an_empty_cell_at_the_edge_of_a_table_is_a_cell(row: str):
    (table,) = list_report_tables(f"|City|Homes|\n|---|---|\n{row}")
    assert [one.words for one in table.rows[0]] == [
        one.strip() for one in row.removeprefix("|").removesuffix("|").split("|")
    ]
