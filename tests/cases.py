"""Many cases of one plain function in one test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

Check = Callable[..., None]

SHOWN = 300
"""How many characters of a case are shown where it fails."""


def each_case(cases: Iterable[Any]) -> Callable[[Check], Callable[[], None]]:
    """Make one test of a function and its cases, which fails once with all cases that fail.

    `pytest.mark.parametrize` makes a test of each: milliseconds in every process that collects
    tests, and a home of its own. This is for dozens of cases that need neither fixtures nor a home.

    Args:
        cases: The arguments of each call, as a tuple; or its only argument.
    """
    given = list(cases)

    def decorate(check: Check) -> Callable[[], None]:
        alone = len(signature(check).parameters) == 1

        def test() -> None:
            failed = [told for case in given if (told := _failure(check, case, alone))]
            assert given, "there are no cases"
            assert not failed, "\n\n".join([f"{len(failed)} of {len(given)} cases:", *failed])

        test.__name__, test.__doc__, test.__module__ = (
            check.__name__,
            check.__doc__,
            check.__module__,
        )
        return test

    return decorate


def _failure(check: Check, case: Any, alone: bool) -> str:
    """Return the case and what it fails with; an empty text where it holds."""
    try:
        check(case) if alone else check(*case)
    except AssertionError as error:
        return f"{_shown(case)}\n{error}"
    except Exception as error:
        error.add_note(f"in the case {_shown(case)}")
        raise
    return ""


def _shown(case: Any) -> str:
    whole = repr(case)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}…"
