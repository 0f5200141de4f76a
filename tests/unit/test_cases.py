"""Many cases in one test fail as loudly as many tests."""

from __future__ import annotations

import pytest

from tests.cases import each_case


def check_even(number: int, name: str) -> None:
    assert number % 2 == 0, f"{name} is odd"


def test_all_cases_that_fail_are_told_with_their_reasons():
    with pytest.raises(AssertionError) as failed:
        each_case([(1, "one"), (2, "two"), (3, "three")])(check_even)()

    told = str(failed.value)
    assert told.startswith("2 of 3 cases:")
    assert "(1, 'one')\none is odd" in told
    assert "(3, 'three')\nthree is odd" in told
    assert "two" not in told


def test_a_case_that_raises_is_named():
    with pytest.raises(TypeError) as failed:
        each_case([(2, "two"), (None, "none")])(check_even)()

    assert failed.value.__notes__ == ["in the case (None, 'none')"]


def test_no_cases_are_no_success():
    with pytest.raises(AssertionError, match="no cases"):
        each_case([])(check_even)()


@each_case([(1, 2), (3, 4)])
def check_pair(pair: tuple[int, int]) -> None:
    assert pair[1] == pair[0] + 1


def test_the_only_argument_may_be_a_tuple():
    assert check_pair.__name__ == "check_pair"
    check_pair()
