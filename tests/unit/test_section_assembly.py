"""Sections that were written side by side become one report, and lose nothing on the way."""

from __future__ import annotations

import pytest

from report.section_assembly import (
    WrittenSection,
    drop_repeated,
    join_report,
    order_sections,
    strip_leading_heading,
    unify_terms,
)

FIRST = WrittenSection(
    "Power", "The Keel pump draws 400 watts [S2]. The pump costs 640 euros [S2]."
)
SECOND = WrittenSection("Cost", "The Keel pump costs 640 euros [S2]. Its motor is cooled [S1].")


@pytest.mark.parametrize(
    ("order", "titles"),
    [
        ([2, 1], ["Cost", "Power"]),
        ([1], ["Power", "Cost"]),
        ([1, 1], ["Power", "Cost"]),
        ([0, 1], ["Power", "Cost"]),
        ([], ["Power", "Cost"]),
    ],
)
def test_only_an_order_of_all_sections_is_followed(order: list[int], titles: list[str]):
    assert [one.title for one in order_sections([FIRST, SECOND], order)] == titles


def test_a_sentence_that_another_section_says_is_left_out():
    texts = drop_repeated([FIRST, SECOND], ["The Keel pump costs 640 euros [S2]."])

    assert texts == [FIRST.text, "Its motor is cooled [S1]."]


@pytest.mark.parametrize(
    "said", ["Its motor is cooled [S1].", "The Keel pump draws 400 watts [S2].", "It is gone."]
)
def test_a_sentence_that_no_other_section_says_stays(said: str):
    assert drop_repeated([FIRST, SECOND], [said]) == [FIRST.text, SECOND.text]


def test_of_two_sentences_that_say_the_same_one_stays():
    same = [
        WrittenSection("A", "It costs 640 euros [S2]."),
        WrittenSection("B", "It costs 640 euros [S2]."),
    ]

    assert drop_repeated(same, ["It costs 640 euros [S2]."]) == ["It costs 640 euros [S2].", ""]


def test_a_sentence_with_another_number_is_no_repetition():
    other = WrittenSection("Cost", "The Keel pump costs 650 euros [S2].")

    assert drop_repeated([FIRST, other], [other.text])[1] == other.text


def test_terms_are_replaced_but_not_in_quotations_or_code():
    text = 'The engine hums. <q s="S1">The engine is cooled</q>; `engine` is a motor [S1].'

    assert unify_terms(text, [("engine", "motor")]) == (
        'The motor hums. <q s="S1">The engine is cooled</q>; `engine` is a motor [S1].'
    )
    assert (
        unify_terms("发动机很响，电机用水冷却。", [("发动机", "电机")])
        == "电机很响，电机用水冷却。"
    )


@pytest.mark.parametrize("term", [("400", "500"), ("Keel", "Dunmore"), ("[S1]", "[S2]"), ("", "x")])
def test_no_term_becomes_a_number_a_mark_or_a_new_name(term: tuple[str, str]):
    text = "The Keel pump draws 400 watts [S1]. 500"

    assert unify_terms(text, [term]) == text


def test_a_heading_that_a_section_begins_with_is_taken_off():
    assert strip_leading_heading("## Power\n\n### Idle\n\nLow.") == "### Idle\n\nLow."
    assert strip_leading_heading("Low.") == "Low."


@pytest.mark.parametrize(
    ("language", "assessment", "unknown"),
    [("en", "Assessment", "What is not known"), ("zh", "评估", "尚不清楚")],
)
def test_a_report_has_its_parts_in_order(language: str, assessment: str, unknown: str):
    text = join_report(" Yes. ", [FIRST], "Take it.", ["Noise.", " "], language)

    assert text == (
        f"Yes.\n\n## Power\n\n{FIRST.text}\n\n"
        f"## {assessment}\n\nTake it.\n\n## {unknown}\n\n- Noise."
    )
    assert join_report("Yes.", [], "", [], language) == "Yes."
