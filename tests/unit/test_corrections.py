"""What a writer puts in the place of removed sentences is put there, and nothing else is lost."""

from __future__ import annotations

import pytest

from graph.records import RemovedSentence
from report.checks.attribution import CheckedText, enforce_citations
from report.corrections import (
    correct_report,
    is_improvement,
    list_correctable,
    parse_corrections,
)

PUMP = "The Keel pump draws 400 watts. It costs 640 euros. Its warranty is 36 months."
TEXTS = {"S1": PUMP}
POWER = "The Keel pump draws 400 watts [S1]."
FALSE = '<q s="S1">It sings all day</q>.'
POETS = "Poets love it."


def removed(*texts: str) -> list[RemovedSentence]:
    return [RemovedSentence(text=text, reason="no_source") for text in texts]


def checked(text: str) -> CheckedText:
    return enforce_citations(text, TEXTS)


def test_a_sentence_is_named_once_and_only_where_its_writer_can_do_something():
    given = [*removed(POETS, POETS), RemovedSentence(text="See example.org.", reason="address")]

    assert [one["text"] for one in list_correctable(given)] == [POETS]


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("1. It costs 640 euros [S1].\n2. -", {1: "It costs 640 euros [S1].", 2: ""}),
        ("1) A.\n\n**2**: B.\n3、乙。\n4：—", {1: "A.", 2: "B.", 3: "乙。", 4: ""}),
        ("Here you are:\n1. A.", {1: "A."}),
        ("I cannot.", {}),
    ],
)
def test_the_lines_of_an_answer_are_read_however_they_are_numbered(
    answer: str, lines: dict[int, str]
):
    assert parse_corrections(answer).lines == lines


def test_corrections_stand_where_the_sentences_stood():
    text = f"{POWER} {FALSE}\n\n- {POETS}\n- It costs 640 euros [S1]."
    answer = '1. <q s="S1">It costs 640 euros</q>.\n2. - Its warranty is 36 months [S1].'

    assert correct_report(text, answer, removed(FALSE, POETS), TEXTS) == (
        f'{POWER} <q s="S1">It costs 640 euros</q>.\n\n'
        "- Its warranty is 36 months [S1].\n- It costs 640 euros [S1]."
    )


def test_a_row_is_replaced_by_a_row_or_left_out():
    table = "| What | How |\n|---|---|\n| Price | 640 euros [S1] |\n| Song | none |"
    shown = removed("| Song | none |")

    assert correct_report(table, "1. | Power | 400 watts [S1] |", shown, TEXTS).endswith(
        "\n| Power | 400 watts [S1] |"
    )
    assert correct_report(table, "1. It has none.", shown, TEXTS).endswith("640 euros [S1] |")


def test_a_missing_recommendation_joins_the_assessment_that_is_there():
    text = f"{POWER}\n\n## Assessment\n\nHow sure: fairly.\n\n## What is not known\n\n- Noise."
    section = "## Assessment\n\nI recommend the Keel pump [S1]."

    assert correct_report(text, section, [], TEXTS) == (
        f"{POWER}\n\n## Assessment\n\nI recommend the Keel pump [S1].\n\nHow sure: fairly.\n\n"
        "## What is not known\n\n- Noise."
    )


def test_an_answer_that_is_a_whole_report_takes_the_place_of_the_other():
    other = f"{POWER} It costs 640 euros [S1]."

    assert correct_report(f"{POWER} {POETS}", other, removed(POETS), TEXTS) == other


@pytest.mark.parametrize(
    ("text", "better"),
    [
        (POWER, True),
        (f"{POWER} It costs 640 euros [S1].", True),
        (f"{POWER} {POETS}", False),
        (f"{POWER} The Keel pump draws 900 watts [S1].", False),
        ("It is cheap.", False),
        ("", False),
    ],
)
def test_only_a_text_that_loses_less_and_nothing_true_is_better(text: str, better: bool):
    old = checked(f"{POWER} {POETS}")

    assert is_improvement(checked(text), old, recommends=False) == better


def test_a_text_with_the_recommendation_that_was_asked_for_is_better():
    new = checked(f"{POWER}\n\n## Assessment\n\nI recommend it.")

    assert is_improvement(new, checked(POWER), recommends=True)
    assert not is_improvement(new, checked(POWER), recommends=False)
