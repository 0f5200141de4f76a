"""What a model says is taken as far as it goes, and no further."""

from __future__ import annotations

import pytest

from graph.depth import LIMITS
from graph.records import entries_of_turn
from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)


async def test_small_talk_without_a_reply_is_researched(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": False, "reply": ""})

    outcome = await thread.begin("Who described the waggle dance?", make(choices), quiet)

    assert outcome.state["report"]["cited"]


async def test_a_model_that_has_seen_nothing_has_not_seen_enough(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    # Vectors have a nearest page for every query.
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "none")
    new_process()
    script.on("Rewrite", {"question": "What is chromodynamics?", "queries": []})
    script.on("Draft", {**draft("waggle dance"), "has_enough_context": True})
    script.on("Enough", {"enough": True})

    outcome = await thread.begin("What is chromodynamics?", make(choices), quiet)

    assert list(entries_of_turn(outcome.state["findings"], 1)) == ["s1"]


async def test_of_one_query_only_the_best_passages_are_kept_before_planning(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("nodes.background.SHOWN", 1)
    script.on("Rewrite", {"question": "waggle dance and winter cluster", "queries": []})

    outcome = await thread.begin("What do bees do?", make(choices), quiet)

    (entry,) = entries_of_turn(outcome.state["background"], 1).values()
    assert len(entry["passages"]) == 1


async def test_however_much_is_missing_a_round_adds_few_steps(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    most = LIMITS["standard"].follow_ups
    missing = [{"title": f"waggle dance {number}"} for number in range(most + 2)]
    script.on("Verdict", {"passed": True, "open": ["more dances"]})
    script.on("Enough", {"enough": False, "missing": missing}, {"enough": True})

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert len(outcome.state["follow_ups"]) == most
