import numpy as np

from benchmarks.calibration import AS_ASKED, PUT_AWAY, _least, read_natural_questions


def each(count):
    return np.array([f"q{at}" for at in range(count)])


def test_the_threshold_is_the_lowest_at_which_few_answers_are_likely_wrong():
    likely = np.concatenate([np.full(200, 0.9), np.full(100, 0.7)])
    right = np.concatenate([np.full(200, True), np.full(50, True), np.full(50, False)])

    assert _least(likely[None], right, each(300)) == 0.71


def test_where_too_many_are_wrong_at_every_threshold_nothing_is_called_an_answer():
    assert _least(np.full((1, 50), 0.9), np.arange(50) % 2 == 0, each(50)) == 1.0


def test_few_answers_without_an_error_do_not_show_that_few_go_wrong():
    assert _least(np.full((1, 20), 0.9), np.full(20, True), each(20)) == 1.0
    assert _least(np.full((1, 200), 0.9), np.full(200, True), each(200)) == 0.5


def test_a_question_that_goes_wrong_on_two_sets_of_pages_counts_once():
    right = np.arange(200) >= 6
    twice = np.array([f"q{max(at, 5) if at < 6 else at}" for at in range(200)])

    assert _least(np.full((1, 200), 0.9), right, each(200)) == 1.0
    assert _least(np.full((1, 200), 0.9), right, twice) == 0.5


def test_no_question_that_was_put_away_is_fitted_on():
    fitted, put_away = (
        {one["text"] for one in read_natural_questions(name)} for name in (AS_ASKED, PUT_AWAY)
    )

    assert fitted.isdisjoint(put_away)
    assert len(fitted) > 900
    assert len(put_away) > 75
