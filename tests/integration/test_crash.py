"""A run that is stopped, in whatever way, ends as if nobody had stopped it and pays nothing twice.

`python -m evals.crash` does the same many times and at random moments.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

import pytest

from evals import crash
from evals.crash import Golden, Stopped, closed_at_review, kill_run, make_world, uninterrupted
from tests.integration.command import Fork, Forks

pytestmark = pytest.mark.integration

KILLED = {"searching": 4, "reading pages": 20, "writing findings": 26}
"""After how many requests a run is killed, and what it is doing then."""

CLOSED = "closed at the review"

WORLD = {"seconds": 0.05, "steps": 2, "results": 2}
"""A world that is small enough to run a question in it nine times."""


class Forked:
    """A forked command, as `subprocess.Popen` shows a process."""

    def __init__(self, process: Fork, stderr: TextIO) -> None:
        self.process, self.stderr = process, stderr
        self.poll, self.kill = process.poll, process.kill

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    def communicate(self) -> tuple[str, str]:
        with self.stderr:
            said = self.stderr.read()
        self.process.wait()
        return "", said


@pytest.fixture(scope="module")
def forking(forks: Forks) -> Iterator[None]:
    """Let runs begin, and be resumed, in processes that need not import everything."""

    def forked(words: Sequence[str], folder: Path, environment: dict[str, str]) -> Forked:
        reader, writer = os.pipe()
        nowhere = os.open(os.devnull, os.O_RDWR)
        process = forks.fork(words, folder, environment, [nowhere, nowhere, writer])
        os.close(writer)
        os.close(nowhere)
        return Forked(process, open(reader, encoding="utf-8"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crash, "_launched", forked)
        yield


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory, forking: None) -> Golden:
    """A run that nobody stops."""
    with make_world(**WORLD) as servers:
        return uninterrupted(servers, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, golden: Golden) -> dict[str, Stopped]:
    """The runs that were stopped, two at a time, and what became of them."""
    folder = tmp_path_factory.mktemp("stopped")

    def stop(name: str) -> Stopped:
        with make_world(**WORLD) as servers:
            if name == CLOSED:
                return closed_at_review(servers, folder / name, golden)
            return kill_run(servers, folder / name, golden, 0.02, asked=KILLED[name])

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
