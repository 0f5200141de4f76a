"""What a person says ends all that it contradicts, however it was said, and history is kept."""

from __future__ import annotations

import pytest

from graph.context import Context
from memory.facts.fact import NewFact
from memory.facts.queries import list_facts
from memory.facts.store import add_fact
from memory.learning.learner import learn_by_rules, learn_fact
from memory.learning.message_queue import PersonMessage
from memory.learning.run_feedback import record_feedback
from memory.profile.store import load_profile
from memory.registry import undo_event
from runs.call_site import CallSite
from runs.lifecycle import create_run, find_run
from storage.events import list_events

pytestmark = pytest.mark.usefixtures("either")

OWNER = "local/"

PLACE = CallSite(OWNER, "t1", "t1-1", "", "")


async def told(*texts: str) -> set[str]:
    """Add facts as `dossier memory add` does; return what is known then."""
    for text in texts:
        await learn_fact(OWNER, NewFact(text), "added by the person")
    return await live()


async def live() -> set[str]:
    return {one.content for one in await list_facts(OWNER)}


async def identities() -> list[str]:
    return [one["text"] for one in (await load_profile(OWNER)).profile["identities"]]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I live in Berlin", "I live in Paris"),
        ("I'm allergic to nuts", "I'm not allergic to nuts"),
        ("我喜欢茶", "我不喜欢茶"),
        ("我住在柏林", "我住在巴黎"),
    ],
)
async def test_what_is_added_takes_the_place_of_what_it_contradicts(before: str, now: str):
    assert await told(before, now) == {now}
    old, new = await list_facts(OWNER, include_ended=True)
    assert (old.content, old.superseded_by) == (before, new.id)


@pytest.mark.parametrize(
    ("places", "now"),
    [
        (("I live in Berlin", "I live in Bonn", "I moved to Oslo"), "I live in Rome now"),
        (("我住在柏林", "我住在波恩"), "我现在住在罗马"),
    ],
)
async def test_every_fact_that_holds_no_longer_is_ended(places: tuple[str, ...], now: str):
    for place in places:
        await add_fact(OWNER, NewFact(place))

    await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", now))

    assert len(await live()) == 1
    assert len(await list_facts(OWNER, include_ended=True)) == len(places) + 1


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I live in Paris", "I no longer live in Paris."),
        ("I like tea", "I no longer like tea."),
        ("I work for Acme", "I no longer work for Acme."),
        ("我住在巴黎", "我不再住在巴黎"),
        ("我喜欢茶", "我不再喜欢茶了"),
    ],
)
async def test_what_is_so_no_longer_is_history(before: str, now: str):
    await told(before)
    await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", now))

    assert before not in await live()


@pytest.mark.parametrize(
    ("before", "words", "new"),
    [
        ("I am a nurse", "I am not a nurse, I am a welder", "welder"),
        ("我是护士", "我不是护士,我是焊工", "焊工"),
    ],
)
async def test_words_on_a_run_end_what_they_contradict(before: str, words: str, new: str):
    await told(before)
    run = await find_run(OWNER, await create_run(OWNER, "t1", 1, "How do bees dance?", Context()))

    await record_feedback(run, words)

    assert await live() == {words}
    assert await identities() == [new]


@pytest.mark.parametrize(
    ("before", "now"),
    [("I am a welder", "I am no longer a welder"), ("我是焊工", "我不再是焊工了")],
)
async def test_the_profile_follows_what_is_added(before: str, now: str):
    await told(before)
    assert await identities()

    await told(now)

    assert await identities() == []


@pytest.mark.parametrize(
    ("before", "now", "form"),
    [
        ("I prefer tables, not prose.", "Actually I prefer prose.", "prose"),
        ("我更喜欢表格，不喜欢段落。", "其实我更喜欢段落。", "prose"),
    ],
)
async def test_another_taste_takes_the_place_of_the_first(before: str, now: str, form: str):
    await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", before))
    assert (await load_profile(OWNER)).profile["tastes"]["format"]["text"] == "tables"

    await learn_by_rules(PLACE, PersonMessage("t1", "t1-2", "m2", now))

    assert len(await live()) == 1
    assert (await load_profile(OWNER)).profile["tastes"]["format"]["text"] == form


@pytest.mark.parametrize(
    ("before", "now"),
    [("I prefer tables.", "I no longer prefer tables."), ("我更喜欢表格", "我不再喜欢表格")],
)
async def test_a_taste_that_is_over_guides_no_more(before: str, now: str):
    await told(before, now)

    assert (await load_profile(OWNER)).profile["tastes"] == {}


