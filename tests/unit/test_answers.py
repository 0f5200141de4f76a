"""Short answers are scored by the words they share with the right one."""

from __future__ import annotations

from math import exp

import pytest

from evals.locomo import bleu1, f1, normalize_answer


def test_case_punctuation_and_articles_do_not_count():
    assert normalize_answer("The lake-side, A House!") == ["lake", "side", "house"]


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    assert f1("7 May 2023", "May 2023") == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))
    assert f1("7 May, 2023.", "7 may 2023") == 1


def test_a_word_counts_as_often_as_the_right_answer_has_it():
    assert f1("no no no", "no") == pytest.approx(0.5)
    assert bleu1("no no no", "no") == pytest.approx(1 / 3)


def test_bleu_takes_from_an_answer_that_is_too_short():
    assert bleu1("Graz", "Graz in Styria") == pytest.approx(exp(1 - 3))
    assert bleu1("Graz in Styria", "Graz in Styria") == 1


@pytest.mark.parametrize("score", [f1, bleu1])
@pytest.mark.parametrize(("answer", "right"), [("", "x"), ("x", ""), ("", ""), ("the", "x")])
def test_nothing_shared_is_nothing(score, answer: str, right: str):
    assert score(answer, right) == 0
