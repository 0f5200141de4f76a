import numpy as np

from evals.calibration import _least
from evals.natural import AS_ASKED, PUT_AWAY, natural


def test_the_threshold_is_the_lowest_at_which_few_answers_are_likely_wrong():
    likely = np.concatenate([np.full(200, 0.9), np.full(100, 0.7)])
    right = np.concatenate([np.full(200, True), np.full(50, True), np.full(50, False)])

    assert _least(likely, right) == 0.71


def test_where_too_many_are_wrong_at_every_threshold_nothing_is_called_an_answer():
    assert _least(np.full(50, 0.9), np.arange(50) % 2 == 0) == 1.0


def test_no_question_that_was_put_away_is_fitted_on():
    fitted, put_away = ({one["text"] for one in natural(name)} for name in (AS_ASKED, PUT_AWAY))

    assert fitted.isdisjoint(put_away)
    assert len(fitted) > 600
    assert len(put_away) > 75
