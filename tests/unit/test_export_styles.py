"""Citations of exports by number, by author and year, and in footnotes; each can be verified."""

from __future__ import annotations

import io
import re
from datetime import date

import docx
import pytest
from docx.oxml.ns import qn
from lxml import etree
from lxml import html as lxml_html

from config.errors import Problem
from report.exports.author_labels import list_author_labels
from report.exports.bibliography import list_cited_works
from report.exports.export_formats import EXPORT_FORMATS, ExportedReport, check_export_style
from report.rendering.html_page import hash_element
from report.rendering.numbering import number_document
from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.cited_report import parse_report
from report.verify.given_documents import GivenDocument
from report.verify.html_conversion import convert_html_report
from tests.unit.test_exports import BODY, QUOTE, TEXTS, export, make_report, open_epub
from tools.web.urls import canonicalise_url

STYLES = ("numeric", "author-year", "footnotes")


def styled(style: str, **more) -> ExportedReport:
    return make_report(**more)._replace(style=style)


def source(at: int, **more) -> dict:
    plain = {"title": f"Title {at}", "location": f"https://a.example/{at}", "kind": "web"}
    return {"id": f"S{at}", "page": f"p{at}", **plain, **more}


def label(sources: list[dict], language: str = "en") -> list[str]:
    body = " ".join(f"Bees dance [{one['id']}]." for one in sources)
    report = make_report(sources=sources, texts={}, body=body, language=language)
    shown, _ = number_document(report.document)
    return list_author_labels(list_cited_works(report, shown.documents), language)


# --- names by author and year


def test_sources_are_named_by_authors_and_year_with_letters_where_they_are_the_same():
    told = label(
        [
            source(1, author="Karl von Frisch", published="1967-05"),
            source(2, author="von Frisch, Karl", published="1967"),
            source(3, author="Ada Lovelace; Charles Babbage", published="1843"),
            source(4, author="Ada Lovelace; Charles Babbage; ACME", published="1843"),
            source(5, author="王小明", published="2024-01-02"),
        ]
    )

    assert told == [
        "von Frisch 1967a",
        "von Frisch 1967b",
        "Lovelace & Babbage 1843",
        "Lovelace et al. 1843",
        "王小明 2024",
    ]


def test_without_author_or_date_a_source_is_named_by_site_or_title():
    told = label(
        [
            source(1, site="www.bees.example"),
            source(2, site="bees.example"),
            source(
                3, title="A (long); title that has more words than a label can show", kind="file"
            ),
            source(4, title="蜜蜂", published="2020"),
        ]
    )

    assert told == [
        "bees.example n.d.-a",
        "bees.example n.d.-b",
        "A long title that has more words than a… n.d.",
        "蜜蜂 2020",
    ]


def test_a_chinese_report_joins_authors_in_chinese():
    told = label(
        [
            source(1, author="王小明; 李雷", published="2024"),
            source(2, author="王; 李; 韩", site="a"),
        ],
        "zh-CN",
    )

    assert told == ["王小明和李雷 2024", "王等 无日期"]


def test_a_style_that_a_format_cannot_have_is_refused():
    assert [check_export_style(name, "") for name in ("md", "docx", "bib")] == [
        "numeric", "footnotes", "",
    ]  # fmt: skip
    for name, style in (("md", "apa"), ("bib", "numeric"), ("json", "footnotes")):
        with pytest.raises(Problem) as refused:
            check_export_style(name, style)
        assert refused.value.code == "bad_choice"


# --- Markdown and HTML


def test_markdown_cites_authors_and_lists_sources_by_them():
    told = export("md", styled("author-year")).decode()

    assert f"“{QUOTE}” (von Frisch et al. 1967)" in told
    assert "Bees dance (von Frisch et al. 1967; 蜜蜂 100% n.d." in told.replace("\\_", " ").replace(
        "蜜蜂_", "蜜蜂 "
    )
    listed = re.findall(r"^- \*\*(.+?)\*\* ", told, re.MULTILINE)
    assert listed[0] == "von Frisch et al. 1967."
    assert not re.search(r"\[\d", told)


def test_markdown_footnotes_name_the_number_of_the_source_and_the_words():
    told = export("md", styled("footnotes")).decode()

    assert f"“{QUOTE}”[^1]" in told
    assert f"[^1]: [1] Dance & <way>: “{QUOTE}”" in told.replace("\\", "").replace(
        "&amp;", "&"
    ).replace("&lt;", "<").replace("&gt;", ">")
    assert re.search(r"^\[1\] Dance", told, re.MULTILINE)


def test_the_page_in_each_style_has_links_that_lead_somewhere():
    for style in STYLES:
        root = lxml_html.fromstring(export("html", styled(style)))
        ids = [one.get("id") for one in root.xpath("//*[@id]")]
        assert len(ids) == len(set(ids))
        targets = [one.get("href")[1:] for one in root.xpath("//a[starts-with(@href, '#')]")]
        assert set(targets) <= set(ids), style
    told = root.text_content()
    assert f"“{QUOTE}”1" in told
    notes = [" ".join(one.text_content().split()) for one in root.xpath("//section[@role]/ol/li")]
    assert notes[0] == f"[1] Dance & <way>: “{QUOTE}” ↑"


