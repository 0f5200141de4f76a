from itertools import pairwise

import pytest

from text.sentences import Span
from text.text_blocks import extend_to_list, find_lists

BULLETS = """# Pumps

Every pump of the series has one of these drives:

- Electric. It needs a
  supply of 400 V.

- Diesel.
* Hand crank.

All of them are painted green.
"""


def items(text: str) -> list[str]:
    return [item.text for found in find_lists(text) for item in found.items]


def test_a_list_is_found_with_the_sentence_that_announces_it():
    (found,) = find_lists(BULLETS)

    assert found.lead.text == "Every pump of the series has one of these drives:"
    assert found.above == "Pumps"
    assert items(BULLETS) == ["Electric. It needs a\n  supply of 400 V.", "Diesel.", "Hand crank."]


def test_every_item_stands_in_its_text_at_its_place_and_after_the_one_before():
    (found,) = find_lists(BULLETS)

    assert all(BULLETS[one.start : one.end] == one.text for one in (found.lead, *found.items))
    assert all(one.end <= after.start for one, after in pairwise((found.lead, *found.items)))


@pytest.mark.parametrize(
    ("text", "lead", "expected"),
    [
        ("## Ranks\n\n1. Private\n2. Corporal", "Ranks", ["Private", "Corporal"]),
        (
            "办理护照的步骤如下：\n\n1. 预约。\n2. 拍照。",
            "办理护照的步骤如下：",
            ["预约。", "拍照。"],
        ),
        ("（节选）\n分三类：\n（一）甲\n（二）乙", "分三类：", ["甲", "乙"]),
        (
            "Table 2. Fees\n\nKind: child; Fee: 2 €.\n\nKind: adult; Fee: 5 €.",
            "Fees",
            ["Kind: child; Fee: 2 €.", "Kind: adult; Fee: 5 €."],
        ),
        (
            'These levels follow:\n\n"high"\n   Seen at once.\n\n   Always.\n\n"low"\n   Later.',
            "These levels follow:",
            ['"high"\n   Seen at once.\n\n   Always.', '"low"\n   Later.'],
        ),
        (
            "Modes are as follows:\n\nFAST (2)\n\nNothing checked.\n\nSAFE (1)\n\nAll checked.",
            "Modes are as follows:",
            ["FAST (2)\n\nNothing checked.", "SAFE (1)\n\nAll checked."],
        ),
    ],
)
def test_lists_are_written_in_many_ways(text: str, lead: str, expected: list[str]):
    (found,) = find_lists(text)

    assert found.lead.text.endswith(lead)
    assert items(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Only one:\n\n- A single item.",
        "- An item\n- without a lead",
        "A paragraph.\n\nAnother one.",
        "It rained.\n\nDay one\n\nWe walked far.\n\nDay two\n\nWe slept.",
        "",
    ],
)
def test_what_nothing_announces_is_no_list(text: str):
    assert find_lists(text) == []


def test_two_tables_are_two_lists():
    text = "Fees\n\nA: 1; B: 2\nA: 3; B: 4\n\nTimes\n\nC: 1; D: 2\nC: 3; D: 4"

    assert [one.lead.text for one in find_lists(text)] == ["Fees", "Times"]


def test_a_list_whose_last_term_is_told_elsewhere_is_cut():
    text = "As follows:\n\nONE\n\nThe first is red.\n\nTWO\n\nThe second is blue.\n\nTHREE"

    assert [one.cut for one in find_lists(text)] == [True]
    assert [one.cut for one in find_lists(text.removesuffix("\n\nTHREE"))] == [False]


def test_a_piece_that_begins_a_list_goes_on_to_its_end():
    piece = Span(0, 80, BULLETS[:80])

    whole = extend_to_list(BULLETS, piece, 500)

    assert whole.text.endswith("* Hand crank.")
    assert extend_to_list(BULLETS, piece, 100) == piece
    assert extend_to_list(BULLETS, Span(0, 7, BULLETS[:7]), 500).text == BULLETS[:7]
