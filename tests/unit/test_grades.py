import pytest

from report.document import doubt
from report.grades import grade
from report.wording import _DOUBTED


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("", "supported"),
        ("strength", "weak"),
        ("strange", "not_found"),
        ("no_source", "not_found"),
        ("carried", "not_found"),
        ("number", "contradicted"),
        ("negation", "contradicted"),
    ],
)
def test_a_sentence_is_graded_by_what_is_held_against_it(reason, expected):
    assert grade(reason) == expected


def test_every_reason_to_doubt_has_a_grade_below_supported():
    assert all(grade(reason) != "supported" for reason in _DOUBTED)


def test_a_doubt_of_a_report_says_its_grade():
    assert doubt({"text": "It rained.", "reason": "strength"})["grade"] == "weak"
    assert doubt("It rained twice.")["grade"] == "contradicted"
