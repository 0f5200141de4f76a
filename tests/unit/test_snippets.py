"""Code that people copy is looked through line by line."""

from __future__ import annotations

import pytest

from graph.records import Source
from report.checks.attribution import CheckedText, enforce_citations
from report.checks.second_reader import ClaimVerdict, Ruling
from report.document import ReportDocument
from report.markdown.code import extract_code_names, find_similar_code_name, list_code_lines
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown

MANUAL = (
    "TIMER(5)\n\n  OnCalendar=\n  Defines when the timer elapses.\n\n  Persistent=\n  If true, a "
    "missed run follows at once.\n\n  WakeSystem=\n  If true, the machine resumes from suspend.\n\n"
    "  rotate count\n  Files are rotated count times.\n\n  maxsize size\n  Files are rotated when "
    "they grow beyond it.\n\n  maxage count\n  Older files are removed.\n\n  --[no-]quiet\n  Says "
    "nothing.\n\n  --vacuum-size=\n  Removes the oldest files.\n\n  open_valve(port)\n  Opens it.\n"
    "  close_valve(port)\n  Closes it.\n"
)
TEXTS = {"S1": MANUAL, "S2": "The harbour has seven piers and no lighthouse."}
LEAD = "A timer resumes the machine from suspend [S1]. It could look like this:"


def checked(body: str, question: str = "", ruling: Ruling | None = None) -> CheckedText:
    return enforce_citations(body, TEXTS, question, ruling=ruling or Ruling())


def doubted(code: str, lead: str = LEAD, question: str = "") -> list[tuple[str, str]]:
    found = checked(f"{lead}\n\n```\n{code}\n```", question).doubted
    return [(one["text"].strip("`"), one["reason"]) for one in found]


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("[Timer]\nOnCalendar=daily\nWakeSuspend=true\nPersistent=true", "WakeSuspend=true"),
        ("rotate 4\nmaxsize 10M\nmaxdays 28", "maxdays 28"),
        ("journal --vacuum-size=1G\njournal --vacuum-age=4w", "journal --vacuum-age=4w"),
        ("open_valve(port)\nclose_valve(port)\nshut_valve(port)", "shut_valve(port)"),
        ("OnCalendar=daily  # 每天\nPersistent=true\nOnSuspend=true", "OnSuspend=true"),
    ],
)
def test_a_name_that_no_page_has_is_doubted_among_names_that_pages_have(code: str, wrong: str):
    assert doubted(code) == [(wrong, "unknown")]
    assert doubted(code, "机器会从休眠中恢复 [S1]。例如：") == [(wrong, "unknown")]


@pytest.mark.parametrize(
    "code",
    [
        "[Timer]\nOnCalendar=daily\nPersistent=true",
        "journal --no-quiet --vacuum-size=1G",
        "$ sudo reboot\n$ journal --quiet",
        "ONE=1\nTWO=2\nOnCalendar=daily",
        "valve = open_valve(port)\nclose_valve(port)",
        "PORT=/dev/pump\nopen_valve($PORT)\nclose_valve(PORT)",
        "# WakeSuspend=true is no setting\nOnCalendar=daily",
    ],
)
def test_names_of_pages_and_of_the_writer_are_let_be(code: str):
    assert doubted(code) == []


@pytest.mark.parametrize(
    ("name", "explained"),
    [
        ("WakeSuspend", "WakeSystem="),
        ("maxsize", "maxsize size"),
        ("maxsizes", "maxsize size"),
        ("--vacuum-age", "--vacuum-size="),
        ("LightHouse", ""),
        ("OnSea", ""),
    ],
)
def test_a_name_is_shown_where_the_page_explains_it_or_one_like_it(name: str, explained: str):
    at = find_similar_code_name(name, MANUAL)

    assert (at is None) == (not explained)
    assert at is None or MANUAL[at:].startswith(explained)


def test_a_name_of_the_question_is_let_be():
    code = "OnCalendar=daily\nPersistent=true\nSleepyTime=true"

    assert doubted(code, question="What does SleepyTime= do?") == []


