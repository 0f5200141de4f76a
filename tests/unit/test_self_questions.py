"""What people ask of themselves, and which notes answer it."""

from __future__ import annotations

import time

import pytest

from memory.facts.fact import NewFact
from memory.facts.store import add_fact, supersede_fact
from memory.profile import store as profile
from memory.profile.traits import ProfileUpdate, Trait, empty_profile_update
from memory.self_questions import (
    SelfQuestion,
    answer_self_question,
    parse_self_question,
    render_personal_note,
)
from tests.cases import each_case

TOLD = (
    "I live in Bergen",
    "I am a nurse",
    "my cat is called Findus",
    "I prefer tea over coffee",
    "my budget for the kitchen is 9,000 euros",
    "call me Sam",
)


@each_case(
    [
        ("What do you remember about me?", "all"),
        ("Who am I?", "all"),
        ("What have I told you so far?", "all"),
        ("你了解我多少？", "all"),
        ("关于我，你知道什么？", "all"),
        ("where do I live", "attribute"),
        ("Which city do I live in?", "attribute"),
        ("Remind me, what's my job?", "attribute"),
        ("我住在哪儿？", "attribute"),
        ("我叫什么名字？", "attribute"),
        ("What did I say about my cat?", "told"),
        ("我说过关于厨房的什么？", "told"),
        ("Which town do I work in?", "attribute"),
        ("What is my budget?", "mine"),
        ("我最喜欢的饮料是什么？", "mine"),
        ("Which drink do I prefer?", "mine"),
    ]
)
def test_a_question_of_the_person_is_recognised(question: str, kind: str):
    asked = parse_self_question(question)

    assert asked
    assert asked.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "How do I install bash?",
        "Where do bees live?",
        "What do you know about honey?",
        "What do I need to keep bees?",
        "Should I use bash or zsh?",
        "Who wrote this?",
        "蜜蜂住在哪里？",
        "你知道蜜蜂的什么？",
        "What did the author say about me and my kind?",
        "What do I do when the queen dies?",
    ],
)
def test_another_question_is_left_to_research(question: str):
    assert parse_self_question(question) is None


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Where do I live?", ["I live in Bergen"]),
        ("我住在哪里？", ["I live in Bergen"]),
        ("What is my name?", ["call me Sam"]),
        ("What do I do for a living?", ["I am a nurse"]),
        ("What did I tell you about my cat?", ["my cat is called Findus"]),
        ("关于我的猫，我说过什么？", ["my cat is called Findus"]),
        ("What's my budget?", ["my budget for the kitchen is 9,000 euros"]),
        ("When is my birthday?", []),
        ("What did I tell you about my wife?", []),
        ("What are my rights?", []),
    ],
)
@pytest.mark.usefixtures("database")
async def test_the_notes_that_answer_are_found(question: str, texts: list[str]):
    for text in TOLD:
        await add_fact("sam", NewFact(text, quote=text))

    asked = parse_self_question(question)
    assert asked
    assert [one.text for one in (await answer_self_question("sam", asked)).notes] == texts


@pytest.mark.usefixtures("database")
async def test_notes_of_another_owner_are_never_told():
    await add_fact("sam", NewFact("I live in Bergen"))

    assert (await answer_self_question("kim", SelfQuestion("all"))).notes == []


@pytest.mark.usefixtures("database")
async def test_a_taste_that_may_not_be_the_one_asked_for_is_told_as_such():
    await add_fact("sam", NewFact("I prefer tea over coffee"))

    found = await answer_self_question("sam", SelfQuestion("mine", "chair", "prefer"))

    assert [one.text for one in found.notes] == ["I prefer tea over coffee"]
    assert not found.is_exact


@pytest.mark.usefixtures("database")
async def test_what_was_replaced_is_not_told():
    old = await add_fact("sam", NewFact("I live in Bergen"))
    await supersede_fact("sam", old.id, NewFact("I live in Oslo"))

    found = await answer_self_question("sam", SelfQuestion("attribute", "home"))
    assert [one.text for one in found.notes] == ["I live in Oslo"]


@pytest.mark.usefixtures("database")
async def test_a_note_is_told_with_its_words_its_day_and_its_id():
    fact = await add_fact("sam", NewFact("I live in Bergen", quote="I live in Bergen"))

    (note,) = (await answer_self_question("sam", SelfQuestion("all"))).notes
    assert f"“I live in Bergen” (fact {fact.id[:8]})" in render_personal_note(note, "en")
    assert f"“I live in Bergen”（事实 {fact.id[:8]}）" in render_personal_note(note, "zh")


def test_a_long_text_is_no_question_of_the_person_and_takes_no_time():
    began = time.process_time()

    assert parse_self_question(f"What did I say about {'!' * 15_000}a") is None
    assert time.process_time() - began < 10


@pytest.mark.usefixtures("database")
async def test_what_a_fact_and_several_traits_rest_on_is_told_once():
    words = "I am a beekeeper in Tromsø and prefer short answers"
    mine = {"quote": words, "confidence": 0.9, "stated": True, "run": "", "at": 1.0}
    taste = Trait(text="concise", **mine)  # type: ignore[typeddict-item]
    who = Trait(text="beekeeper in Tromsø", **mine)  # type: ignore[typeddict-item]
    traits = empty_profile_update() | {"identities": [who], "tastes": {"detail": taste}}
    await profile.update_profile("sam", ProfileUpdate(**traits), run="")  # type: ignore[typeddict-item]
    asked = parse_self_question("What do you know about me?")
    assert asked

    before = (await answer_self_question("sam", asked)).notes
    await add_fact("sam", NewFact(words))
    after = (await answer_self_question("sam", asked)).notes

    assert [one.quote for one in before] == [words]
    assert [one.memory for one in after] == ["facts"]


@pytest.mark.parametrize("question", ["forgetting", "How do bees dance?", "蜜蜂怎么跳舞？"])
def test_what_has_no_word_of_oneself_is_not_compared_with_any_pattern(
    monkeypatch: pytest.MonkeyPatch, question: str
):
    for name in ("_PATTERNS.all", "_PATTERNS.told", "_PATTERNS.mine", "_ATTRIBUTES"):
        monkeypatch.setattr(f"memory.self_questions.{name}", None)

    assert parse_self_question(question) is None


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("I work as a night nurse in Bergen", "Which city do I work in?"),
        ("我最喜欢的饮料是红茶", "我最喜欢的饮料是什么？"),
    ],
)
async def test_where_somebody_works_and_what_they_like_best_is_answered(told: str, question: str):
    await add_fact("sam", NewFact(content=told, quote=told, thread="t", run="r"))
    asked = parse_self_question(question)

    assert asked
    assert [one.text for one in (await answer_self_question("sam", asked)).notes] == [told]
