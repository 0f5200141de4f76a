"""The page of a report shows what was checked, where it is from, and how to get about in it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from lxml import html as lxml_html

from report.document import ReportDocument
from report.labels import describe_badge, get_badge_label
from report.rendering.citation_badges import BADGE_KINDS
from report.rendering.html_report import render_html
from tests.report_samples import SOURCES, make_empty_report, make_long_report, make_rich_report

LANGUAGES = ["en", "zh"]


def read(document: ReportDocument) -> Any:
    return lxml_html.document_fromstring(render_html(document).encode())


@cache
def read_long() -> Any:
    return read(make_long_report())


def text(element: Any) -> str:
    return " ".join(element.text_content().split())


def one(page: Any, place: str) -> Any:
    (found,) = page.xpath(place)
    return found


def badge_of(page: Any, words: str) -> str:
    """Return the kind of the badge in the card of the first citation behind some words."""
    for link in page.xpath("//article//a[@class='ref']"):
        before = "".join(link.xpath("preceding-sibling::node()/descendant-or-self::text()"))
        if before.strip().endswith(words):
            return one(
                page, f"//*[@id='{link.get('href')[1:]}']//a[contains(@class, 'check')]"
            ).get("class")
    raise AssertionError(words)


# --- badges


@pytest.mark.parametrize(
    ("words", "badge"),
    [
        ("the food to the sun”", "check verbatim"),
        ("von Frisch in 1927", "check supported"),
        ("from 12 to 19 degrees", "check supported"),
        ("mean error is 14.2 degrees", "check computed"),
        ("the place", "check contradicted"),
    ],
)
def test_the_card_of_a_citation_says_what_the_checks_found(words: str, badge: str):
    assert badge_of(read(make_rich_report()), words) == badge


def test_what_the_writer_concludes_is_an_inference_in_an_assessment_too():
    page = read(make_rich_report())

    uses = page.xpath("//ul[@class='uses']/li")
    shown = {text(use[0]): text(use[1]) for use in uses}
    assert shown["So a follower has to search a wide strip."] == "∴ Inference"
    assert shown["The dance saves most of the search."] == "∴ Inference"


@pytest.mark.parametrize("reason", ["strength", "number", "negation"])
def test_a_quotation_in_a_doubted_sentence_has_the_badge_of_the_doubt(reason: str):
    said = "The angle of the run to the vertical is the angle of the food to the sun."
    document = make_rich_report()
    document["body"] = f'<q s="S1">{said}</q> [S1]'
    document["doubted"] = [{"text": said, "reason": reason}]
    document["standing"] = document["inferred"] = []

    badge = one(read(document), "//*[@id='e1']//a[contains(@class, 'check')]")
    assert badge.get("class").removeprefix("check ") in ("weak", "not_found", "contradicted")
    assert badge.get("href") == "#d1"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_legend_explains_the_badges_that_occur_and_no_others(language: str):
    page = read(make_rich_report(language))

    kinds = ["verbatim", "supported", "computed", "inference", "contradicted"]
    names = [text(name) for name in page.xpath("//section[@class='badge-legend']//dt/span")]
    assert [name.split(" ", 1)[1] for name in names] == [
        get_badge_label(kind, language) for kind in kinds
    ]
    told = [text(line) for line in page.xpath("//section[@class='badge-legend']//dd")]
    assert told == [describe_badge(kind, language) for kind in kinds]


def test_the_legend_counts_the_citations_of_the_text():
    page = read(make_rich_report())

    counts = [int(text(line).split()[-2]) for line in page.xpath("//*[@class='badge-legend']//dt")]
    assert sum(counts) == len(page.xpath("//article//a[@class='ref']"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", BADGE_KINDS)
def test_every_badge_has_a_name_and_a_meaning(kind: str, language: str):
    assert get_badge_label(kind, language)
    assert describe_badge(kind, language)


def test_a_supported_sentence_carries_no_mark_in_the_text():
    article = one(read(make_rich_report()), "//article")

    assert not article.xpath(".//*[contains(@class, 'check')]")
    assert "Supported" not in text(article)


# --- sources


def test_a_source_says_what_it_is_worth_and_of_which_one_it_is_a_copy():
    page = read(make_rich_report())

    notes = {
        li.get("id"): text(li.xpath(".//span[@class='source-note']")[0])
        for li in page.xpath("//section[@class='sources']/ol/li")
        if li.xpath(".//span[@class='source-note']")
    }
    assert notes["s1"] == "encyclopedia · the same text as [2]"
    assert notes["s2"] == "blog · ⚠ weak source · the same text as [1]"
    assert notes["s3"] == "forum · ⚠ weak source"
    assert text(one(page, "//*[@id='e2']//span[@class='source-note']")) == notes["s1"]


def test_sources_of_one_site_are_said_to_be_so_and_only_a_few_are_named():
    document = make_rich_report()
    alike = [source | {"site": "same.example", "kind": "web"} for source in SOURCES]
    document["sources"] = [one | {"location": f"https://same.example/{one['id']}"} for one in alike]

    notes = [text(note) for note in read(document).xpath("//li//span[@class='source-note']")]
    assert "forum · ⚠ weak source · from the same site as [1], [2], [4] …" in notes


def test_every_citation_is_among_the_sentences_that_rest_on_its_source():
    for page in (read(make_rich_report()), read(make_rich_report("zh")), read_long()):
        for number, source in enumerate(page.xpath("//section[@class='sources']/ol/li"), start=1):
            cited = {
                link.get("id")
                for link in page.xpath("//a[@class='ref']")
                if text(link).strip("[]").split(",")[0] == str(number)
            }
            back = {
                link.get("href")[1:]
                for link in source.xpath(".//ul[@class='uses']//a[@class='back']")
            }
            assert back == cited


def test_every_link_within_a_page_leads_somewhere():
    short = [make_rich_report(), make_rich_report("zh"), make_empty_report()]
    for page in [*map(read, short), read_long()]:
        links = {link[1:] for link in page.xpath("//a/@href") if link.startswith("#")}
        ids = page.xpath("//@id")
        assert links <= set(ids)
        assert len(ids) == len(set(ids))


# --- getting about


def test_a_long_report_has_contents_with_every_heading_and_a_short_one_has_none():
    page = read_long()

    headings = {h.get("id"): text(h) for h in page.xpath("//main//h2[not(ancestor::nav)]")}
    entries = {a.get("href")[1:]: text(a) for a in page.xpath("//nav//a")}
    assert entries == headings
    assert next(iter(entries.values())) == "Part 1"
    assert "Sources" in entries.values()
    assert not read(make_rich_report()).xpath("//nav")


def test_contents_name_a_heading_without_its_citations_and_marks():
    document = make_long_report()
    document["body"] = f"## Bees *dance* [S1]\n\n{document['body']}"
    document["doubted"] = [{"text": "Bees dance", "reason": "number"}]

    assert text(read(document).xpath("//nav//a")[0]) == "Bees dance"


def test_of_very_many_headings_only_those_of_the_second_rank_are_in_the_contents():
    document = make_long_report()
    document["body"] += "".join(f"\n\n### Detail {at}\n\nMore." for at in range(40))

    assert not [entry for entry in read(document).xpath("//nav//a") if "Detail" in text(entry)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_headings_skip_no_rank(language: str):
    ranks = [
        int(h.tag[1]) for h in read(make_rich_report(language)).xpath("//h1|//h2|//h3|//h4|//h5")
    ]

    assert ranks[0] == 1
    assert 3 not in ranks[:2]
    assert all(after <= before + 1 for before, after in pairwise(ranks))


def test_a_table_has_a_name_heads_of_its_columns_and_classes_for_its_alignment():
    frame = one(read(make_rich_report()), "//div[@class='table']")

    assert (frame.get("role"), frame.get("tabindex"), frame.get("aria-label")) == (
        "region",
        "0",
        "Table 1",
    )
    assert [head.get("scope") for head in frame.xpath(".//th")] == ["col"] * 3
    assert [cell.get("class") for cell in frame.xpath(".//td")] == [None, "right", "center"]


def test_words_of_another_language_say_so():
    page = read(make_rich_report())

    assert page.get("lang") == "en"
    (quoted,) = page.xpath("//article//span[@class='quote'][@lang]")
    assert (quoted.get("lang"), text(quoted)) == ("zh-CN", "“奔跑的时间越长，食物越远”")
    shown = {quote.get("lang") for quote in page.xpath("//li[@id='s6']//blockquote")}
    assert shown == {"zh-CN"}
    assert {quote.get("lang") for quote in page.xpath("//li[@id='s1']//blockquote")} == {None}
    chinese = read(make_rich_report("zh"))
    assert {quote.get("lang") for quote in chinese.xpath("//li[@id='s2']//blockquote")} == {"en"}


def test_a_language_that_a_source_declares_is_told_unless_it_is_no_language():
    document = make_rich_report()
    document["sources"] = [
        source | {"language": "de" if source["id"] == "S1" else '"><b>'} for source in SOURCES
    ]

    page = read(document)
    assert {quote.get("lang") for quote in page.xpath("//li[@id='s1']//blockquote")} == {"de"}
    assert {quote.get("lang") for quote in page.xpath("//li[@id='s3']//blockquote")} == {None}


def test_the_title_stands_at_the_head_of_printed_pages_and_ends_no_string():
    document = make_rich_report()
    document["title"] = 'A "title" \\ </style>'

    page = render_html(document)
    assert 'content: "A \\22 title\\22  \\5c  \\3c \\2f style\\3e "' in page
    assert page.count("</style>") == 1


def test_a_report_of_5000_words_is_a_page_below_a_megabyte():
    assert len(render_html(make_long_report()).encode()) < 1_000_000