@pytest.mark.parametrize(
    ("before", "said", "fact"),
    [
        (
            "My budget is 500 euros",
            "No, that is wrong. My budget is 700 euros.",
            "My budget is 700 euros",
        ),
        ("我的预算是500欧元", "不对。我的预算是700欧元。", "我的预算是700欧元"),
    ],
)
async def test_a_correction_in_two_sentences_is_kept(before: str, said: str, fact: str):
    await told(before)
    await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", said))

    assert await live() == {fact}


async def test_two_things_of_one_message_are_both_kept():
    said = "Remember that I'm allergic to nuts and allergic to pollen."
    await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", said))

    assert await live() == {"I'm allergic to nuts", "I am allergic to pollen"}


async def test_an_old_message_that_is_read_again_ends_nothing_newer():
    old = PersonMessage("t1", "t1-1", "m1", "I live in Berlin.")
    await learn_by_rules(PLACE, old)
    await learn_by_rules(PLACE, PersonMessage("t2", "t2-1", "m2", "I live in Rome."))

    await learn_by_rules(PLACE, old)

    assert await live() == {"I live in Rome"}


@pytest.mark.parametrize(
    ("first", "then"),
    [("I am a nurse.", "I am no longer a nurse."), ("我是护士。", "我不再是护士了。")],
)
async def test_an_old_message_that_is_read_again_brings_no_trait_back(first: str, then: str):
    old = PersonMessage("t1", "t1-1", "m1", first)
    await learn_by_rules(PLACE, old)
    await learn_by_rules(PLACE, PersonMessage("t2", "t2-1", "m2", then))

    await learn_by_rules(PLACE, old)

    assert await identities() == []


async def test_each_fact_that_was_ended_can_be_brought_back():
    for place in ("I live in Berlin", "I live in Bonn"):
        await add_fact(OWNER, NewFact(place))
    await told("I live in Rome")

    for logged in await list_events(OWNER):
        if logged.event.name == "fact.supersede":
            await undo_event(OWNER, logged.id)

    assert await live() == {"I live in Berlin", "I live in Bonn"}


MOVED = [
    ("I am a nurse in Bergen", "I am a nurse in Oslo", "nurse in Oslo"),
    ("我是卑尔根的护士", "我是奥斯陆的护士", "奥斯陆的护士"),
]


@pytest.mark.parametrize(("before", "now", "identity"), MOVED)
@pytest.mark.parametrize("way", ["ask", "add", "feedback"])
async def test_the_same_job_elsewhere_takes_the_place_of_the_first_by_every_way_in(
    way: str, before: str, now: str, identity: str
):
    await told(before)

    if way == "ask":
        await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", now))
    elif way == "add":
        await told(now)
    else:
        run = await find_run(
            OWNER, await create_run(OWNER, "t1", 1, "How do bees dance?", Context())
        )
        await record_feedback(run, now)

    assert await live() == {now}
    assert await identities() == [identity]


@pytest.mark.parametrize("said", ["I prefer tables in reports", "我更喜欢用表格的报告"])
@pytest.mark.parametrize("way", ["ask", "add", "feedback"])
async def test_a_liking_is_a_preference_by_every_way_in(way: str, said: str):
    if way == "ask":
        await learn_by_rules(PLACE, PersonMessage("t1", "t1-1", "m1", said))
    elif way == "add":
        await learn_fact(OWNER, NewFact(said, category=""), "added by the person")
    else:
        run = await find_run(
            OWNER, await create_run(OWNER, "t1", 1, "How do bees dance?", Context())
        )
        await record_feedback(run, said)

    assert [(one.content, one.category) for one in await list_facts(OWNER)] == [
        (said, "preference")
    ]
    assert (await load_profile(OWNER)).profile["tastes"]["format"]["text"] == "tables"


async def test_what_was_wrong_with_a_run_stays_a_correction():
    run = await find_run(OWNER, await create_run(OWNER, "t1", 1, "How do bees dance?", Context()))

    await record_feedback(run, "The answer left out the year")

    assert [one.category for one in await list_facts(OWNER)] == ["correction"]


@pytest.mark.parametrize("said", ["I am an expert in Python and FastAPI", "Expert in Go and Rust"])
async def test_nothing_that_is_named_with_and_is_lost(said: str):
    await told(said)

    assert await live() == {said}
    assert await identities() == [said.removeprefix("I am an ").replace("Expert", "expert")]