@pytest.mark.parametrize(
    ("lead", "question"),
    [
        ("For example [S1]:", ""),
        ("I would set it so [S1]:", ""),
        ("我会这样设置 [S1]：", ""),
        ("In the file [S1]:", "Which limits should we set for a laptop?"),
        ("In the file [S1]:", "How do I configure the rotation?"),
        ("写入文件 [S1]：", "要保留四周，应该怎样配置？"),
        ("写入文件 [S1]：", "上限应设为多少？"),
    ],
)
def test_a_value_of_the_writers_own_choosing_is_let_be(lead: str, question: str):
    assert doubted("maxsize 37M", lead, question) == []


def test_a_value_that_is_nobodys_choice_is_doubted():
    assert doubted("maxsize 37M", "In the file [S1]:", "What is the default?") == [
        ("maxsize 37M", "number")
    ]


def test_what_a_reader_says_of_a_line_of_code_stands():
    body = "The file says [S1]:\n\n```\nmaxsize 37M\nrotate 99\nmaxage 9\n```"
    ruling = Ruling(
        {"rotate99": ""},
        {"maxsize37M": ClaimVerdict("contradicted"), "maxage9": ClaimVerdict("not_said")},
    )

    found = [(one["text"], one["reason"]) for one in checked(body, ruling=ruling).doubted]
    assert found == [("`maxsize 37M`", "contradicted"), ("`maxage 9`", "not_said")]


def test_a_heading_that_a_reader_doubts_is_doubted_in_the_order_of_the_text():
    body = "The harbour has piers [S2].\n\n## It has a tall lighthouse\n\nThere are 900 piers [S2]."
    ruling = Ruling({}, {"Ithasatalllighthouse": ClaimVerdict("contradicted")})

    found = [one["reason"] for one in checked(body, ruling=ruling).doubted]
    assert found == ["contradicted", "number"]


def test_sections_brackets_and_empty_lines_say_nothing():
    assert list_code_lines("```\n[Timer]\n\n{\nrotate 4\n}\n  weekly\n```") == [
        "rotate 4",
        "weekly",
    ]
    assert [one.name for one in extract_code_names('say --loud "--low" now(1)')] == [
        "--loud",
        "now",
    ]


def document(body: str, *told: str, language: str = "en") -> ReportDocument:
    source = Source(id="S1", page="p", title="Manual", location="m.txt", kind="file")
    return ReportDocument(
        title="Title",
        question="",
        status="succeeded",
        notices=[],
        body=body,
        gaps=[],
        sources=[source],
        texts=TEXTS,
        removed=[],
        doubted=[{"text": one, "reason": "unknown"} for one in told],
        unreviewed=0,
        language=language,
        created="2026-01-01",
    )


CODE = "```ini\nOnCalendar=daily\nWakeSuspend=true\nSleep[0]=__never__\n```"


@pytest.mark.parametrize("after", ["\n\nIt runs [S1].", "\nIt runs [S1].", ""])
def test_code_is_marked_right_behind_its_block(after: str):
    shown = render_markdown(document(f"So [S1]:\n\n{CODE}{after}", "`WakeSuspend=true`"))

    assert f"{CODE}\n\n(⚠ not found)\n" in shown
    assert (
        "- ⚠ Not found: A name in it stands on none of the pages that are cited: “WakeSuspend=true”"
        in shown
    )


def test_code_in_a_list_is_marked_in_its_item():
    code = "  ```\n  a = 1\n  ```"
    shown = render_markdown(document(f"- So [S1]:\n\n{code}\n\n- Then [S1].", "`a = 1`"))

    assert f"{code}\n\n  (⚠ not found)\n\n- Then" in shown


def test_each_doubted_line_has_a_mark_that_leads_to_its_reason():
    page = render_html(
        document(f"So [S1]:\n\n{CODE}", "`WakeSuspend=true`", "`Sleep[0]=__never__`")
    )

    assert page.count('class="doubt" id="w') == 2
    assert "⚠ not found</a></p>" in page
    assert "⚠" not in page[page.index("<pre>") : page.index("</pre>")]


def test_a_heading_is_marked_at_its_end():
    body = "## 断电时泵会停止\n\n泵在运行 [S1]。"

    assert "## 断电时泵会停止（⚠ 未找到依据）\n" in render_markdown(
        document(body, "断电时泵会停止", language="zh")
    )