def test_the_page_by_author_and_year_joins_citations_side_by_side():
    root = lxml_html.fromstring(export("html", styled("author-year")))

    told = " ".join(root.find(".//article").text_content().split())
    assert f"“{QUOTE}” (von Frisch et al. 1967)" in told
    assert "Bees dance (von Frisch et al. 1967; 蜜蜂_100% n.d.) with care" in told
    numbers = [one.text_content() for one in root.find_class("number")]
    assert numbers == ["von Frisch et al. 1967.", "蜜蜂_100% n.d."]


def test_only_marks_side_by_side_have_a_comma_between_them():
    body = "Bees dance [S1][S2] and one flies [S1]. Another flies [S2]."
    root = lxml_html.fromstring(export("html", styled("footnotes", body=body)))

    marks = [(one.text, one.get("class")) for one in root.find(".//article").find_class("mark")]
    assert marks == [
        ("1", "ref mark"),
        ("2", "ref mark next"),
        ("3", "ref mark"),
        ("4", "ref mark"),
    ]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["md", "html"])
def test_the_files_of_a_report_are_found_by_their_paths(style: str, name: str):
    one = source(1, title="Bees", kind="file", location="/docs/bees.md")
    body, texts = "In 1927 nobody believed it [S1].", {"S1": "In 1927 nobody believed the dance."}
    page = export(name, styled(style, body=body, sources=[one], texts=texts)).decode()
    text = convert_html_report(page) if name == "html" else page
    report = parse_report(text, canonicalise_url)

    (found,) = report.references
    assert found.address == "/docs/bees.md"
    assert style == "author-year" or (found.label, found.title) == ("1", "Bees")
    assert [use.id for use in report.uses] == [found.id]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["md", "html"])
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_report_is_verified_in_each_style(style: str, name: str, language: str):
    if language == "en":
        body = (
            f'They show the way: <q s="S1">{QUOTE}</q> [S1]\n\nIn 1927 nobody believed it [S1][S3].'
        )
        texts = {"S1": TEXTS["S1"], "S3": "In 1927 nobody believed the dance."}
    else:
        body = "蜜蜂用摇摆舞告诉同伴花的方向 [S1][S3]。\n\n这是1927年发现的 [S3]。"
        told = "蜜蜂用摇摆舞告诉同伴花的方向。这是1927年发现的。"
        texts = {"S1": told, "S3": f"{told}没有人相信。"}
    sources = [
        source(1, title="The dance of bees", author="Karl von Frisch", published="1967"),
        source(3, title="Notes of bees (old)", location="https://b.example/c"),
    ]
    titles = {} if language == "en" else {"title": "蜜蜂", "question": "蜜蜂怎样找到食物？"}
    more = {"body": body, "texts": texts, "sources": sources, "language": language}
    report = styled(style, **more, **titles)
    page = export(name, report).decode()
    documents = [
        GivenDocument(
            one["id"], one["title"], texts[one["id"]], (canonicalise_url(one["location"]),)
        )
        for one in sources
    ]

    def verify(text: str):
        file = VerifiedFile(convert_html_report(text) if name == "html" else text)
        return verify_report(
            file, documents, canonicalise_url, complete=True, today=date(2026, 1, 12)
        )

    found = verify(page)
    assert [(one.id, one.findings) for one in found.checks if one.findings] == []
    assert (found.matched, found.references) == (2, 2)
    assert all(one.status == "ok" for one in found.sentences if one.cited)
    assert sum(bool(one.cited) for one in found.sentences) >= 2
    wrong = verify(page.replace("1927", "1972"))
    assert wrong.failed


# --- Word, EPUB


@pytest.mark.parametrize("style", ["numeric", "author-year"])
def test_citations_in_words_lead_to_their_sources_in_word(style: str):
    document = docx.Document(io.BytesIO(export("docx", styled(style))))

    body = document.element.body
    anchors = [one.get(qn("w:anchor")) for one in body.iter(qn("w:hyperlink"))]
    inside = {one for one in anchors if one}
    names = {one.get(qn("w:name")) for one in body.iter(qn("w:bookmarkStart"))}
    assert inside == {"s1", "s2"}
    assert inside <= names
    assert not list(body.iter(qn("w:footnoteReference")))
    told = "\n".join("".join(one._p.itertext()) for one in document.paragraphs)
    shown = " (von Frisch et al. 1967)" if style == "author-year" else "\u00a0[1]"
    assert f"“{QUOTE}”{shown}" in told


def test_a_book_by_author_and_year_has_no_footnotes():
    page = etree.fromstring(open_epub(styled("author-year"))["book/report.xhtml"])

    assert not list(page.iter("{*}aside"))
    ids = set(page.xpath("//@id"))
    links = [one.get("href") for one in page.iter("{*}a") if one.get("href").startswith("#")]
    assert links
    assert {one[1:] for one in links} <= ids
    assert "(von Frisch et al. 1967; 蜜蜂_100% n.d.)" in "".join(page.itertext())


@pytest.mark.parametrize("name", [name for name, one in EXPORT_FORMATS.items() if one.styles])
def test_every_format_has_every_style(name: str):
    assert set(EXPORT_FORMATS[name].styles) == set(STYLES)
    assert BODY


@pytest.mark.parametrize("style", STYLES)
def test_the_policy_of_a_page_allows_each_style_of_it(style: str):
    page = export("html", styled(style)).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)

    for text in re.findall("<style>(.*?)</style>", page, re.DOTALL):
        assert hash_element(text) in policy
