"""What a person sees of a run that reached its limit, and of the run that may use more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.openai_server import Server
from tests.integration.command import Forks, Place
from tests.integration.test_cli_failing import GOOD, STEPS, environment, researched

pytestmark = pytest.mark.integration

ASK = ("ask", "How do bees live?", "--docs", "bees", "--yes", "--json", "--thread")


@pytest.fixture
def model() -> Iterator[Server]:
    """A server that answers every role well."""
    with Server(GOOD) as server:
        yield server


def test_a_run_that_reached_its_limit_is_completed_when_the_limit_is_raised(
    place: Place, forks: Forks, model: Server
):
    capped = forks.run(place, *ASK, "cap", "--set", "max_calls=4", **environment(model))
    same = forks.run(place, "resume", "cap-1", **environment(model))
    before = len(model.log)

    raised = ("resume", "cap-1", "--set", "max_calls=100", "--json")
    whole = forks.run(place, *raised, **environment(model))

    assert capped.status == 6
    assert capped.told["limit"] == "max_calls = 4"
    assert capped.told["resume"] == "dossier resume cap-1 --set max_calls=8"
    assert "The run reached its limit max_calls = 4. Complete it with: dossier" in capped.err
    assert same.status == 5
    assert same.problem == (
        "error[not_waiting]: cap-1 ended at its limit max_calls = 4 — "
        "raise it: dossier resume cap-1 --set max_calls=8"
    )
    assert whole.status == 0, whole.err
    assert "limit" not in whole.told
    assert {*researched(model)} == {*STEPS}
    planned = [call for call in model.log[before:] if "Draft" in str(call.body)]
    assert not planned


def test_a_run_that_a_limit_stops_at_once_says_how_to_allow_more(
    place: Place, forks: Forks, model: Server
):
    capped = forks.run(place, *ASK, "small", "--set", "max_tokens=1000", **environment(model))

    whole = forks.run(
        place, "resume", "small-1", "--set", "max_tokens=200000", **environment(model)
    )

    assert capped.status in (1, 6)
    assert "dossier resume small-1 --set max_tokens=2000" in capped.err
    assert whole.status == 0, whole.err


def test_the_report_of_a_run_at_its_limit_can_be_written_elsewhere_without_a_call(
    place: Place, forks: Forks, model: Server
):
    forks.run(place, *ASK, "copied", "--set", "max_calls=4", **environment(model))
    before = len(model.log)

    again = forks.run(place, "resume", "copied-1", "--out", "elsewhere", **environment(model))

    assert (place.folder / "elsewhere" / "report.md").exists()
    assert again.status == 6
    assert [call for call in model.log[before:] if "chat" in call.path] == []
