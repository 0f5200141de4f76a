"""Branches that run side by side: one that fails takes no other with it."""

from __future__ import annotations

from typing import Any

import pytest

from graph.session import Session
from graph.state import of_turn
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tools import evidence


@pytest.mark.parametrize("error", [KeyError("nobody foresaw this"), OSError("no disk")])
@pytest.mark.parametrize("deep", [True, False])
async def test_a_search_before_planning_that_raises_stops_no_other(
    thread: Session,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    deep: bool,
):
    gather = evidence.gather

    async def gathered(here: Any, context: Any, queries: list[str], **more: Any) -> Any:
        if queries == ["winter"]:
            raise error
        return await gather(here, context, queries, **more)

    monkeypatch.setattr("nodes.background.gather", gathered)
    script.on("Rewrite", {"question": "How do bees dance?", "queries": ["winter", "waggle dance"]})

    outcome = await thread.begin("How do bees dance?", make(choices, deep=deep), quiet)

    entries = of_turn(outcome.state["background"], 1).values()
    told = [(entry["query"], entry["status"], entry["reason"]) for entry in entries]
    assert told == [
        ("How do bees dance?", "ok", ""),
        ("winter", "failed", "internal"),
        ("waggle dance", "ok", ""),
    ]
    assert outcome.state["report"]["cited"]


async def test_a_step_that_raises_stops_no_other(
    thread: Session,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    gather = evidence.gather

    async def gathered(here: Any, context: Any, queries: list[str], **more: Any) -> Any:
        if queries == ["winter cluster"]:
            raise KeyError("nobody foresaw this")
        return await gather(here, context, queries, **more)

    monkeypatch.setattr("nodes.researcher.gather", gathered)
    script.on("Draft", draft("waggle dance", "winter cluster"))

    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    findings = of_turn(outcome.state["findings"], 1)
    ended = {name: (one["status"], one["reason"]) for name, one in findings.items()}
    assert ended == {"s1": ("ok", ""), "s2": ("failed", "internal")}
    assert outcome.state["status"] == "partial"
