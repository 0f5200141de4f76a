"""A run that is stopped, in whatever way, ends as if nobody had stopped it and pays nothing twice.

`python -m evals.crash` does the same many times and at random moments.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from evals.crash import Golden, Stopped, closed_at_review, killed, uninterrupted
from evals.noted import world

pytestmark = pytest.mark.integration

KILLED = {"searching": 4, "reading pages": 30, "writing findings": 46}
"""After how many requests a run is killed, and what it is doing then."""

CLOSED = "closed at the review"


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Golden:
    """A run that nobody stops."""
    with world(0.05, steps=2) as servers:
        return uninterrupted(servers, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, golden: Golden) -> dict[str, Stopped]:
    """The runs that were stopped, two at a time, and what became of them."""
    folder = tmp_path_factory.mktemp("stopped")

    def stop(name: str) -> Stopped:
        with world(0.05, steps=2) as servers:
            if name == CLOSED:
                return closed_at_review(servers, folder / name, golden)
            return killed(servers, folder / name, golden, 0.02, asked=KILLED[name])

    names = [CLOSED, *KILLED]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(names, pool.map(stop, names), strict=True))


def test_the_moments_lie_within_the_run(golden: Golden):
    assert max(KILLED.values()) < golden.calls


@pytest.mark.parametrize("moment", [*KILLED, CLOSED])
def test_a_stopped_run_comes_to_the_same_report_in_another_process(
    stopped: dict[str, Stopped], moment: str
):
    assert (stopped[moment].ended, stopped[moment].same) == (True, True)


@pytest.mark.parametrize("moment", [*KILLED, CLOSED])
def test_no_call_whose_result_was_recorded_is_made_again(stopped: dict[str, Stopped], moment: str):
    assert stopped[moment].recorded == 0


def test_a_run_that_is_closed_at_the_review_has_nothing_in_flight(stopped: dict[str, Stopped]):
    assert (stopped[CLOSED].models, stopped[CLOSED].pages) == (0, 0)
