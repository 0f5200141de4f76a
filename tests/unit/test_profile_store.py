"""A profile is kept for its owner alone, and every change of it can be taken back."""

from __future__ import annotations

import pytest

from config.errors import Problem
from memory.base import Query
from memory.kept.undoing import revert
from memory.profile.recall import Profile as Recalled
from memory.profile.shape import Told, Trait, nothing, untold
from memory.profile.store import kept, learn, replace
from storage.events import history, revision

pytestmark = pytest.mark.usefixtures("either")

OWNER = "local/"


def told(text: str, name: str = "identities") -> Told:
    one = Trait(text=text, quote=text, confidence=0.9, stated=True, run="t1-1", at=1.0)
    return Told(**{**untold(), **({name: [one]} if name != "detail" else {"tastes": {name: one}})})


async def recalled(owner: str = OWNER, memory: Recalled | None = None) -> list[str]:
    query = Query(owner, "reporter", "", revision=await revision(owner))
    return [note.text for note in await (memory or Recalled()).recall(query, 100)]


async def test_what_is_learnt_is_told_as_wishes_and_data():
    await learn(OWNER, told("nurse"))
    await learn(OWNER, told("concise", "detail"))

    assert await recalled() == ["Prefers concise answers.", "Is, in their own words: nurse."]
    assert await recalled("other/") == []


async def test_a_change_of_another_process_is_seen_at_the_next_call():
    memory = Recalled()
    await learn(OWNER, told("nurse"))
    assert len(await recalled(memory=memory)) == 1

    await learn(OWNER, told("concise", "detail"))

    assert len(await recalled(memory=memory)) == 2


async def test_every_change_is_an_event_and_what_changes_nothing_is_none():
    await learn(OWNER, told("nurse"), run="t1-1", why="said so")
    await learn(OWNER, untold(), run="t1-2")

    (one,) = await history(OWNER, name="profile")
    assert (one.event.name, one.event.run, one.event.why) == ("profile.update", "t1-1", "said so")
    assert one.event.before is None
    assert one.event.after == (await kept(OWNER)).profile
    assert (await kept(OWNER)).revision == one.id


async def test_changes_are_taken_back_one_by_one():
    await learn(OWNER, told("nurse"))
    first = (await kept(OWNER)).profile
    await learn(OWNER, told("concise", "detail"))
    second, begun = await history(OWNER, name="profile")

    await revert(second)
    assert (await kept(OWNER)).profile == first
    await revert(begun)

    assert (await kept(OWNER)).profile == nothing()
    assert len(await history(OWNER, name="profile")) == 4


async def test_what_was_changed_since_is_not_taken_back():
    await learn(OWNER, told("nurse"))
    (begun,) = await history(OWNER, name="profile")
    await learn(OWNER, told("teacher"))

    with pytest.raises(Problem) as problem:
        await revert(begun)
    assert problem.value.code == "undo_conflict"


async def test_a_person_may_put_another_profile_in_its_place():
    await learn(OWNER, told("nurse"))

    await replace(OWNER, nothing(), why="forget")

    assert await recalled() == []
    assert (await history(OWNER, name="profile"))[0].event.name == "profile.edit"
