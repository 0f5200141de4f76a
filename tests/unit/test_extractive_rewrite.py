import pytest

from models.extractive.blocks import Prompt
from models.extractive.rewrite import rewrite, standalone

EARLIER = "person: Why do bees dance?\ndossier: To tell others where flowers are."


@pytest.mark.parametrize(
    "question", ["and in winter?", "How do they do it in winter?", "What about winter?", "Winter?"]
)
def test_a_question_that_points_back_gets_the_topic_before_it(question):
    assert standalone(question, EARLIER) == f"{question} (bees dance)"


def test_a_chinese_question_that_points_back_gets_the_topic_before_it():
    assert standalone("那冬天呢？", "person: 蜜蜂为什么跳舞？") == "那冬天呢？（蜜蜂 跳舞）"


def test_a_question_that_stands_alone_stays_as_it_is():
    assert standalone("What does the HNSW index cost?", EARLIER) == "What does the HNSW index cost?"
    assert standalone("and in winter?", "") == "and in winter?"


def test_a_second_follow_up_still_knows_what_it_is_all_about():
    conversation = f"{EARLIER}\nperson: And in winter?\ndossier: They cluster."

    assert "bees dance" in standalone("and how do they heat?", conversation)


@pytest.mark.parametrize("count", [0, 1, 3, 5])
@pytest.mark.parametrize("question", ["What is HNSW?", "蜜蜂为什么跳舞？", "Compare Rust and Go"])
def test_there_are_as_many_different_queries_as_asked_for(question, count):
    queries = rewrite(Prompt(question=question, most=count))["queries"]

    assert len(set(queries)) == len(queries) == count


def test_the_sides_of_a_comparison_are_searched_apart():
    queries = rewrite(Prompt(question="Where do Smith and Jones disagree about bees?", most=3))[
        "queries"
    ]

    assert queries == ["Smith Jones bees", "Smith bees", "Jones bees"]


def test_the_queries_of_a_follow_up_know_the_topic():
    made = rewrite(Prompt(question="and in winter?", conversation=EARLIER, most=1))

    assert made == {"question": "and in winter? (bees dance)", "queries": ["winter bees dance"]}
