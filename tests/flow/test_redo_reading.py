"""A redo is shown what its reviewer was shown, since the feedback may name it."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Passage
from graph.session import ThreadSession
from nodes import reflection
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Lessons")

SAID = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'


async def test_a_redo_is_shown_what_the_reviewer_was_shown(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    shown: list[str] = []

    async def read_little(owner: str, spans: Any, sources: Any) -> list[Passage]:
        """Show a step no more than what its state names beside what it has just found."""
        shown.extend(str(span["page"]) for span in spans)
        return []

    monkeypatch.setattr("nodes.researcher.load_passages", read_little)
    monkeypatch.setattr(
        reflection, "list_spans", lambda *_: [{"page": "seen", "start": 0, "end": 9}]
    )
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", SAID)
    script.on("reporter", SAID)
    script.on("Verdict", {"passed": False, "feedback": "Say how it tells the distance."})

    await thread.begin("How do bees dance?", make(choices), quiet)

    assert "seen" in shown
