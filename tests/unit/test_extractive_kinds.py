import pytest

from models.extractive.kinds import answers, asks_why, asks_why_too, gives_cause


@pytest.mark.parametrize(
    ("question", "answer", "other"),
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
    ],
)
def test_a_sentence_answers_with_the_kind_of_thing_that_is_asked_for(question, answer, other):
    assert answers(question, answer)
    assert not answers(question, other)


def test_a_question_for_nothing_of_the_kind_is_answered_by_no_kind():
    assert not answers("forgetting curve", "The curve of 1885 is a curve.")


def test_a_number_in_the_unit_that_is_asked_for_is_worth_more():
    asked = "How many kg of honey does a colony need?"

    assert answers(asked, "It needs 15 kg.") > answers(asked, "It needs 3 boxes.") > 0
    assert answers("需要多少千克饲料？", "需要15千克。") > answers(
        "需要多少千克饲料？", "需要15盒。"
    )
    assert answers("What percentage is lost?", "1 % is lost.") > answers(
        "What percentage is lost?", "1 is lost."
    )


def test_when_inside_a_question_asks_for_no_date():
    assert not answers("What happens to bees when frost comes?", "The frost of 1945 came.")


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
