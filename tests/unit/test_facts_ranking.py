"""A model call is told the facts that fit what is talked about, and those that are sure."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from sqlalchemy import event

from config.errors import Problem
from config.settings import settings
from memory import tables
from memory.facts import cache
from memory.facts.fact import NewFact
from memory.facts.memory import FactMemory
from memory.facts.store import add_fact, edit_fact, forget_facts, supersede_fact
from memory.protocol import Note, Query
from memory.token_budget import NoteGroup, fit_notes
from storage.engine import get_engine, run_write
from storage.events import read_revision
from tests.places import new_process
from tests.removed_facts import remove_fact
from text.tokens import count_tokens

pytestmark = pytest.mark.usefixtures("database")

ME = "me/"


async def recalled(text: str = "", turns: tuple[str, ...] = (), budget: int = 3_000) -> list[Note]:
    query = Query(ME, "planner", text, turns, await read_revision(ME))
    return await FactMemory().recall(query, budget)


async def texts(*given: Any, **named: Any) -> list[str]:
    return [note.text for note in await recalled(*given, **named)]


@pytest.fixture
async def known() -> None:
    """Four facts about a person."""
    for new in (
        NewFact("Keeps bees in the garden", "knowledge", 0.7),
        NewFact("Prefers metric units", "preference", 0.9),
        NewFact("喜欢简短的回答", "preference", 0.8),
        NewFact("Runs marathons", "behavior", 1.0),
    ):
        await add_fact(ME, new)


@pytest.mark.usefixtures("known")
async def test_what_fits_comes_first_with_the_parts_of_its_score():
    first, *others = await recalled("Which flowers do bees like?")

    assert (first.title, first.text) == ("knowledge", "Keeps bees in the garden")
    assert set(first.score) == {"similarity", "confidence", "score"}
    assert first.score["confidence"] == pytest.approx(0.7, abs=1e-6)
    similarity, score = first.score["similarity"], first.score["score"]
    assert score == pytest.approx(0.6 * similarity + 0.4 * 0.7, abs=1e-5)
    assert first.id
    assert first.revision == 1
    assert [note.text for note in others] == [
        "Runs marathons",
        "Prefers metric units",
        "喜欢简短的回答",
    ]


@pytest.mark.usefixtures("known")
async def test_chinese_fits_as_english_does():
    assert (await texts("请给一个简短的说明"))[0] == "喜欢简短的回答"


@pytest.mark.usefixtures("known")
async def test_the_last_turns_say_what_is_talked_about_too():
    assert (await texts("And in winter?", ("Tell me about bees.", "They cluster.")))[0] == (
        "Keeps bees in the garden"
    )


@pytest.mark.parametrize("about", ["", "volcano", "the of and", "火山"])
@pytest.mark.usefixtures("known")
async def test_without_anything_in_common_the_surest_come_first(about: str):
    notes = await recalled(about)

    assert [note.text for note in notes] == [
        "Runs marathons",
        "Prefers metric units",
        "喜欢简短的回答",
        "Keeps bees in the garden",
    ]
    assert all(note.score["score"] == note.score["confidence"] for note in notes)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("similarity", "confidence", "best"),
    [("1", "0", "Keeps bees in the garden"), ("0", "1", "Runs marathons")],
)
async def test_weights_decide_what_counts(
    similarity: str, confidence: str, best: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_FACT_SIMILARITY", similarity)
    monkeypatch.setenv("DOSSIER_FACT_CONFIDENCE", confidence)
    new_process()

    assert (await texts("bees in metric gardens"))[0] == best


@pytest.mark.parametrize(
    ("similarity", "confidence", "where"),
    [
        ("2", "1", "DOSSIER_FACT_SIMILARITY"),
        ("nan", "1", "DOSSIER_FACT_SIMILARITY"),
        ("0", "-1", "DOSSIER_FACT_CONFIDENCE"),
        ("1", "inf", "DOSSIER_FACT_CONFIDENCE"),
        ("0", "0", "DOSSIER_FACT_CONFIDENCE"),
    ],
)
def test_settings_that_make_no_score_are_refused_by_name(
    similarity: str, confidence: str, where: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_FACT_SIMILARITY", similarity)
    monkeypatch.setenv("DOSSIER_FACT_CONFIDENCE", confidence)

    with pytest.raises(Problem) as failure:
        settings()
    assert (failure.value.code, failure.value.where) == ("config_value", where)


async def test_corrections_have_a_tenth_of_the_budget_the_most_relevant_first():
    for number in range(30):
        await add_fact(ME, NewFact(f"Bees know flower{number} and tree{number}", "knowledge", 1.0))
        await add_fact(ME, NewFact(f"The name of place{number} is Oak{number}", "correction", 0.1))
    await add_fact(ME, NewFact("Never call the hive of bees a box", "correction", 0.1))

    notes = await recalled("Do bees in a hive make honey?", budget=400)
    must = [note for note in notes if note.pinned]
    (told,) = fit_notes([NoteGroup("facts", 0.4, notes)], 400)

    assert [note.title for note in must] == ["correction"] * len(must)
    assert must[0].text == "Never call the hive of bees a box"
    assert 10 < count_tokens("\n".join(f"- {note.title}: {note.text}" for note in must)) <= 40
    assert {note.text for note in must} <= {note.text for note in told.notes}
    assert len({note.id for note in notes}) == len(notes)


async def test_no_more_is_returned_than_a_budget_may_hold():
    for number in range(60):
        await add_fact(ME, NewFact(f"Knows word{number} and thing{number} very well", "knowledge"))

    assert len(await recalled("word1", budget=100)) < 15
    assert len(await recalled("word1", budget=10_000)) == 60


async def test_a_change_shows_in_the_next_call():
    fact = await add_fact(ME, NewFact("Keeps bees"))
    assert await texts() == ["Keeps bees"]
    await edit_fact(ME, fact.id, "Keeps wasps")
    assert await texts("wasps") == ["Keeps wasps"]
    new = await supersede_fact(ME, fact.id, NewFact("Keeps hornets"))
    assert await texts("wasps") == ["Keeps hornets"]
    await remove_fact(ME, new.id)
    assert await texts("hornets") == []
    again = await add_fact(ME, NewFact("Keeps ants"))
    assert await texts() == ["Keeps ants"]
    await run_write(lambda c: forget_facts(c, ME, [again.id]))
    assert await texts() == []


@pytest.mark.usefixtures("known")
async def test_the_database_is_asked_only_when_something_has_changed():
    now = await read_revision(ME)
    memory, query = FactMemory(), Query(ME, "planner", "bees", (), now)
    first = await memory.recall(query, 3_000)
    asked: list[str] = []
    engine = await get_engine()
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))

    assert await memory.recall(query, 3_000) == first
    assert asked == []
    await memory.recall(query._replace(revision=now + 1), 3_000)
    assert asked != []


async def test_only_what_holds_now_is_told(monkeypatch: pytest.MonkeyPatch):
    now = time.time()
    summer = await add_fact(ME, NewFact("Lives in Rome"))
    await supersede_fact(ME, summer.id, NewFact("Lives in Oslo", valid_from=now + 1_000))
    assert await texts("Rome or Oslo?") == ["Lives in Rome"]

    monkeypatch.setattr(time, "time", lambda: now + 2_000)

    assert await texts("Rome or Oslo?") == ["Lives in Oslo"]


async def test_what_is_trusted_less_than_a_model_is_never_told():
    fact = await add_fact(ME, NewFact("Likes spam"))
    facts = tables.facts
    await run_write(
        lambda c: c.execute(facts.update().where(facts.c.id == fact.id).values(provenance="web"))
    )

    assert await texts("spam") == []


async def test_owners_are_held_only_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache, "MAX_OWNERS", 2)
    for owner in ("a/", "b/", "c/"):
        await add_fact(owner, NewFact(f"Is {owner} and nobody else"))
        await cache.load_fact_snapshot(owner, await read_revision(owner))

    assert [name[1] for name in cache._caches.get()] == ["b/", "c/"]
    told = await FactMemory().recall(
        Query("a/", "planner", "", (), await read_revision("a/")), 3_000
    )
    assert [note.text for note in told] == ["Is a/ and nobody else"]


async def test_facts_that_come_and_go_in_great_number_leave_only_what_is_known():
    kept = await add_fact(ME, NewFact("Keeps bees"))
    for number in range(15):
        fact = await add_fact(ME, NewFact(f"Likes dish{number}"))
        assert await texts(f"dish{number}") == [f"Likes dish{number}", "Keeps bees"]
        await remove_fact(ME, fact.id)

    assert await texts() == ["Keeps bees"]
    entries = cache.get_fact_cache(ME).snapshot.entries
    assert len(entries) < 4
    assert kept.id in {entry.id for entry in entries}


async def test_calls_at_the_same_time_are_told_the_same():
    await asyncio.gather(*(add_fact(ME, NewFact(f"Likes dish{number}")) for number in range(20)))
    now = await read_revision(ME)
    query = Query(ME, "planner", "dish7", (), now)

    told = await asyncio.gather(*(FactMemory().recall(query, 3_000) for _ in range(8)))

    assert told[0][0].text == "Likes dish7"
    assert all(one == told[0] for one in told)


@pytest.mark.parametrize(
    ("context", "shared", "sure"),
    [
        ("It uses FastAPI", "Uses Docker", "Likes type hints"),
        ("I would like to know how it works", "Likes opera", "Lives in Bergen"),
        ("We need the good new one", "Needs a new car", "Speaks German"),
        ("What do people use to get there?", "Used to work in Rome", "Has two dogs"),
        ("请使用中文", "使用Vim", "住在卑尔根"),
    ],
)
async def test_words_that_only_frame_a_sentence_make_no_fact_fit(
    context: str, shared: str, sure: str
):
    await add_fact(ME, NewFact(shared, confidence=0.8))
    await add_fact(ME, NewFact(sure, confidence=0.9))

    assert await texts(context) == [sure, shared]


async def test_what_fits_by_its_topic_still_comes_before_what_is_surer():
    await add_fact(ME, NewFact("Uses FastAPI", confidence=0.7))
    await add_fact(ME, NewFact("Likes type hints", confidence=0.95))

    assert (await texts("It uses FastAPI"))[0] == "Uses FastAPI"


async def told(question: str, text: str = "Plan the research.") -> list[str]:
    query = Query(ME, "planner", text, (), await read_revision(ME), question=question)
    return sorted(note.text for note in await FactMemory().recall(query, 3_000))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("question", ["How do volcanoes erupt?", "火山怎样喷发？"])
async def test_a_question_that_is_about_nobody_is_told_only_how_to_answer(question: str):
    assert await told(question) == ["Prefers metric units", "喜欢简短的回答"]


@pytest.mark.usefixtures("known")
async def test_a_fact_that_a_question_is_about_is_told_with_how_to_answer():
    assert await told("When do bees swarm?") == [
        "Keeps bees in the garden",
        "Prefers metric units",
        "喜欢简短的回答",
    ]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("question", ["Which volcano should I climb?", "我该爬哪座火山？"])
async def test_whoever_speaks_of_themselves_is_known_by_all_facts(question: str):
    assert len(await told(question)) == 4


@pytest.mark.usefixtures("known")
async def test_a_correction_is_told_whatever_is_asked():
    await add_fact(ME, NewFact("Etna is no dead volcano", "correction", 0.9))

    assert "Etna is no dead volcano" in await told("How is steel made?")
