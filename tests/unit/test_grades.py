import pytest

from report.checks.attribution import enforce_citations
from report.document import to_graded_doubt
from report.labels import _read_tables, grade_reason


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("", "supported"),
        ("strength", "weak"),
        ("strange", "not_found"),
        ("no_source", "not_found"),
        ("carried", "not_found"),
        ("number", "not_found"),
        ("other_number", "contradicted"),
        ("negation", "contradicted"),
    ],
)
def test_a_sentence_is_graded_by_what_is_held_against_it(reason, expected):
    assert grade_reason(reason) == expected


def test_every_reason_to_doubt_has_a_grade_below_supported():
    grades = _read_tables()["doubted"]

    assert [*grades] == ["contradicted", "weak", "not_found"]
    assert all(grade_reason(reason) == grade for grade, some in grades.items() for reason in some)


def test_a_doubt_of_a_report_says_its_grade():
    assert to_graded_doubt({"text": "It rained.", "reason": "strength"})["grade"] == "weak"
    assert to_graded_doubt("It rained twice.")["grade"] == "not_found"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The dike is 31 km long [S1].", "contradicted"),
        ("The dike was built by 4,800 farmers [S1].", "not_found"),
        ("Storms broke it in 1903 [S1].", "contradicted"),
        ("堤坝全长三十一公里[S2]。", "contradicted"),
    ],
)
def test_a_number_is_contradicted_only_where_its_source_has_another_for_the_same(said, expected):
    pages = {
        "S1": "The dike is 19 km long. It was built by farmers in 1870. Storms broke it in 1911.",
        "S2": "堤坝全长十九公里，由农民修建。",
    }

    doubted = enforce_citations(said, pages).doubted

    assert [grade_reason(one["reason"]) for one in doubted] == [expected]
