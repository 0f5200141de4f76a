"""What is known of a person: kept once, with where it is from, its history and its events."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from config.errors import Problem
from memory.facts.cache import find_similar_facts, search_facts
from memory.facts.fact import Fact, NewFact
from memory.facts.queries import find_fact, list_facts
from memory.facts.store import add_fact, edit_fact, supersede_fact
from memory.registry import revert
from storage.events import list_events
from tests.removed_facts import remove_fact

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"


async def contents(owner: str = ME, **more: bool) -> list[str]:
    return [fact.content for fact in await list_facts(owner, **more)]


async def events(owner: str = ME) -> list[tuple[str, str]]:
    return [(one.event.name, one.event.item) for one in reversed(await list_events(owner))]


async def refused(work: Any) -> str:
    with pytest.raises(Problem) as failure:
        await work
    return failure.value.code


@pytest.fixture
async def tea() -> Fact:
    """A fact that is known."""
    return await add_fact(
        ME, NewFact("Drinks green tea", "preference", 0.8, quote="I drink green tea")
    )


async def test_a_fact_keeps_where_it_is_from():
    new = NewFact("Drinks tea", "preference", 0.9, "I drink tea", "t1", "t1-2", "m7", "model", 5.0)

    fact = await add_fact(ME, new, why="said in passing", step="s1")

    assert await find_fact(ME, fact.id) == fact
    assert NewFact(*(getattr(fact, name) for name in NewFact._fields)) == new
    assert (fact.live, fact.valid_to, fact.superseded_by) == (True, None, "")


async def test_a_change_is_logged_with_what_is_behind_it():
    fact = await add_fact(
        ME, NewFact("Drinks tea", provenance="model", run="t1-2"), why="said", step="s1"
    )

    (logged,) = await list_events(ME)
    event = logged.event
    assert (event.name, event.item, event.before) == ("fact.add", fact.id, None)
    assert (event.provenance, event.why, event.run, event.step) == ("model", "said", "t1-2", "s1")
    assert event.after is not None
    assert event.after["content"] == "Drinks tea"
    assert fact.revision == logged.id


@pytest.mark.parametrize(
    "again", ["Drinks green tea", "drinks  GREEN tea.", "Ｄｒｉｎｋｓ green tea!"]
)
async def test_what_is_known_is_confirmed_and_not_doubled(tea: Fact, again: str):
    fact = await add_fact(ME, NewFact(again, confidence=0.9))

    assert await list_facts(ME) == [fact]
    assert (fact.id, fact.content, fact.confidence) == (tea.id, tea.content, 0.9)
    assert await events() == [("fact.add", tea.id), ("fact.confirm", tea.id)]


@pytest.mark.parametrize(
    ("known", "more"),
    [
        ("Drinks tea", "Drinks green tea"),
        ("每天早上在花园里喝茶看书", "每天早上在花园里喝绿茶看书"),
    ],
)
async def test_a_wording_that_says_more_is_an_event_of_its_own_and_can_be_undone(
    known: str, more: str
):
    fact = await add_fact(ME, NewFact(known))
    await add_fact(ME, NewFact(more))

    assert [one.content for one in await list_facts(ME)] == [more]
    assert await events() == [("fact.add", fact.id), ("fact.reword", fact.id)]

    await revert((await list_events(ME, limit=1))[0])

    assert [one.content for one in await list_facts(ME)] == [known]


async def test_a_confirmation_that_says_nothing_new_is_logged_and_changes_nothing(tea: Fact):
    assert await add_fact(ME, NewFact("Drinks green tea", confidence=0.8)) == tea
    assert len(await events()) == 2


async def test_a_wording_that_says_a_little_more_takes_over():
    for filler in ("Keeps bees", "Likes jazz", "住在上海"):
        await add_fact(ME, NewFact(filler))
    short = await add_fact(
        ME, NewFact("Writes reports on bees with tables for all yields in Scotland")
    )
    long = "Writes long reports on bees with tables for all yields in Scotland"

    fact = await add_fact(ME, NewFact(long, quote="long reports"))

    assert (fact.id, fact.content, fact.quote) == (short.id, long, "long reports")
    assert len(await list_facts(ME)) == 4


async def test_what_is_turned_round_is_another_fact():
    await add_fact(ME, NewFact("Writes reports on bees with tables for all yields"))
    await add_fact(ME, NewFact("Writes reports on bees without tables for all yields"))

    assert len(await list_facts(ME)) == 2


@pytest.mark.parametrize("source", ["tool", "web", "", "USER"])
async def test_what_tools_and_pages_say_is_no_fact(source: str):
    assert await refused(add_fact(ME, NewFact("Likes spam", provenance=source))) == "untrusted_fact"
    assert await contents() == []
    assert await events() == []


@pytest.mark.parametrize(
    ("new", "code"),
    [
        (NewFact(" \n"), "fact_empty"),
        (NewFact("。"), "fact_empty"),
        (NewFact("<!-- x -->\u200b"), "fact_empty"),
        (NewFact("x" * 1001), "fact_too_long"),
        (NewFact("x", "secret"), "fact_invalid"),
        (NewFact("x", confidence=1.5), "fact_invalid"),
        (NewFact("x", confidence=float("nan")), "fact_invalid"),
        (NewFact("x", valid_from=float("inf")), "fact_invalid"),
    ],
)
async def test_what_cannot_be_a_fact_is_refused(new: NewFact, code: str):
    assert await refused(add_fact(ME, new)) == code
    assert await events() == []


async def test_what_is_replaced_is_history_and_says_by_what(tea: Fact):
    coffee = await supersede_fact(ME, tea.id, NewFact("Drinks coffee now"), why="said so")

    old = await find_fact(ME, tea.id)
    assert old is not None
    assert (old.live, old.superseded_by, old.valid_to) == (False, coffee.id, coffee.valid_from)
    assert await contents() == ["Drinks coffee now"]
    assert await contents(include_ended=True) == ["Drinks green tea", "Drinks coffee now"]
    assert await events() == [("fact.add", tea.id), ("fact.supersede", tea.id)]


async def test_what_begins_later_leaves_what_holds_till_then(tea: Fact):
    tomorrow = time.time() + 86_400
    await supersede_fact(ME, tea.id, NewFact("Drinks coffee now", valid_from=tomorrow))

    old = await find_fact(ME, tea.id)
    assert old is not None
    assert (old.live, old.valid_to) == (True, tomorrow)
    assert await contents() == ["Drinks green tea", "Drinks coffee now"]


async def test_what_has_ended_can_be_said_anew(tea: Fact, monkeypatch: pytest.MonkeyPatch):
    later = time.time() + 86_400
    await supersede_fact(ME, tea.id, NewFact("Drinks coffee now", valid_from=later))
    monkeypatch.setattr(time, "time", lambda: later + 1)

    again = await add_fact(ME, NewFact("Drinks green tea"))

    assert again.id != tea.id
    assert await contents() == ["Drinks coffee now", "Drinks green tea"]
    assert len(await list_facts(ME, include_ended=True)) == 3


async def test_what_says_the_same_replaces_nothing(tea: Fact):
    assert await supersede_fact(ME, tea.id, NewFact("drinks green tea", confidence=0.8)) == tea


async def test_a_fact_that_is_known_may_take_the_place_of_another(tea: Fact):
    coffee = await add_fact(ME, NewFact("Drinks coffee now"))

    assert (await supersede_fact(ME, tea.id, NewFact("drinks coffee now"))).id == coffee.id
    assert await contents() == ["Drinks coffee now"]


async def test_a_model_replaces_nothing_that_a_person_said(tea: Fact):
    new = NewFact("Drinks coffee now", provenance="model")

    assert await refused(supersede_fact(ME, tea.id, new)) == "untrusted_fact"
    assert await contents() == ["Drinks green tea"]


async def test_what_a_person_edits_is_their_own_word():
    guess = await add_fact(
        ME, NewFact("Drinks tea", "preference", 0.9, quote="tea?", provenance="model")
    )

    fact = await edit_fact(ME, guess.id, "Drinks black  tea")

    assert await list_facts(ME) == [fact]
    assert (fact.id, fact.content, fact.category) == (guess.id, "Drinks black tea", "preference")
    assert (fact.provenance, fact.quote, fact.confidence) == ("user", "tea?", 0.9)


async def test_an_edit_cannot_make_two_facts_say_the_same(tea: Fact):
    coffee = await add_fact(ME, NewFact("Drinks coffee now"))

    assert await refused(edit_fact(ME, coffee.id, "drinks green tea.")) == "fact_known"
    assert (await edit_fact(ME, tea.id, "Drinks green tea!")).content == "Drinks green tea!"


async def test_what_is_removed_is_known_no_more_and_can_be_said_anew(tea: Fact):
    await remove_fact(ME, tea.id)

    assert await contents() == []
    assert await contents(include_ended=True) == ["Drinks green tea"]
    assert (await add_fact(ME, NewFact("Drinks green tea"))).id != tea.id


@pytest.mark.parametrize(
    ("verb", "new"), [(edit_fact, "Drinks it cold"), (supersede_fact, NewFact("Drinks water"))]
)
async def test_what_is_not_there_or_has_ended_is_not_changed(tea: Fact, verb: Any, new: Any):
    assert await refused(verb(ME, "nobody", new)) == "fact_not_found"
    assert await refused(verb("you/", tea.id, new)) == "fact_not_found"
    await remove_fact(ME, tea.id)
    assert await refused(verb(ME, tea.id, new)) == "fact_changed"


async def test_near_gives_the_facts_most_alike_with_how_alike_they_are(tea: Fact):
    for content in ("Drinks coffee in the morning", "喜欢喝绿茶", "Keeps bees"):
        await add_fact(ME, NewFact(content))

    english, chinese = (
        await find_similar_facts(ME, "Which tea do I drink?"),
        await find_similar_facts(ME, "绿茶有什么好处？"),
    )

    assert [fact.content for fact, _ in english] == [tea.content, "Drinks coffee in the morning"]
    assert 1 >= english[0][1] > english[1][1] > 0
    assert [fact.content for fact, _ in chinese] == ["喜欢喝绿茶"]
    assert await find_similar_facts(ME, "volcano") == []


async def test_a_search_finds_what_holds_the_letters_typed_and_then_what_is_alike(tea: Fact):
    await add_fact(ME, NewFact("Keeps bees near the tearoom"))
    gone = await add_fact(ME, NewFact("Serves tea at noon"))
    await remove_fact(ME, gone.id)

    assert [fact.content for fact in await search_facts(ME, "tea")] == [
        "Drinks green tea",
        "Keeps bees near the tearoom",
    ]
    assert [fact.content for fact in await search_facts(ME, "EAROO")] == [
        "Keeps bees near the tearoom"
    ]
    assert await search_facts(ME, "") == []
    assert len(await search_facts(ME, "tea", limit=1)) == 1


async def test_many_who_write_at_once_lose_and_double_nothing():
    names = [f"Likes dish{number % 20}" for number in range(60)]

    await asyncio.gather(*(add_fact(ME, NewFact(name)) for name in names))

    assert sorted(await contents()) == sorted(set(names))
    assert len(await events()) == 60
