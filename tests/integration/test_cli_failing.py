"""What a person sees of a model that fails, and of the run that goes on once it works again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.openai_server import Server
from evals.world import make_rules
from tests.integration.command import Forks, Place

pytestmark = pytest.mark.integration

STEPS = ("waggle dance", "winter cluster")

PLAN = {
    "title": "Bees",
    "thought": "",
    "steps": [{"title": title, "description": "", "queries": [title]} for title in STEPS],
}

BRIEF = make_rules(2, finding=60, report=60)

GOOD = [{"schema": "Draft", "reply": PLAN}, *(r for r in BRIEF if r.get("schema") != "Draft")]


@pytest.fixture
def model() -> Iterator[Server]:
    """A server that answers every role well until a fault is put before that."""
    with Server(GOOD) as server:
        yield server


def environment(model: Server) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "sk-none",
        "OPENAI_BASE_URL": model.url,
        "DOSSIER_MODEL": "openai:gpt-4o",
        "DOSSIER_RETRY_SECONDS": "0",
    }


def researched(model: Server) -> list[str]:
    """Return the steps that the server was asked to research."""
    said = [str(call.body.get("messages", [{}])[-1].get("content", "")) for call in model.log]
    asked = [text for text in said if text.startswith("<question>") and "<step>" in text]
    return [step for text in asked for step in STEPS if f"<step>\n{step}" in text]


def test_a_key_that_is_refused_in_the_middle_of_a_run_fails_it_until_it_is_mended(
    place: Place, forks: Forks, model: Server
):
    model.replace([{"match": "<step>", "error": 401}, *GOOD])
    ask = ("ask", "How do bees live?", "--docs", "bees", "--thread", "key", "--yes", "--json")
    failed = forks.run(place, *ask, **environment(model))
    listed = forks.run(place, "runs")
    model.replace(GOOD)

    resumed = forks.run(place, "resume", "key-1", "--json", **environment(model))

    assert failed.status == 7
    assert failed.told["error"]["code"] == "model_auth"
    assert failed.told["resume"] == "dossier resume key-1"
    assert "When the problem is solved, go on with: dossier resume key-1" in failed.err
    assert "failed model_auth" in listed.out
    assert resumed.status in (0, 6)
    assert "error" not in resumed.told
    assert {*researched(model)} == {*STEPS}
    assert not [call for call in model.log if "Draft" in str(call.body.get("response_format"))]


def test_a_step_that_a_model_refuses_is_told_first_and_done_again_alone(
    place: Place, forks: Forks, model: Server
):
    refused = {"match": f"<step>\n{STEPS[1]}", "refusal": "I cannot help with that."}
    model.replace([refused, *GOOD])
    ask = ("ask", "How do bees live?", "--docs", "bees", "--thread", "half", "--yes")
    partial = forks.run(place, *ask, **environment(model))
    model.replace(GOOD)

    resumed = forks.run(place, "resume", "half-1", "--json", **environment(model))

    assert partial.status == 6
    told = partial.out.splitlines()
    first = next(line for line in told if line.startswith(">"))
    assert first.startswith("> Partial: the model failed: the model declined to answer")
    assert "dossier resume half-1" in first
    assert partial.problem.endswith("dossier resume half-1")
    assert "error[model_refused]" in partial.err
    assert resumed.told["report"] == str(place.folder / "reports" / "half-1" / "report.md")
    assert "error" not in resumed.told
    assert {*researched(model)} == {STEPS[1]}
