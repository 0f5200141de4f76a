"""Researchers say what they would ask next only where somebody takes it up."""

from __future__ import annotations

import pytest

from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Lessons", "Verdict")


@pytest.mark.parametrize(("depth", "asked"), [("standard", False), ("deep", True)])
async def test_only_a_deep_run_asks_its_researchers_for_questions(
    thread: ThreadSession, choices: dict[str, object], script: Script, depth: str, asked: bool
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", '<q s="S1">The waggle dance tells other bees</q> [S1].')
    script.on("reporter", '<q s="S1">The waggle dance tells other bees</q> [S1].')

    await thread.begin("How do bees dance?", make(choices, depth=depth), quiet)

    systems = [str(messages[0].text) for name, messages in script.asked if name == "researcher"]
    assert [("## Next questions" in one) for one in systems[:1]] == [asked]
