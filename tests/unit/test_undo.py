"""Which event undoes which is recorded as a number; no reason that is given changes that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from config.errors import Problem
from memory.agents_md.edits import NOTHING_READ, EditRequester, FileEdit, propose_edit
from memory.agents_md.file_sources import disk_sources
from memory.agents_md.project_trust import add_trusted_folder, project_name, trusted_folder
from memory.agents_md.proposals import approve_proposal
from memory.facts.fact import NewFact
from memory.facts.memory import FactMemory
from memory.facts.store import add_fact
from memory.learning.run_feedback import record_feedback
from memory.protocol import Query
from memory.registry import revert, undo_event, undo_run
from runs.call_site import join_owner
from runs.lifecycle import RunRecord
from storage.events import LoggedEvent, Reverse, find_undone_events, list_events

pytestmark = pytest.mark.usefixtures("either")

ME, RUN = "local/", "t1-1"
MINE = "# Mine\n\nBe brief.\n"

REASONS = (
    *("undo of event 1", "undo of 1", "undo of event 2", "undo of event 99"),
    *("undo of run t1-1", "undo of the last change", "feedback on t1-1", "feedback on units"),
)


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir(parents=True)
    (home / "AGENTS.md").write_text(MINE)
    return home / "AGENTS.md"


def read(file: Path) -> str:
    return file.read_text()


async def edited(reason: str) -> int:
    """Let a run's model propose an edit for some reason, approve it, and return its event."""
    sources = await disk_sources(Query(ME, "", ""))
    proposal = await propose_edit(
        EditRequester(ME, RUN), sources, FileEdit("- Use metres", reason), NOTHING_READ
    )
    await approve_proposal(ME, proposal.id)
    return (await list_events(ME, limit=1))[0].id


@pytest.mark.parametrize("reason", REASONS)
async def test_an_edit_is_undone_whatever_reason_the_model_gave_for_it(file: Path, reason: str):
    number = await edited(reason)

    (undone,) = await undo_event(ME, number)

    assert (undone.event.undoes, await find_undone_events(ME)) == (number, {number: undone.id})
    assert "metres" not in read(file)


@pytest.mark.parametrize("reason", REASONS)
async def test_the_edit_of_a_run_is_undone_with_the_run_whatever_its_reason(
    file: Path, reason: str
):
    number = await edited(reason)

    done = await undo_run(ME, RUN)

    assert [one.event.undoes for one in done.events] == [number]
    assert (done.conflicts, "metres" in read(file)) == ([], False)


async def test_what_a_person_said_of_a_run_stays_when_the_run_is_undone(file: Path):
    run = RunRecord(RUN, "t1", 1, ME, "How tall?", "done", "", {}, "", "", 1.0, 1.0)
    await record_feedback(run, "Always give heights in metres.")

    done = await undo_run(ME, RUN)

    assert ([one.event.name for one in done.events], done.conflicts) == ([], [])


async def test_words_like_those_of_feedback_keep_nothing_of_a_run(home: Path):
    await add_fact(ME, NewFact("Likes tea"), why=f"feedback on {RUN}", run=RUN)

    done = await undo_run(ME, RUN)

    assert [one.event.name for one in done.events] == ["fact.undo"]


async def test_an_undo_can_be_undone_and_then_the_event_again(file: Path):
    number = await edited("a reason")
    (first,) = await undo_event(ME, number)
    (second,) = await undo_event(ME, first.id)

    assert await find_undone_events(ME) == {first.id: second.id}
    with pytest.raises(Problem, match="undo_done"):
        await undo_event(ME, first.id)
    await undo_event(ME, number)
    assert "metres" not in read(file)


async def test_that_a_folder_is_trusted_again_is_an_undo_too(home: Path, tmp_path: Path):
    await add_trusted_folder("local", str(tmp_path))
    owner = join_owner("local", project_name(str(tmp_path)))
    (trusted,) = await list_events(owner)
    (first,) = await undo_event(owner, trusted.id)
    (second,) = await undo_event(owner, first.id)
    again = await trusted_folder(owner)

    await undo_event(owner, trusted.id)

    assert (second.event.undoes, again) == (first.id, str(tmp_path))
    assert await trusted_folder(owner) == ""


async def test_of_two_who_undo_an_event_at_once_one_is_told_that_it_is_undone(home: Path):
    fact = await add_fact(ME, NewFact("Likes tea"))
    (logged,) = await list_events(ME, item=fact.id)

    done = await asyncio.gather(revert(logged), revert(logged), return_exceptions=True)

    (problem,) = [one for one in done if one is not None]
    assert isinstance(problem, Problem)
    assert problem.code == "undo_done"
    assert len(await list_events(ME, name="fact.undo")) == 1


async def test_what_is_remembered_meanwhile_is_not_told_as_undone(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    await add_fact(ME, NewFact("Likes tea"))
    (logged,) = await list_events(ME)
    ready = FactMemory.undo

    async def meanwhile(self: FactMemory, event: LoggedEvent) -> Reverse:
        await add_fact(ME, NewFact("Keeps bees"))
        return await ready(self, event)

    monkeypatch.setattr(FactMemory, "undo", meanwhile)

    assert [one.event.undoes for one in await undo_event(ME, logged.id)] == [logged.id]


async def test_another_owners_events_undo_nothing(file: Path):
    number = await edited("a reason")
    await add_fact("maya/", NewFact("Likes tea"))
    await undo_event("maya/", (await list_events("maya/"))[0].id)

    assert number not in await find_undone_events(ME)
    assert list(await find_undone_events("maya/")) == [number + 1]
