import pytest

from text.definitions import find_defined_term, score_definition


def said(question, sentence, title="", **more):
    asked = find_defined_term(question)
    assert asked
    return score_definition(asked, sentence, title, **more)


@pytest.mark.parametrize(
    ("question", "defining", "aside"),
    [
        ("What is photosynthesis?", "Photosynthesis is a process.", "We studied photosynthesis."),
        ("What are mites?", "The mite, a small animal, is a pest.", "Bees fear mites."),
        ("What does HNSW mean?", "HNSW means a graph.", "It beat HNSW."),
        ("Who was Ada Bell?", "Ada Bell was born in 1850.", "He met Ada Bell."),
        ("What is a drone?", "A male bee is called a drone.", "It saw a drone."),
        ("什么是绿茶？", "绿茶是不发酵的茶。", "他喝绿茶。"),
        ("什么是摇摆舞？", "它们跳摇摆舞，也叫8字舞。", "摇摆舞的方向不准。"),
        ("遗忘曲线是什么？", "这就是著名的遗忘曲线。", "他画了遗忘曲线。"),
    ],
)
def test_a_sentence_about_the_thing_defines_it_and_an_aside_does_not(question, defining, aside):
    assert said(question, defining) >= 0.8
    assert said(question, aside) == 0.0


def test_what_a_thing_is_not_says_less_than_what_it_is():
    asked = "What is a drone?"

    assert said(asked, "A drone is not a worker.") < said(asked, "A drone is a male bee.")


def test_saying_what_a_thing_is_comes_before_saying_something_of_it():
    asked = "What is the waggle dance?"

    assert said(asked, "The waggle dance is a signal.") > said(
        asked, "The waggle dance was long a riddle."
    )
    assert said(asked, "It is called the waggle dance.") > said(asked, "The waggle dance was seen.")


def test_the_line_that_sets_a_constant_says_what_it_is():
    assert said("What is MAX_ITEMS?", "MAX_ITEMS = 512") == 1.0
    assert said("What is MAX_ITEMS?", "return min(MAX_ITEMS, rows)") == 0.0


def test_on_a_page_about_the_thing_its_noun_stands_for_it():
    sentence = "Bell described the curve with a formula."

    assert said("What is the forgetting curve?", sentence, "The forgetting curve") > 0.5
    assert said("What is the forgetting curve?", sentence, "Railways") == 0.0


def test_what_stands_right_below_a_heading_counts_by_how_much_of_it_the_thing_is():
    asked, sentence = "What is swarming?", "In spring half of the bees leave."
    whole = said(asked, sentence, above="Swarming")

    assert whole > said(asked, sentence, above="Swarming and other dangers of spring") > 0
    assert said(asked, sentence, above="Feeding") == 0.0


@pytest.mark.parametrize("question", ["Why do bees dance?", "How many bees?", "蜜蜂为什么跳舞？"])
def test_another_question_asks_for_no_meaning(question):
    assert find_defined_term(question) is None


@pytest.mark.parametrize("question", ["Forgetting curve", "the waggle dance", "遗忘曲线"])
def test_a_thing_that_is_only_named_is_asked_the_meaning_of(question):
    assert find_defined_term(question)


@pytest.mark.parametrize("question", ["Wasps in winter", "How bees live", "Why?", "为什么跳舞"])
def test_a_few_words_that_ask_or_tell_are_no_thing(question):
    assert find_defined_term(question) is None
