"""What is noted of a memory without a model: the sentences that answer, as many as fit."""

import pytest

from models.extractive.memory_tasks import (
    NOTE_WORDS,
    NOTED_ROWS,
    check_notes,
    plan_lookup,
    take_notes,
)
from models.extractive.prompt_parser import ParsedPrompt
from text.answerability import SourcePassage

DANCE = "Karl von Frisch described the waggle dance of bees in 1927."
WINTER = "In winter bees form a cluster around their queen."


def asked(question: str, *texts: str, **more: str) -> ParsedPrompt:
    pages = [SourcePassage(f"S{at}", "Bees", "", text) for at, text in enumerate(texts, start=1)]
    return ParsedPrompt(question=question, pages=tuple(pages), **more)


def test_the_sentence_that_answers_is_noted_first_with_its_page():
    noted = take_notes(asked("Who described the waggle dance of bees?", WINTER, DANCE))

    assert noted["facts"][0] == {"text": DANCE, "pages": ["S2"]}


def test_nothing_is_noted_of_pages_that_do_not_answer():
    assert take_notes(asked("What is quantum chromodynamics?", WINTER, DANCE)) == {"facts": []}


@pytest.mark.parametrize("sentence", ["Bees dance in hive number {}.", "蜜蜂在第{}号蜂箱里跳舞。"])
def test_notes_are_no_longer_than_they_may_be(sentence):
    text = " ".join(sentence.format(number) for number in range(100))
    question = "Where do bees dance?" if "Bees" in sentence else "蜜蜂在哪里跳舞？"
    facts = take_notes(asked(question, text))["facts"]

    said = " ".join(fact["text"] for fact in facts)
    characters = sum("\u4e00" <= letter <= "\u9fff" for letter in said)
    assert 5 < len(facts) < 60
    assert max(characters, len(said.split())) <= NOTE_WORDS


def test_of_a_table_few_rows_are_noted_and_the_answer_before_them():
    rows = "\n".join(f"item: Lamp {n}; shelf: A{n}; town: Oslo." for n in range(40))
    said = "Since 1962 the lamp of the tower has been electric."
    facts = take_notes(asked("When did the lamp become electric?", said, rows))["facts"]

    assert facts[0]["text"] == said
    assert sum("item:" in fact["text"] for fact in facts) <= NOTED_ROWS


def test_a_sentence_that_is_too_long_for_notes_is_better_than_none():
    long = "Bees dance " + "and dance " * NOTE_WORDS + "in the hive."

    assert len(take_notes(asked("Where do bees dance?", long))["facts"]) == 1


def test_a_request_is_searched_for_in_its_own_words_and_in_others():
    planned = plan_lookup(asked("Who?", request="Who described the waggle dance of bees?"))

    assert planned["meanings"] == ["Who described the waggle dance of bees?"]
    assert 1 <= len(planned["keywords"]) <= 2


def test_notes_that_cover_the_question_are_complete():
    question = "Who described the waggle dance of bees?"

    assert check_notes(asked(question, notes=f"- {DANCE}"))["complete"]


def test_a_name_that_the_notes_bring_to_light_is_asked_for():
    question = "What is the nationality of the director of Waggle?"
    judged = check_notes(asked(question, notes="- Waggle is a film directed by Maya Lund [S1]."))

    assert not judged["complete"]
    assert any("Maya Lund" in request for request in judged["requests"])
    assert "nationality" in judged["requests"][0]
