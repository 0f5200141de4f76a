import pytest

from tests.cases import each_case
from text.question_types import (
    asks_list,
    asks_why,
    asks_why_too,
    gives_cause,
    has_answer_type,
    score_answer_type,
)


@each_case(
    [
        ("When was it built?", "It was built in 1945.", "It was built of stone."),
        ("How many bees are there?", "There are three bees.", "There are bees."),
        ("Who built it?", "It was built by Ada Lovelace.", "It was built of stone."),
        ("Why do bees dance?", "They dance because of flowers.", "They dance a lot."),
        ("Where is it?", "It lies in Paris.", "It lies deep."),
        ("What is HNSW?", "HNSW is a graph.", "We ran HNSW."),
        ("什么时候建成？", "建于1945年。", "用石头建成。"),
        ("有多少蜜蜂？", "有三百个。", "有蜜蜂。"),
        ("为什么跳舞？", "因为有花。", "它们跳舞。"),
        ("谁创办了茶馆？", "创办人是陈淑芬女士。", "茶馆有很多人。"),
        ("茶馆在哪里？", "位于福州。", "茶馆很大。"),
        ("How often does it go?", "It goes twice a day.", "It goes to Skell."),
        ("Are dogs allowed?", "Dogs are not allowed.", "Dogs bark."),
        ("孕妇能喝浓茶吗？", "孕妇不宜饮用浓茶。", "孕妇喝茶。"),
    ]
)
def test_a_sentence_answers_with_the_kind_of_thing_that_is_asked_for(question, answer, other):
    assert score_answer_type(question, answer)
    assert not score_answer_type(question, other)


@pytest.mark.parametrize(
    ("question", "told", "new"),
    [
        ("Who met Karl Marx?", "They say Karl Marx was met.", "They say Ada Bell met him."),
        ("When in 1945 was it built?", "It was built in 1945.", "It was built in May."),
        ("Where in Paris is it?", "It is in Paris.", "It is near Montmartre."),
        ("How many of the 12 bees died?", "The 12 bees died.", "Nine of them died."),
    ],
)
def test_what_the_question_says_itself_is_no_answer(question, told, new):
    assert score_answer_type(question, told) == 0.0
    assert score_answer_type(question, new) >= 1.0


def test_a_number_of_the_things_asked_for_is_worth_more():
    asked = "How many members does the club have?"

    assert (
        score_answer_type(asked, "It has 340 active members.")
        > score_answer_type(asked, "It has 27 hives.")
        > 0
    )
    assert score_answer_type("有多少家分店？", "共有56家分店。") > score_answer_type(
        "有多少家分店？", "1988年开店。"
    )


def test_a_choice_is_no_question_for_yes_or_no():
    assert not score_answer_type("Is it red or blue?", "It is not allowed.")


def test_a_question_for_nothing_of_the_kind_is_answered_by_no_kind():
    assert not score_answer_type("forgetting curve", "The curve of 1885 is a curve.")


def test_a_number_in_the_unit_that_is_asked_for_is_worth_more():
    asked = "How many kg of honey does a colony need?"

    assert (
        score_answer_type(asked, "It needs 15 kg.")
        > score_answer_type(asked, "It needs 3 boxes.")
        > 0
    )
    assert score_answer_type("需要多少千克饲料？", "需要15千克。") > score_answer_type(
        "需要多少千克饲料？", "需要15盒。"
    )
    assert score_answer_type("What percentage is lost?", "1 % is lost.") > score_answer_type(
        "What percentage is lost?", "1 is lost."
    )


def test_when_inside_a_question_asks_for_no_date():
    assert not score_answer_type(
        "What happens to bees when frost comes?", "The frost of 1945 came."
    )


@pytest.mark.parametrize(
    "question", ["Which hive died, and why?", "When did it die and why?", "哪群死了，为什么？"]
)
def test_a_reason_may_be_asked_for_besides_something_else(question):
    assert asks_why_too(question)


def test_a_reason_alone_is_not_asked_for_besides_something():
    assert not asks_why_too("Why did it die?")
    assert asks_why("Why did it die?")
    assert not asks_why("When did it die?")


def test_a_cause_is_known_by_its_words():
    assert gives_cause("It died of damp.")
    assert gives_cause("由于缺水，它死了。")
    assert not gives_cause("It has lived here since 1945.")


def test_what_something_in_the_plural_does_asks_for_no_list():
    assert not asks_list("What does the dampers option do?")
    assert asks_list("What glazes does the kiln take?")


@pytest.mark.parametrize(
    ("question", "said", "held"),
    [
        ("Where is the glaze book?", "The glaze book is /srv/glaze.txt.", True),
        ("Where is the glaze book?", "The glaze book is and/or was lost.", False),
        ("When is the kiln fired?", "The kiln is fired whenever it is full.", True),
        ("When was the kiln fired?", "The kiln was fired whenever it was full.", False),
        ("Why is the kiln cold?", "The kiln is cold, as it has no door.", True),
        ("How many kilns are there?", "There are kilns in glaze(8).", False),
        ("What is the default heat?", "The default heat is low.", True),
        ("What is the default heat?", "A default heat harms pots.", False),
    ],
)
def test_manuals_say_places_times_reasons_and_defaults_in_their_own_way(question, said, held):
    assert has_answer_type(question, said) is held
