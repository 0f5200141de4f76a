"""How hard a text is to read."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from text.readability import (
    count_syllables,
    count_text_words,
    grade_english,
    list_english_words,
    measure_chinese,
)


@each_case(
    [
        ("bee", 1),
        ("the", 1),
        ("dances", 2),
        ("waggle", 2),
        ("make", 1),
        ("makes", 1),
        ("walked", 1),
        ("wanted", 2),
        ("boxes", 2),
        ("readability", 5),
        ("HTTP", 1),
        ("1927", 1),
    ]
)
def test_syllables_are_counted_by_vowels(word: str, syllables: int):
    assert count_syllables(word) == syllables


def test_the_grade_is_that_of_kincaid():
    # 6 words and 6 syllables in 1 sentence.
    assert grade_english(["The cat sat on the mat."]) == pytest.approx(0.39 * 6 + 11.8 * 1 - 15.59)


def test_longer_sentences_and_words_are_harder():
    easy = ["Bees dance.", "They fly far."]
    hard = ["Communication of geographical information necessitates considerable cooperation."]

    assert (grade_english(easy) or 0) < (grade_english(hard) or 0)


def test_no_words_have_no_grade():
    assert grade_english([]) is None
    assert grade_english(["— 。"]) is None
    assert measure_chinese(["Bees."]) is None


def test_chinese_is_measured_in_characters_by_sentence_and_clause():
    assert measure_chinese(["蜜蜂跳舞，告诉同伴。", "它们用 HTTP。"]) == (6.0, 4.0)


def test_numbers_and_hyphens_are_within_words():
    assert list_english_words("A well-known 1,200.5 kg bee's dance") == [
        "A",
        "well-known",
        "1,200.5",
        "kg",
        "bee's",
        "dance",
    ]


def test_a_mixed_text_has_words_and_characters():
    assert count_text_words("用 HTTP 协议 2.0") == 5
