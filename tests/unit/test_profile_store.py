"""A profile is kept for its owner alone, and every change of it can be taken back."""

from __future__ import annotations

from typing import get_args

import pytest

from config.errors import Problem
from memory.profile.memory import ProfileMemory
from memory.profile.store import load_profile, update_profile
from memory.profile.traits import (
    Depth,
    Detail,
    Format,
    ProfileUpdate,
    Trait,
    empty_profile,
    empty_profile_update,
)
from memory.protocol import Query
from memory.registry import revert
from prompts.loader import render_prompt
from storage.events import list_events, read_revision
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("either")

OWNER = "local/"


def told(text: str, name: str = "identities") -> ProfileUpdate:
    one = Trait(text=text, quote=text, confidence=0.9, stated=True, run="t1-1", at=1.0)
    return ProfileUpdate(
        **{
            **empty_profile_update(),
            **({name: [one]} if name != "detail" else {"tastes": {name: one}}),
        }
    )


async def recalled(
    owner: str = OWNER, memory: ProfileMemory | None = None, language: str = "en"
) -> list[str]:
    revision = await read_revision(owner)
    query = Query(owner, "reporter", "", revision=revision, language=language)
    return [note.text for note in await (memory or ProfileMemory()).recall(query, 100)]


async def test_what_is_learnt_is_told_as_wishes_and_data():
    await update_profile(OWNER, told("nurse"))
    await update_profile(OWNER, told("concise", "detail"))

    assert await recalled() == ["Prefers concise answers.", "Is, in their own words: nurse."]
    assert await recalled("other/") == []
    assert await recalled(language="zh") == ["希望回答的详略：简洁。", "用户自称：nurse。"]


@each_case([*get_args(Detail), *get_args(Depth), *get_args(Format)])
def test_every_taste_has_a_word_in_both_languages(taste: str):
    if taste:
        assert {render_prompt(f"taste_{taste}", language=one) for one in ("en", "zh")} > {taste}


async def test_a_change_of_another_process_is_seen_at_the_next_call():
    memory = ProfileMemory()
    await update_profile(OWNER, told("nurse"))
    assert len(await recalled(memory=memory)) == 1

    await update_profile(OWNER, told("concise", "detail"))

    assert len(await recalled(memory=memory)) == 2


async def test_every_change_is_an_event_and_what_changes_nothing_is_none():
    await update_profile(OWNER, told("nurse"), run="t1-1", why="said so")
    await update_profile(OWNER, empty_profile_update(), run="t1-2")

    (one,) = await list_events(OWNER, name="profile")
    assert (one.event.name, one.event.run, one.event.why) == ("profile.update", "t1-1", "said so")
    assert one.event.before is None
    assert one.event.after == (await load_profile(OWNER)).profile
    assert (await load_profile(OWNER)).revision == one.id


async def test_changes_are_taken_back_one_by_one():
    await update_profile(OWNER, told("nurse"))
    first = (await load_profile(OWNER)).profile
    await update_profile(OWNER, told("concise", "detail"))
    second, begun = await list_events(OWNER, name="profile")

    await revert(second)
    assert (await load_profile(OWNER)).profile == first
    await revert(begun)

    assert (await load_profile(OWNER)).profile == empty_profile()
    assert len(await list_events(OWNER, name="profile")) == 4


async def test_what_was_changed_since_is_not_taken_back():
    await update_profile(OWNER, told("nurse"))
    (begun,) = await list_events(OWNER, name="profile")
    await update_profile(OWNER, told("teacher"))

    with pytest.raises(Problem) as problem:
        await revert(begun)
    assert problem.value.code == "undo_conflict"
