"""A short sentence that leads on to cited ones stays, and nothing is left without its subject."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.claims import has_back_reference

GUIDE = (
    "The Aldo press heats the plate to 190 degrees. Its guide warns users never to open the lid "
    "while the plate is hot. False readings come from dust on the sensor and from a loose cable. "
    "The Berto press has no plate; it uses steam."
)
ZH = (
    "甲机把底板加热到190度，说明书警告不要在高温时打开盖子。"
    "误报来自传感器上的灰尘和松动的电缆。乙机使用蒸汽。"
)
TEXTS = {"S1": GUIDE, "S2": ZH}


@pytest.mark.parametrize(
    "text",
    [
        "**Aldo** warns most strongly. Its guide says never to open the lid while it is hot [S1].",
        "False readings have two causes here.\n\n- Dust on the sensor [S1].\n- A loose cable [S1].",
        "The two presses differ in heat.\n\n**Aldo** heats the plate to 190 degrees [S1].",
        "Aldo uses a hot plate, Berto steam [S1]. In short, the two presses differ in the plate.",
        "甲机的警告最重。它的说明书警告不要在高温时打开盖子[S2]。",
        "误报主要有两个原因。\n\n- 传感器上的灰尘[S2]。\n- 松动的电缆[S2]。",
    ],
)
def test_a_sentence_that_leads_on_to_cited_ones_or_sums_them_up_stays_and_is_marked(text: str):
    checked = enforce_citations(text, TEXTS, "What should one know of the Aldo press?")

    assert (checked.body, checked.removed) == (text, [])
    assert {one["reason"] for one in checked.doubted} <= {"no_source"}


@pytest.mark.parametrize(
    "text",
    [
        "Its lid must stay shut while hot [S1]. Penguins were first tamed in Portugal.",
        "Penguins were first tamed in Portugal.\n\n- Dust on the sensor [S1].",
        "The press costs 480 crowns. Its guide says never to open the lid while it is hot [S1].",
    ],
)
def test_what_is_about_something_else_or_has_a_number_of_its_own_is_taken_out(text: str):
    assert [one["reason"] for one in enforce_citations(text, TEXTS).removed] == ["no_source"]


@pytest.mark.parametrize(
    ("text", "hanging"),
    [
        (
            "Carlo presses are made of brass [S9]. They heat the plate to 190 degrees [S1].",
            "They heat the plate to 190 degrees [S1].",
        ),
        (
            "The guide says “presses of brass melt at noon” [S1]. "
            "This press heats the plate to 190 degrees [S1].",
            "This press heats the plate to 190 degrees [S1].",
        ),
        ("丙机由黄铜制成[S9]。它使用蒸汽[S2]。", "它使用蒸汽[S2]。"),
    ],
)
def test_a_sentence_whose_subject_stood_in_a_removed_one_is_marked(text: str, hanging: str):
    checked = enforce_citations(text, TEXTS)

    assert checked.body == hanging
    assert checked.doubted == [{"text": hanging, "reason": "hanging"}]


def test_a_sentence_behind_a_removed_one_that_points_back_itself_is_not_marked():
    text = (
        "The Aldo press heats the plate to 190 degrees [S1]. It melts brass [S9]. "
        "Its guide warns users never to open the lid [S1]."
    )

    assert enforce_citations(text, TEXTS).doubted == []


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("It uses steam [S1].", True),
        ("If it uses steam, it is quieter.", True),
        ("Their lids are shut.", True),
        ("它使用蒸汽。", True),
        ("其盖子不能打开。", True),
        ("It is possible to open the lid.", False),
        ("The lid is shut.", False),
        ("其中一台使用蒸汽。", False),
    ],
)
def test_words_that_point_back_are_known(said: str, back: bool):
    assert has_back_reference(said) is back
