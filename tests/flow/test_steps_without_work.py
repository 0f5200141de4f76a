"""Nodes that have nothing to do are passed by, and save nothing."""

from __future__ import annotations

from typing import Any

import pytest

from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft


async def nodes(thread: ThreadSession, choices: dict[str, object]) -> list[str]:
    """Return the nodes that a run has gone through."""
    seen: list[dict[str, Any]] = []
    await thread.begin("How do bees dance?", make(choices), seen.append)
    return [one["node"] for one in seen if "node" in one]


@pytest.mark.extractive("Triage", "Rewrite", "researcher", "Verdict", "reporter", "Checks")
async def test_a_plan_that_nobody_reviews_goes_straight_to_the_team(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    gone = await nodes(thread, choices)

    assert not {"human_feedback", "knowledge", "rewrite"} & {*gone}
    assert gone[gone.index("planner") + 1] == "team"


@pytest.mark.extractive("Triage", "Rewrite")
async def test_a_plan_that_is_reviewed_still_waits(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    gone = await nodes(thread, {**choices, "auto_accept": False})

    assert gone[-1] == "planner"
    assert (await thread.current()).next == ("human_feedback",)
