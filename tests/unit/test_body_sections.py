"""Sections of a report that have a meaning of their own are found by their headings."""

from __future__ import annotations

import pytest

from report.body_sections import (
    list_marked_inferences,
    list_report_sections,
    move_unknown_section,
)


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("## Assessment", "assessment"),
        ("## Our assessment:", "assessment"),
        ("## **评估**", "assessment"),
        ("## What is not known", "unknown"),
        ("## 尚不清楚", "unknown"),
        ("## Assessment of students", ""),
        ("## What is known", ""),
        ("### Assessment", ""),
    ],
)
def test_a_section_has_its_meaning_from_its_heading(heading: str, kind: str):
    sections = list_report_sections(f"Answer.\n\n{heading}\n\nText.\n\n### More\n\nOf it.")

    assert sections[-1].kind == kind
    assert sections[0].text.startswith("Answer.")


def test_a_section_ends_where_the_next_of_its_rank_begins():
    sections = list_report_sections("A.\n\n## Assessment\n\nB.\n\n### C\n\nD.\n\n## E\n\nF.")

    told = [(one.kind, one.heading, one.text) for one in sections]
    assert told == [
        ("", "", "A."),
        ("assessment", "## Assessment", "B.\n\n### C\n\nD."),
        ("", "## E", "F."),
    ]


def test_a_heading_in_code_begins_no_section():
    body = "A.\n\n```\n## Assessment\n```\n\nB."

    assert [one.kind for one in list_report_sections(body)] == [""]


def test_several_sections_on_what_is_not_known_become_one_and_the_last():
    body = "A.\n\n## What is not known\n\n- b\n\n## C\n\nD.\n\n## What remains unknown\n\n- e"

    moved = move_unknown_section(body)
    assert moved == "A.\n\n## C\n\nD.\n\n## What is not known\n\n- b\n\n- e"
    assert move_unknown_section(moved) == moved


def test_a_body_without_such_a_section_stays_as_it_is():
    body = "A.\n\n\n\n## C\nD.  "

    assert move_unknown_section(body) == body


def test_inferences_of_an_assessment_are_not_marked_one_by_one():
    body = "So food is near [S1]. Bees dance.\n\n## Assessment\n\n- Keep *bees* [S2]."

    inferred = ["So food is near [S1].", "Keep *bees* [S2]."]
    assert list_marked_inferences(body, inferred) == ["So food is near [S1]."]
