"""Two reports are compared by sentence, wherever it stands, and by sources, doubts and status."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.cli.run_diff import list_diff_lines
from report.rendering.diff_page import render_diff_page
from report.report_diff import ReportDiff, ReportEnd, compare_reports, compare_words

SOURCES = [
    {"id": f"S{at}", "page": f"page{at}", "title": title, "location": place, "kind": "web"}
    for at, (title, place) in enumerate(
        [
            ("Heat pumps <in> the cold", "https://energy.example/cold"),
            ("Survey of owners", "https://survey.example/2024"),
            ("Price index", "https://prices.example/hp"),
        ],
        start=1,
    )
]

OLD = """Heat pumps work down to −20 °C [S1]. They are loud in most houses [S2].

## Cost

- A heat pump costs 12,000 euros on average [S2].
- Running it costs about a third less than gas [S1].

## Noise in winter

The fan is heard at night [S2].
"""

NEW = """Heat pumps work down to −20 °C [S1]. The newest models are quiet [S3].

## Cost

- A heat pump costs 14,000 euros on average [S3].
- Running it costs about a third less than gas [S3].

## Outlook

They are loud in most houses [S2].
"""


def report(body: str, **more: Any) -> ReportEnd:
    document = {
        "title": "Are heat pumps worth it?",
        "question": "",
        "status": "succeeded",
        "notices": [],
        "body": body,
        "gaps": [],
        "sources": SOURCES,
        "texts": {},
        "removed": [],
        "doubted": [],
        "unreviewed": 0,
        "language": "en",
        "created": "2026-11-20",
    }
    return ReportEnd(more.pop("run", "run-1"), document | more)  # type: ignore[arg-type]


def compare(old: str = OLD, new: str = NEW, **more: Any) -> ReportDiff:
    return compare_reports(report(old), report(new, run="run-2", **more))


def test_every_sentence_is_added_removed_changed_moved_or_cites_otherwise():
    told = compare().as_dict()

    assert told["added"] == ["The newest models are quiet."]
    assert told["removed"] == ["The fan is heard at night."]
    assert told["changed"] == [
        [
            "A heat pump costs 12,000 euros on average.",
            "A heat pump costs 14,000 euros on average.",
        ]
    ]
    assert told["moved"] == ["They are loud in most houses."]
    assert told["recited"] == ["Running it costs about a third less than gas."]
    assert told["sections"] == {"added": ["Outlook"], "removed": ["Noise in winter"], "changed": []}


def test_sources_status_and_doubts_are_compared():
    old = "It is cold [S1]. It is loud [S2]."
    doubt = {"text": "It is quiet.", "reason": "number", "grade": "not_found"}
    told = compare(old, "It is cold [S1]. It is quiet [S3].", status="partial", doubted=[doubt])

    found = told.as_dict()
    assert [one["title"] for one in found["sources"]["gained"]] == ["Price index"]
    assert [one["title"] for one in found["sources"]["lost"]] == ["Survey of owners"]
    assert found["status"] == ["succeeded", "partial"]
    assert [one["text"] for one in found["doubts"]["gained"]] == ["It is quiet."]
    assert not told.is_empty


def test_other_ids_of_the_same_documents_are_no_difference():
    renamed = [one | {"id": f"S{10 + at}"} for at, one in enumerate(SOURCES)]
    other = OLD.replace("[S1]", "[S10]").replace("[S2]", "[S11]")

    assert compare(OLD, other, sources=renamed).is_empty
    assert compare(OLD, OLD).is_empty


def test_what_is_gone_stands_in_the_section_that_it_was_in():
    sections = compare().sections
    gone = next(one for one in sections if one.change == "removed")

    assert gone.heading
    assert gone.heading.before == "Noise in winter"
    assert [line.before for line in gone.lines] == ["The fan is heard at night."]
    lead = [line.after for line in sections[0].lines]
    assert lead == ["Heat pumps work down to −20 °C.", "The newest models are quiet."]


def test_words_are_compared_one_by_one_and_chinese_by_characters():
    runs = compare_words("It costs 12,000 euros.", "It costs 14,000 euros in 2025.")
    assert [(run.change, run.text) for run in runs] == [
        ("same", "It costs "),
        ("removed", "12,000"),
        ("added", "14,000"),
        ("same", " euros"),
        ("added", " in 2025"),
        ("same", "."),
    ]
    chinese = compare_words("热泵平均价格为一万二千欧元。", "热泵平均价格为一万四千欧元。")
    assert [run.text for run in chinese if run.change != "same"] == ["二", "四"]


@pytest.mark.parametrize(
    ("old", "new"), [("a b c", "x b y"), ("", "new words"), ("old words", ""), ("same", "same")]
)
def test_the_words_of_a_change_give_both_sentences_again(old: str, new: str):
    runs = compare_words(old, new)
    assert "".join(run.text for run in runs if run.change != "added") == old
    assert "".join(run.text for run in runs if run.change != "removed") == new


def test_reports_in_different_languages_are_not_compared_by_sentence():
    found = compare(OLD, "热泵很安静，可以在寒冷的冬天使用[S1]。", language="zh")

    assert not found.comparable
    assert not found.is_empty
    assert not found.sections
    assert "两份报告的语言不同" in render_diff_page(found)
    assert compare("", NEW).comparable


def test_a_terminal_shows_words_in_brackets_without_any_colour():
    lines = [line.plain for line in list_diff_lines(compare())]

    assert "~ A heat pump costs [-12,000-]{+14,000+} euros on average." in lines
    assert "- ## Noise in winter" in lines
    assert "> They are loud in most houses." in lines
    assert "+ Price index  https://prices.example/hp" in lines
    assert "Heat pumps work down to" not in "\n".join(lines)


def test_the_page_marks_changes_for_eyes_and_for_screen_readers():
    page = render_diff_page(compare())

    spoken = '<del><span class="spoken">removed: </span>12,000</del>'
    assert spoken + '<ins><span class="spoken">added: </span>14,000</ins>' in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["']?http""", page)
    assert render_diff_page(compare()) == page


def test_the_page_shows_what_reports_say_as_text():
    hostile = "<img src=x onerror=alert(1)> is said [S1]."
    page = render_diff_page(compare(hostile, hostile.replace("said", "claimed"), title="<b>T</b>"))

    assert "<img" not in page
    assert "<b>T" not in page


def test_a_section_that_is_the_same_is_folded_and_a_chinese_page_has_chinese_words():
    many = "".join(f"句子{word}说明了热泵的用途[S1]。" for word in "甲乙丙丁")
    body = f"{{}}\n\n## 背景\n\n{many}"
    page = render_diff_page(
        compare(body.format("热泵很吵[S1]。"), body.format("热泵很静[S1]。"), language="zh")
    )

    assert "<details" in page
    assert "没有改动" in page
    assert "改动 1 句" in page
    assert 'lang="zh-CN"' in page
