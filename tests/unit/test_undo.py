"""Which event undoes which is recorded as a number; no reason that is given changes that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from config.errors import Problem
from memory.base import Query, Reverse
from memory.facts.store import NewFact, add
from memory.files.deciding import approve
from memory.files.projects import project_of, trust
from memory.files.projects import trusted as trusted_folder
from memory.files.proposing import NOTHING, Asker, Edit, propose
from memory.files.sources import on_disk
from memory.kept.undoing import revert, undo, undo_run
from memory.learning.feedback import feed_back
from memory.registry import UNDO
from runs.lifecycle import Run
from runs.place import owned
from storage.events import Logged, history, undone_by

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
    sources = await on_disk(Query(ME, "", ""))
    proposal = await propose(Asker(ME, RUN), sources, Edit("- Use metres", reason), NOTHING)
    await approve(ME, proposal.id)
    return (await history(ME, limit=1))[0].id


@pytest.mark.parametrize("reason", REASONS)
async def test_an_edit_is_undone_whatever_reason_the_model_gave_for_it(file: Path, reason: str):
    number = await edited(reason)

    (undone,) = await undo(ME, number)

    assert (undone.event.undoes, await undone_by(ME)) == (number, {number: undone.id})
    assert "metres" not in read(file)


@pytest.mark.parametrize("reason", REASONS)
async def test_the_edit_of_a_run_is_undone_with_the_run_whatever_its_reason(
    file: Path, reason: str
):
    number = await edited(reason)

    done = await undo_run(ME, RUN)

    assert [one.event.undoes for one in done.events] == [number]
    assert (done.left, "metres" in read(file)) == ([], False)


async def test_what_a_person_said_of_a_run_stays_when_the_run_is_undone(file: Path):
    run = Run(RUN, "t1", 1, ME, "How tall?", "done", "", {}, "", "", 1.0, 1.0)
    await feed_back(run, "Always give heights in metres.")

    done = await undo_run(ME, RUN)

    assert ([one.event.name for one in done.events], done.left) == ([], [])


async def test_an_undo_can_be_undone_and_then_the_event_again(file: Path):
    number = await edited("a reason")
    (first,) = await undo(ME, number)
    (second,) = await undo(ME, first.id)

    assert await undone_by(ME) == {first.id: second.id}
    with pytest.raises(Problem, match="undo_done"):
        await undo(ME, first.id)
    await undo(ME, number)
    assert "metres" not in read(file)


async def test_that_a_folder_is_trusted_again_is_an_undo_too(home: Path, tmp_path: Path):
    await trust("local", str(tmp_path))
    owner = owned("local", project_of(str(tmp_path)))
    (trusted,) = await history(owner)
    (first,) = await undo(owner, trusted.id)
    (second,) = await undo(owner, first.id)
    again = await trusted_folder(owner)

    await undo(owner, trusted.id)

    assert (second.event.undoes, again) == (first.id, str(tmp_path))
    assert await trusted_folder(owner) == ""


async def test_of_two_who_undo_an_event_at_once_one_is_told_that_it_is_undone(home: Path):
    fact = await add(ME, NewFact("Likes tea"))
    (logged,) = await history(ME, item=fact.id)

    done = await asyncio.gather(revert(logged), revert(logged), return_exceptions=True)

    (problem,) = [one for one in done if one is not None]
    assert isinstance(problem, Problem)
    assert problem.code == "undo_done"
    assert len(await history(ME, name="fact.undo")) == 1


async def test_what_is_remembered_meanwhile_is_not_told_as_undone(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    await add(ME, NewFact("Likes tea"))
    (logged,) = await history(ME)
    ready = UNDO["fact"]

    async def meanwhile(event: Logged) -> Reverse:
        await add(ME, NewFact("Keeps bees"))
        return await ready(event)

    monkeypatch.setitem(UNDO, "fact", meanwhile)

    assert [one.event.undoes for one in await undo(ME, logged.id)] == [logged.id]


async def test_another_owners_events_undo_nothing(file: Path):
    number = await edited("a reason")
    await add("maya/", NewFact("Likes tea"))
    await undo("maya/", (await history("maya/"))[0].id)

    assert number not in await undone_by(ME)
    assert list(await undone_by("maya/")) == [number + 1]
