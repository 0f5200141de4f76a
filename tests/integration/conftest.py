"""What the tests of the command share: a quick way to run it, and a folder to run it in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.integration.command import WHO, Done, Forks, Place


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


@pytest.fixture
def wait(forks: Forks, place: Place) -> Callable[[str], Done]:
    """Ask in a thread of that name and stop at the plan."""
    way = ["--review", "--json", "--set", "max_rounds=0", "--thread"]
    return lambda thread: forks.run(place, "ask", WHO, "--docs", "bees", *way, thread)
