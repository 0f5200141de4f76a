"""What the profile says, no fact says again in the same call."""

from __future__ import annotations

import pytest

from memory.facts.fact import NewFact
from memory.facts.memory import FactMemory
from memory.learning.learner import learn_fact
from memory.middleware import recall_block
from memory.profile.memory import ProfileMemory
from memory.protocol import Query

pytestmark = pytest.mark.usefixtures("database")

ME = "me/"


async def told(*said: str, **without: frozenset[str]) -> dict[str, list[str]]:
    """Add what is said; return what a call is told, by memory."""
    for text in said:
        await learn_fact(ME, NewFact(text, category=""), "said so")
    query = Query(ME, "reporter", "How do bees dance?", **without)
    parts = (await recall_block(query, (ProfileMemory(), FactMemory()), 3_000)).groups
    return {part.name: [note.text for note in part.notes] for part in parts}


@pytest.mark.parametrize(
    "said",
    [
        "I am a nurse in Oslo",
        "I work as a head gardener",
        "我是护士",
        "I prefer short answers",
        "Prefers concise answers",
        "I prefer short answers and tables",
        "我更喜欢简短的回答",
        "Expert in Go and Rust",
    ],
)
async def test_a_fact_that_the_profile_says_is_not_told_again(said: str):
    now = await told(said)

    assert now["profile"]
    assert "facts" not in now


@pytest.mark.parametrize(
    "said",
    [
        "I prefer tables, not prose",
        "I prefer short answers with the year of each source",
        "I am a nurse and I live in Oslo",
        "I live in Oslo",
        "我更喜欢用表格列出来源的年份",
    ],
)
async def test_a_fact_that_says_more_than_the_profile_is_told(said: str):
    assert (await told(said))["facts"] == [said]


async def test_a_correction_is_always_told():
    await learn_fact(ME, NewFact("I prefer short answers", "correction"), "said so")

    assert (await told())["facts"] == ["I prefer short answers"]


async def test_where_the_profile_is_left_out_the_facts_say_it():
    now = await told("I am a nurse in Oslo", excluded=frozenset(["profile"]))

    assert now == {"facts": ["I am a nurse in Oslo"]}


async def test_what_was_so_before_is_no_repeat_of_what_is_so():
    now = await told("I am a nurse in Oslo", "I am no longer a gardener")

    assert "I am no longer a gardener" in now["facts"]
