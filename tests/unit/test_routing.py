"""A step is sent what it may cite."""

from __future__ import annotations

from graph.builder import after_team
from graph.state import State


def test_a_step_may_cite_the_pages_that_its_plan_was_made_from():
    step = {"id": "s1", "title": "Dance", "description": "", "needs": [], "kind": "research"}
    sources = {name: {"id": name, "title": name} for name in ("S1", "S2", "S3")}
    passage = {"source": "S2", "text": "Bees dance."}
    background = {"1/1": {"query": "bees", "passages": [passage], "reason": ""}}
    state = {
        "turn": 1,
        "language": "en",
        "question": "How do bees dance?",
        "follow_ups": [],
        "plan": {"title": "Bees", "steps": [step]},
        "background": background,
        "sources": sources,
        "findings": {},
        "answers": {},
    }

    (sent,) = after_team(State(**state))

    assert list(sent.arg["sources"]) == ["S2"]
