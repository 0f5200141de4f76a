"""A citation is supplied only where the words speak for that source clearly."""

from __future__ import annotations

import pytest

from report.checks.attribution import CheckedText, enforce_citations
from report.checks.second_reader import Ruling

TEXTS = {
    "S1": "Exim makes the first attempt at once. Its retry rule holds 28 steps. "
    "A message that cannot be delivered is kept in the spool for 4 days.",
    "S2": "Postfix makes 1 first attempt at 0 seconds. The mail queue is scanned again "
    "every 300 seconds by the queue manager. A message that cannot be delivered is returned "
    "to its sender after 5 days.",
    "S3": "水泵的首次启动在 0 时进行，共 1 次。水泵每 300 秒检查一次压力，然后关闭阀门。",
    "S4": "鼓风机的首次启动在夜间进行。鼓风机在断电以后仍会转动很久。",
}
TITLES = {
    "S1": "Exim handbook",
    "S2": "Postfix handbook",
    "S3": "水泵说明书",
    "S4": "鼓风机说明书",
}


def checked(text: str, ruling: Ruling | None = None) -> CheckedText:
    return enforce_citations(text, TEXTS, "", TITLES, ruling or Ruling())


def outcome(text: str) -> tuple[str, list[str]]:
    found = checked(text)
    return found.body, [one["reason"] for one in found.doubted]


TABLE = "{lead}\n\n| phase | at | number |\n|---|---|---|\n{row}"


@pytest.mark.parametrize(
    ("lead", "row"),
    [
        ("Exim has a retry rule [S1].", "| first attempt | 0 | 1 |"),
        ("鼓风机说明书谈到启动 [S4]。", "| 首次启动 | 0 | 1 |"),
    ],
)
def test_a_row_of_common_words_is_given_no_source_and_is_marked(lead: str, row: str):
    text = TABLE.format(lead=lead, row=row)

    assert outcome(text) == (text, ["no_source"])


@pytest.mark.parametrize(
    "text",
    [
        "## Exim\n\nThe mail queue is scanned again every 300 seconds by the queue manager.",
        "## 鼓风机\n\n每 300 秒检查一次压力，然后关闭阀门。",
        TABLE.format(
            lead="## Retries\n\nIn Exim, the phases are these [S1]:",
            row="| mail queue scanned again by the queue manager | every 300 seconds | many |",
        ),
    ],
)
def test_what_stands_below_the_name_of_another_subject_is_not_given_to_this_source(text: str):
    body, doubts = outcome(text)

    assert "[S2]" not in body
    assert "[S3]" not in body
    assert doubts == ["no_source"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The mail queue is scanned again every 300 seconds.", "S2"),
        ("## Postfix\n\nThe mail queue is scanned again every 300 seconds.", "S2"),
        ("Its retry rule holds 28 steps.", "S1"),
        ("It is kept in the spool.", "S1"),
        ("水泵每 300 秒检查一次压力。", "S3"),
        ("断电以后仍会转动。", "S4"),
        (TABLE.format(lead="Phases:", row="| retry rule holds | 28 | steps |"), "S1"),
    ],
)
def test_what_only_one_source_can_have_said_is_given_that_source(text: str, name: str):
    body, doubts = outcome(text)

    assert f"[{name}]" in body
    assert doubts == []


def test_a_common_phrase_is_given_the_source_that_its_paragraph_cites():
    text = "The mail queue is scanned again [S2]. It makes a first attempt."

    assert checked(text).body == text.replace("attempt.", "attempt [S2].")


def test_a_wrong_citation_is_not_replaced_by_one_of_another_subject():
    text = "## Exim\n\nThe mail queue is scanned again by the queue manager [S4]."

    assert "[S2]" not in checked(text).body


def test_a_reader_still_gives_such_a_row_its_source():
    ruling = Ruling({"firstattempt01": "S1"})
    text = TABLE.format(lead="Exim has a retry rule [S1].", row="| first attempt | 0 | 1 |")

    assert "| first attempt | 0 | 1 [S1] |" in checked(text, ruling).body
