"""Threads that older programs left behind go on in this one, or are refused by name.

Each archive in `tests/data` is the home of a program of that graph version, made by asking a
question over two small files without a key: `finished` is done, `waiting` waits for a review, and
each `killed-…` was killed right behind the node it is named after. The program of `redo-3` was
killed while its step was done for the second time, which is as often as it may be. Those of
version 6 in which two things are asked have two steps, and one was killed in the second of them.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import cast
from zipfile import ZipFile

import pytest

from graph.context import build_context
from graph.session import SessionOutcome, open_session
from graph.state import State
from runs.lifecycle import find_run
from runs.trace import read_trace
from tests.fake_model import Script

DATA = Path(__file__).parents[1] / "data"

RELEASED = sorted(path.stem for path in DATA.glob("graph-*.zip"))

KILLED = ("killed-rewrite", "killed-human-feedback", "killed-team", "killed-reporter")

KILLED_3 = ("coordinator", "background", "planner", "reflection", "knowledge")
"""The nodes behind which more threads of version 3 were killed; of 4 all but the last."""


@pytest.fixture(params=RELEASED)
def old_home(request: pytest.FixtureRequest, home: Path, database: None) -> Path:
    """The home of an older program."""
    return extracted(request.param, home)


@pytest.fixture
def home_of_a_redo(home: Path, database: None) -> Path:
    """The home of an older program that was killed while a step was done again."""
    return extracted("redo-3", home)


def extracted(name: str, home: Path) -> Path:
    home.mkdir()
    with ZipFile(DATA / f"{name}.zip") as archive:
        archive.extractall(home)
    return home


async def gone_on_with(thread: str, *, approve: bool = False) -> SessionOutcome:
    """Go on with a thread as `dossier resume` does."""
    choices = build_context((await find_run("local/", thread)).context)
    async with open_session(thread) as opened:
        if approve:
            return await opened.answer_review({"type": "approve"}, choices, lambda _: None)
        return await opened.resume(choices, lambda _: None)


async def state_of(thread: str) -> State:
    """Return what a thread has saved; of a step that ended in a wave that did not, its writes."""
    async with open_session(thread) as opened:
        snapshot = await opened.current()
        done = [one.result for one in snapshot.tasks if one.result]
        found = {name: one for result in done for name, one in result.get("findings", {}).items()}
        return cast("State", {**snapshot.values, "findings": found})


def says_who(outcome: SessionOutcome) -> bool:
    body = outcome.state["report"]["body"]
    return outcome.state["status"] == "succeeded" and "Karl von Frisch" in body


def test_every_version_of_the_graph_left_threads_to_test_with():
    assert {"graph-1", "graph-2", "graph-3", "graph-4", "graph-6"} <= set(RELEASED)


@pytest.mark.usefixtures("old_home")
async def test_a_plan_that_waited_is_approved_and_researched():
    assert says_who(await gone_on_with("waiting", approve=True))


@pytest.mark.usefixtures("old_home")
@pytest.mark.parametrize("thread", KILLED)
async def test_a_run_that_was_killed_comes_to_its_report(thread: str):
    outcome = await gone_on_with(thread)

    assert says_who(outcome)
    folder = Path((await find_run("local/", f"{thread}-1")).folder)
    assert "Karl von Frisch" in (folder / "report.md").read_text("utf-8")
    assert [one.type for one in outcome.state["messages"]] == ["human", "ai"]


@pytest.mark.parametrize("old_home", ["graph-6"], indirect=True)
@pytest.mark.usefixtures("old_home")
async def test_a_run_of_version_6_that_was_killed_in_a_step_does_the_others_alone():
    (before,) = (await state_of("killed-steps"))["findings"].items()
    outcome = await gone_on_with("killed-steps")

    findings = outcome.state["findings"]
    assert len(findings) == 2
    assert findings[before[0]] == before[1]
    assert "Karl von Frisch" in outcome.state["report"]["body"]
    assert "20 kilograms" in outcome.state["report"]["body"]
    assert "knowledge" not in outcome.state["plan"]
    asked = [one for one in await read_trace("killed-steps-1") if one["kind"] == "model"]
    made = [one for one in asked if one["status"] == "ok" and one["role"] == "researcher"]
    assert sorted(one["step"] for one in made) == ["s1", "s2"]


@pytest.mark.parametrize("old_home", ["graph-6"], indirect=True)
@pytest.mark.usefixtures("old_home")
async def test_a_plan_of_version_6_with_two_steps_is_approved_and_both_are_done():
    outcome = await gone_on_with("waiting-steps", approve=True)

    assert len(outcome.state["findings"]) == 2
    assert "20 kilograms" in outcome.state["report"]["body"]


@pytest.mark.parametrize(
    ("old_home", "node"),
    [
        *product(["graph-3"], KILLED_3),
        *product(["graph-4"], KILLED_3[:-1]),
        ("graph-6", "reflection"),
    ],
    indirect=["old_home"],
)
@pytest.mark.usefixtures("old_home")
async def test_a_run_of_versions_3_4_and_6_goes_on_behind_every_node(node: str):
    assert says_who(await gone_on_with(f"killed-{node}"))


@pytest.mark.usefixtures("old_home")
async def test_nothing_that_was_done_before_the_kill_is_done_again():
    before = await read_trace("killed-reporter-1")

    await gone_on_with("killed-reporter")

    after = (await read_trace("killed-reporter-1"))[len(before) :]
    again = {one["role"] for one in after if one["kind"] == "model" and one["status"] == "ok"}
    assert again <= {"reporter", "memorizer"}


@pytest.mark.extractive("Enough", "reporter", "Checks")
@pytest.mark.usefixtures("home_of_a_redo")
async def test_how_often_a_step_was_done_before_the_kill_counts(script: Script):
    script.on("Verdict", {"passed": False, "feedback": "say when", "queries": ["1927"]})
    script.on("researcher", '<q s="S1">Karl von Frisch described the waggle dance in 1927.</q>')

    outcome = await gone_on_with("killed-redo")

    (finding,) = outcome.state["findings"].values()
    assert (finding["attempts"], script.names().count("researcher")) == (2, 1)


@pytest.mark.usefixtures("old_home")
async def test_a_finished_thread_is_asked_further():
    choices = build_context((await find_run("local/", "finished")).context)

    async with open_session("finished") as opened:
        outcome = await opened.begin("How much honey does a winter cluster eat?", choices, print)

    assert outcome.state["turn"] == 2
    assert "20 kilograms" in outcome.state["report"]["body"]
    assert "Karl von Frisch" in outcome.state["answers"]["1"]["text"]


@pytest.mark.usefixtures("old_home")
async def test_what_older_programs_saved_whole_is_compacted_with_the_next_question():
    choices = build_context((await find_run("local/", "finished")).context)
    async with open_session("finished") as opened:
        before = [one async for one in opened.graph.aget_state_history(opened.config)]
        await opened.begin("How much honey does a winter cluster eat?", choices, print)
        after = [one async for one in opened.graph.aget_state_history(opened.config)]

    assert len(before) > 8
    (kept,) = [one for one in after if one.values.get("turn") == 1 and not one.next]
    assert (kept.values, kept.config) == (before[0].values, before[0].config)
    assert {one.next for one in after if one.values.get("turn") == 1} == {
        (),
        ("__start__",),
        ("profile",),
    }
