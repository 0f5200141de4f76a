"""Work on texts ends with the minutes of its run, which then ends like one at any other limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from calls import run_budget
from graph.session import SessionOutcome, ThreadSession
from nodes import researcher
from report.checks import attribution
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tools import evidence, source_checks

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Enough")

LIMIT = "max_minutes = 20"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on texts after a second."""
    monkeypatch.setattr(run_budget, "TEXT_SECONDS", 1.0)


@pytest.fixture(autouse=True)
def hard_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat texts as long ones, although those of the tests are short."""
    monkeypatch.setattr("calls.run_budget.MAX_AT_ONCE", 0)


def hanging(work: Callable[..., Any], at: Callable[..., bool]) -> Callable[..., Any]:
    """Return some work that takes all the time of its run, and longer, for what is hard to read."""

    def hang(*values: Any) -> Any:
        if at(*values):
            for one in run_budget._budgets.get().values():
                one.started -= 3600
            time.sleep(30)
        return work(*values)

    return hang


async def asked(thread: ThreadSession, choices: dict[str, object]) -> SessionOutcome:
    context = make(choices, max_minutes=20, max_reflections=0)
    return await thread.begin("How do bees dance?", context, quiet)


def shown(outcome: SessionOutcome) -> str:
    return str(outcome.state["messages"][-1].text)


async def test_passages_that_cannot_be_chosen_in_time_leave_a_step_out_and_name_the_limit(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    script.on("Draft", draft("waggle dance", "winter cluster"))

    async def narrow(_role: str, _context: object, least: int) -> int:
        return least

    monkeypatch.setattr(researcher, "reading_room", narrow)
    choose = evidence.choose_passages
    hard = hanging(choose, lambda _found, _cuts, wanted: "winter" in str(wanted.queries))
    monkeypatch.setattr(evidence, "choose_passages", hard)

    outcome = await asked(thread, choices)

    assert outcome.state["status"] == "partial"
    assert f"> Partial: the run reached its limit ({LIMIT})" in shown(outcome)
    assert f"**winter cluster**: a limit of the run was reached ({LIMIT})" in shown(outcome)


async def test_a_report_that_cannot_be_checked_in_time_is_put_together_of_what_was_found(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    script.on("reporter", "The hardest of all texts [S1].")
    hard = hanging(attribution.enforce_citations, lambda text, *_: "hardest" in text)
    monkeypatch.setattr(source_checks, "enforce_citations", hard)

    outcome = await asked(thread, choices)

    assert outcome.state["status"] == "partial"
    assert LIMIT in shown(outcome)
    assert outcome.state["report"]["cited"]
    assert "hardest" not in outcome.state["report"]["body"]


async def test_a_report_of_which_nothing_can_be_checked_in_time_only_names_the_limit(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nodes.reporter.LAST", 0.1)
    monkeypatch.setattr(
        source_checks, "enforce_citations", hanging(attribution.enforce_citations, lambda *_: True)
    )

    outcome = await asked(thread, choices)

    assert outcome.state["status"] == "partial"
    assert LIMIT in shown(outcome)
    assert not outcome.state["report"]["cited"]


async def test_a_search_before_the_plan_that_takes_too_long_names_the_limit(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(evidence, "rank_passages", hanging(evidence.rank_passages, lambda *_: True))

    outcome = await asked(thread, choices)

    assert outcome.state["status"] == "partial"
    assert LIMIT in shown(outcome)
