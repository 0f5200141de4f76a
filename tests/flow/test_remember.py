"""The memory researcher works beside the steps, and no plan waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from graph.records import MEMORY, entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from library.scope import Scope, list_stored_pages
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_memory import QUESTION, recalls, say

pytestmark = pytest.mark.extractive(
    "Triage", "researcher", "Verdict", "Enough", "reporter", "Checks", "Lookup"
)

HALF = "Nora likes her parrot."
NOTE = {"facts": [{"text": "Nora likes her parrot.", "pages": ["S1"]}]}


@pytest.fixture(autouse=True)
async def half(script: Script) -> None:
    """A memory that has half an answer, and a plan to find out the rest."""
    await say(HALF)
    script.on("Rewrite", {"question": QUESTION, "queries": []})
    script.on("Draft", draft("the parrot", "the adoption"))
    script.on("Notes", NOTE)


async def begun(thread: ThreadSession, choices: dict[str, object], **more: Any) -> SessionOutcome:
    return await thread.begin(QUESTION, make(choices, **more), quiet)


async def test_the_planner_is_shown_what_the_memory_has_before_any_model_searches_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await begun(thread, choices)

    names = script.names()
    assert names.index("Draft") < names.index("Lookup")
    assert HALF in script.prompts("Draft")[0]


async def test_its_notes_join_the_findings_and_reach_the_reporter(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await begun(thread, choices)

    finding = entries_of_turn(outcome.state["findings"], 1)[MEMORY]
    assert "Nora likes her parrot [S1]" in finding["text"]
    assert finding["sources"] == ["S1"]
    assert finding["title"] in script.prompts("reporter")[0]


async def test_a_plan_that_waits_for_a_person_has_cost_no_search_of_the_memory(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    reviewed = make(choices, auto_accept=False)
    await thread.begin(QUESTION, reviewed, quiet)
    before = recalls(script)
    await thread.answer_review({"type": "approve"}, reviewed, quiet)

    assert before == []
    assert recalls(script) == ["Lookup", "Notes"]


async def test_it_is_asked_once_in_a_run_with_several_waves(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    plan = draft("the parrot", "the adoption")
    plan["steps"][1]["needs"] = [1]
    script.on("Draft", plan)
    await begun(thread, choices)

    assert recalls(script) == ["Lookup", "Notes"]


async def test_what_it_noted_is_no_step_that_is_judged_reported_missing_or_kept(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True})
    outcome = await begun(thread, choices)

    assert {one["review"] for one in entries_of_turn(outcome.state["findings"], 1).values()} > {
        "passed"
    }
    assert "Enough" not in script.names()
    title = entries_of_turn(outcome.state["findings"], 1)[MEMORY]["title"]
    assert title not in str(outcome.state["messages"][-1].text)
    assert not [
        page for page in await list_stored_pages("local/", Scope(["report"])) if title in page.title
    ]


@pytest.mark.parametrize(
    "failure", [Problem(ErrorCode.MODEL_REJECTED, "no"), RuntimeError("unforeseen")]
)
async def test_a_memory_that_fails_costs_its_notes_and_no_step(
    thread: ThreadSession,
    choices: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
):
    async def recall(*_: object, **__: object) -> Any:
        raise failure

    monkeypatch.setattr("nodes.remember.recall_from_memory", recall)
    outcome = await begun(thread, choices)

    assert sorted(entries_of_turn(outcome.state["findings"], 1)) == ["s1", "s2"]
    assert MEMORY in entries_of_turn(outcome.state["background"], 1)


async def test_a_quick_answer_has_no_steps_and_asks_the_memory_first(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await begun(thread, choices, depth="quick")

    assert recalls(script) == ["Lookup", "Notes"]
    assert HALF in script.prompts("reporter")[0]
