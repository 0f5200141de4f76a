"""What a person did not want is left out of what the built-in model quotes."""

from __future__ import annotations

import pytest

from models.extractive.planning import remove_unwanted
from text.answerability import SourcePassage

ASKED = "How does a tide mill work?"
TIDES = (
    "A tide mill stores water behind a dam.\n\n"
    "# History\n\nMonks built the first mill in 619.\n\n"
    "# Use\n\nThe wheel turns when the tide falls. Repairs cost 400 euros a year.\n"
)


def left(*wishes: str, asked: str = ASKED, text: str = TIDES) -> str:
    pages = [
        SourcePassage("S1", "Tide mills", "", text),
        SourcePassage("S2", "Tide mills — Repairs", "", "Oak lasts."),
    ]
    return " ".join(" ".join(one.text for one in remove_unwanted(pages, wishes, asked)).split())


@pytest.mark.parametrize(
    "wish",
    [
        "only the principle, skip the history",
        "leave the history out, please",
        "no history",
        "I don't want any history.",
        "但是不要 history",
    ],
)
def test_the_section_and_the_sentences_on_it_are_left_out(wish: str):
    assert "619" not in left(wish)
    assert "wheel turns" in left(wish)
    assert "dam" in left(wish)


def test_a_sentence_goes_alone_where_its_section_is_on_something_else():
    said = left("please leave out what repairs cost")

    assert "400" not in said
    assert "wheel turns" in said
    assert "Oak lasts" in said


def test_a_passage_of_a_section_that_is_not_wanted_goes_whole():
    assert "Oak" not in left("without repairs")


@pytest.mark.parametrize("wish", ["the plan does not cover history", "more about history", ""])
def test_a_wish_for_more_takes_nothing_away(wish: str):
    assert "619" in left(wish)


def test_the_subject_of_the_question_is_never_left_out():
    assert "dam" in left("no mills, only the tide")


def test_what_is_left_does_not_grow_together():
    pages = remove_unwanted(
        [SourcePassage("S1", "T", "", "A mill turns. Its history is long. It grinds.")],
        ["no history"],
        ASKED,
    )

    assert "\n" in pages[0].text
