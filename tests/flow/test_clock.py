"""A run goes on from where it stood, whatever became of the wall clock in between."""

from __future__ import annotations

from typing import Any

import pytest

from graph.session import SessionOutcome, open_session
from runs.checkpointer import open_checkpointer, save_run_status
from tests.clock import Clock
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "reporter", "Checks", "Lessons"
)

QUESTION = "How do bees dance?"

STEPS = [-15.0, -60.0, -86_400.0, 86_400.0 * 400, 0.0]
"""The seconds by which a clock is set: by a time server, behind a sleep, in a machine's copy."""

APPROVED = {"type": "approve"}


class Killed(Exception):
    """The end of a process."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, choices: dict[str, object], script: Script) -> Clock:
    """A clock that can be set, and the models of a run with two steps."""
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Enough", {"enough": True})
    return Clock(monkeypatch)


async def begun(choices: dict[str, object], question: str = QUESTION) -> SessionOutcome:
    async with open_session("t9") as thread:
        return await thread.begin(question, make(choices), quiet)


async def answered(choices: dict[str, object], decision: dict[str, Any]) -> SessionOutcome:
    async with open_session("t9") as thread:
        return await thread.answer_review(decision, make(choices), quiet)


async def killed_behind(node: str, choices: dict[str, object]) -> None:
    def watch(event: dict[str, Any]) -> None:
        if event.get("node") == node:
            raise Killed(node)

    async with open_session("t9") as thread:
        with pytest.raises(Killed):
            await thread.begin(QUESTION, make(choices), watch)


async def ids() -> list[str]:
    """Return the ids of the checkpoints of the thread in the order in which they were saved."""
    async with open_checkpointer() as saver:
        rows = saver.conn.execute("SELECT checkpoint_id FROM checkpoints ORDER BY rowid")
        return [name for (name,) in rows]


@pytest.mark.parametrize("seconds", STEPS)
async def test_a_plan_is_approved_behind_a_clock_that_was_set(
    clock: Clock, choices: dict[str, object], seconds: float
):
    waiting = await begun({**choices, "auto_accept": False})
    assert waiting.request
    clock.restart(seconds)

    outcome = await answered(choices, APPROVED)

    assert outcome.request is None
    assert outcome.state["status"] == "succeeded"
    assert outcome.state["report"]["cited"]
    assert await ids() == sorted(await ids())


@pytest.mark.parametrize(
    ("node", "seconds"),
    [*(("team", seconds) for seconds in STEPS), ("coordinator", -60.0), ("reporter", -60.0)],
)
async def test_a_killed_run_is_resumed_behind_a_clock_that_was_set(
    clock: Clock, choices: dict[str, object], script: Script, node: str, seconds: float
):
    await killed_behind(node, choices)
    asked = len(script.asked)
    clock.restart(seconds)

    async with open_session("t9") as thread:
        outcome = await thread.resume(make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert outcome.state["report"]["cited"]
    assert len({str(said) for said in script.asked}) == len(script.asked)
    assert len(script.asked) > asked or node == "reporter"


async def test_a_clock_that_is_set_while_a_run_works_changes_nothing(
    clock: Clock, choices: dict[str, object]
):
    def watch(event: dict[str, Any]) -> None:
        clock.step(-7.0)

    async with open_session("t9") as thread:
        outcome = await thread.begin(QUESTION, make(choices), watch)

    assert outcome.state["status"] == "succeeded"
    assert await ids() == sorted(await ids())


async def test_every_process_of_a_thread_may_have_a_clock_of_its_own(
    clock: Clock, choices: dict[str, object]
):
    reviewed = {**choices, "auto_accept": False}
    for turn, seconds in enumerate([-3_600.0, 86_400.0 * 3_650, -86_400.0 * 7_300], start=1):
        await begun(reviewed, f"{QUESTION} Once more, {turn}.")
        clock.restart(seconds)
        outcome = await answered(reviewed, {"type": "reject", "message": "look at winter too"})
        assert outcome.request
        clock.restart(-seconds / 2)
        outcome = await answered(reviewed, APPROVED)
        assert (outcome.state["turn"], outcome.state["status"]) == (turn, "succeeded")
        clock.restart(-100.0)

    assert len(outcome.state["messages"]) == 6


async def test_what_is_written_about_a_run_that_broke_off_is_found_behind_the_clock(
    clock: Clock, choices: dict[str, object]
):
    await killed_behind("team", choices)
    clock.restart(-600.0)
    await save_run_status("t9", "paused")

    async with open_session("t9") as thread:
        assert (await thread.current()).values["status"] == "paused"
        assert (await thread.resume(make(choices), quiet)).state["status"] == "succeeded"


async def test_a_server_goes_on_with_what_another_process_has_saved(
    clock: Clock, choices: dict[str, object]
):
    reviewed = {**choices, "auto_accept": False}
    async with open_session("t9") as server:
        await server.begin(QUESTION, make(reviewed), quiet)
        clock.restart(3_600.0)
        await answered(reviewed, {"type": "reject", "message": "look at winter too"})
        clock.restart(-7_200.0)

        outcome = await server.answer_review(APPROVED, make(reviewed), quiet)

    assert (outcome.state["revisions"], outcome.state["status"]) == (1, "succeeded")
