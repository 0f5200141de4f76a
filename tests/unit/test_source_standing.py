"""A sentence that only weak sources say tells so, and no other sentence does."""

from __future__ import annotations

import pytest

from graph.records import Report, Source, StandingRemark
from report.document import ReportDocument
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from report.source_standing import list_standing_remarks
from tests.cases import each_case
from tests.unit.test_independence import OTHER, STORY


def source(name: str, genre: str, site: str = "", author: str = "") -> Source:
    site = site or f"{name.lower()}-site.org"
    one = Source(
        id=name,
        page=name,
        title=name,
        location=f"https://{site}/{name}",
        kind="web",
        site=site,
        genre=genre,  # type: ignore[typeddict-item]
    )
    return one | {"author": author} if author else one  # type: ignore[return-value]


SOURCES = {
    one["id"]: one
    for one in (
        source("S1", "forum"),
        source("S2", "documentation"),
        source("S3", "vendor", "acmegates.com"),
        source("S4", "farm"),
        source("S5", "blog"),
        source("S6", "blog", author="Ada Byron"),
        source("S7", "forum"),
        source("S8", "unknown"),
        source("S9", "news"),
    )
}


def reasons(body: str, texts: dict[str, str] | None = None) -> list[str]:
    return [remark["reason"] for remark in list_standing_remarks(body, SOURCES, texts or {})]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("The gate leaks in winter [S1].", ["forum"]),
        ("The gate leaks in winter [S1][S7].", ["forum"]),
        ("The gate saves a third of the water [S3].", ["vendor"]),
        ("The gate lasts for forty years [S4].", ["farm"]),
        ("The gate lasts for forty years [S5].", ["blog"]),
        ("The gate lasts for forty years [S1][S4].", ["weak"]),
        ('The gate <q s="S1">leaks every winter at the sill</q>.', ["forum"]),
        ("闸门在冬天会漏水 [S1]。", ["forum"]),
        ("| gate | life |\n|---|---|\n| oak | 40 years [S1] |", ["forum"]),
        ("- The gate leaks [S1].\n- The gate is of oak [S2].", ["forum"]),
    ],
)
def test_a_sentence_of_weak_sources_is_found(body: str, reason: list[str]):
    assert reasons(body) == reason


@each_case(
    [
        "The gate leaks in winter [S2].",
        "The gate leaks in winter [S1][S2].",
        "The gate leaks in winter [S6].",
        "The gate leaks in winter [S8].",
        "The gate leaks in winter [S9].",
        "One user reports that the gate leaks in winter [S1].",
        "In a forum, the gate is said to leak in winter [S1].",
        "有用户反映闸门在冬天会漏水 [S1]。",
        "The manufacturer promises that it saves a third [S3].",
        "According to Acmegates, the gate saves a third [S3].",
        "A blog says that the gate lasts for forty years [S5].",
        "The sources do not say how long the gate lasts [S1].",
        "The gate leaks in winter.",
        "The gate leaks in winter [S99].",
        "",
    ]
)
def test_a_sentence_of_good_sources_or_that_says_where_it_is_from_is_left_alone(body: str):
    assert reasons(body) == []


def test_several_copies_of_one_text_are_no_confirmation():
    texts = {"S2": OTHER, "S8": STORY, "S9": f"{STORY} Read more."}

    assert reasons("The mill reopened on Friday [S8][S9].", texts) == ["copies"]
    assert reasons("The mill reopened on Friday [S2][S9].", texts) == []
    assert reasons("The mill reopened on Friday [S9].", texts) == []


def document(language: str, remarks: list[StandingRemark], body: str) -> ReportDocument:
    return ReportDocument(
        title="Gates",
        question="",
        status="succeeded",
        notices=[],
        body=body,
        gaps=[],
        searched=[],
        sources=[*SOURCES.values()],
        texts={},
        removed=[],
        doubted=[],
        standing=remarks,
        unreviewed=0,
        language=language,
        created="2024-05-31",
    )


BODY = "The gate leaks in winter [S1]. It is of oak [S2]."


def test_the_reader_is_told_behind_the_sentence_in_both_formats():
    shown = document("en", list_standing_remarks(BODY, SOURCES, {}), BODY)

    assert "leaks in winter [1] *(only in a forum)*. It is of oak [2]." in render_markdown(shown)
    page = render_html(shown)
    assert '<span class="standing">(only in a forum)</span>. It is of oak' in page


def test_the_reader_is_told_in_chinese():
    body = "闸门在冬天会漏水 [S1]。闸门是橡木的 [S2]。"
    shown = document("zh", list_standing_remarks(body, SOURCES, {}), body)

    assert "（仅见于论坛）。闸门是橡木的" in render_markdown(shown)


def test_a_sentence_may_be_doubted_and_remarked():
    shown = document("en", list_standing_remarks(BODY, SOURCES, {}), BODY)
    shown["doubted"] = [{"text": "The gate leaks in winter.", "reason": "weak", "grade": "weak"}]

    text = render_markdown(shown)

    assert "(⚠ not found) *(only in a forum)*." in text


def test_a_report_of_an_older_version_has_no_remarks():
    shown = document("en", [], BODY)
    del shown["standing"]

    assert "only in" not in render_markdown(shown)
    assert "standing" in Report.__annotations__


def test_the_page_tells_how_many_sources_are_independent():
    shown = document("en", [], "It leaks [S8]. It reopened [S9].")
    shown["texts"] = {"S8": STORY, "S9": STORY}

    assert "2 sources, 1 of them independent" in render_html(shown)
