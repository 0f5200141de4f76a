"""The person has the answer before a run is learnt from, and nothing there can spoil it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from graph.session import ThreadSession, open_session
from graph.state import State
from library.store import list_page_ids
from runs.lifecycle import find_run
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)

DANCE = '<q s="S1">The waggle dance tells other bees the direction of food.</q>'

BEES = "My hives stand in Oslo. How do bees dance?"


def slow_from_the_report_on(script: Script) -> None:
    def report(_: Any) -> None:
        script.seconds = 0.3

    script.on("reporter", report)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "title"), [(BEES, "How do bees dance?"), ("Hello, I'm a nurse.", "")]
)
async def test_the_answer_is_handed_over_before_it_is_learnt_from(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str, title: str
):
    slow_from_the_report_on(script)
    script.seconds = 0.0 if title else 0.3
    handed: list[tuple[State, list[str], str]] = []

    async def answered(state: State) -> None:
        handed.append((state, script.names(), (await find_run("local/", "t1-1")).status))

    thread.on_answer = answered
    outcome = await thread.begin(said, make(choices), quiet)

    ((state, before, status),) = handed
    assert "Learnt" not in before
    assert "Learnt" in script.names()
    assert status == "succeeded"
    assert state["messages"][-1].text == outcome.state["messages"][-1].text
    assert title in state["report"]["title"]


async def stopped_behind_its_answer(
    thread: ThreadSession, choices: dict[str, object], node: str
) -> None:
    """Ask, and stop the run when a node behind its answer begins."""
    begun = asyncio.Event()

    def watch(event: dict[str, Any]) -> None:
        ended = event.get("node") == "memorize"
        if (ended and node == "learn") or (node == "memorize" and event.get("event") == "answered"):
            begun.set()

    work = asyncio.create_task(thread.begin(BEES, make(choices), watch))
    await begun.wait()
    # The node begins when the step before it is saved.
    await asyncio.sleep(0.1)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_a_run_that_is_stopped_while_it_learns_is_finished(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    slow_from_the_report_on(script)
    await stopped_behind_its_answer(thread, choices, "learn")

    script.on("reporter", "")
    with pytest.raises(Problem, match="already finished"):
        await thread.resume(make(choices), quiet)
    async with open_session("t1") as again:
        outcome = await again.begin("Thanks!", make(choices), quiet)
    assert outcome.state["turn"] == 2
    assert (await find_run("local/", "t1-1")).status == "succeeded"


async def forever(*_: object, **__: object) -> None:
    """Wait for what never happens."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("resumed", [True, False])
async def test_a_report_that_was_delivered_and_not_stored_is_stored_with_what_follows(
    thread: ThreadSession, choices: dict[str, object], script: Script, resumed: bool
):
    script.on("reporter", DANCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nodes.memorize._keep", forever)
        await stopped_behind_its_answer(thread, choices, "memorize")
    folder = Path((await find_run("local/", "t1-1")).folder)
    delivered = (folder / "report.md").read_bytes()
    assert (await find_run("local/", "t1-1")).status == "succeeded"
    assert await list_page_ids("local/", "report", "t1-1") == []

    if resumed:
        await thread.resume(make(choices), quiet)
    else:
        await thread.begin("Thanks!", make(choices), quiet)

    assert await list_page_ids("local/", "report", "t1-1")
    assert (folder / "report.md").read_bytes() == delivered


async def test_learning_that_fails_fails_no_run(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    async def full(*_: object) -> None:
        raise Problem(ErrorCode.STORAGE_FULL, "no room")

    monkeypatch.setattr("nodes.learn.learn_from_run", full)

    outcome = await thread.begin(BEES, make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert "has not learnt all it could" in caplog.text
