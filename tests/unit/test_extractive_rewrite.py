from itertools import product

import pytest
from langchain_core.messages import HumanMessage

from models.extractive.prompt_parser import ParsedPrompt, parse_prompt
from models.extractive.query_rewriting import MAX_QUERIES, make_standalone, rewrite_question
from prompts.data_blocks import render_block
from tests.cases import each_case

EARLIER = "person: Why do bees dance?\ndossier: To tell others where flowers are."


@pytest.mark.parametrize(
    "question", ["and in winter?", "How do they do it in winter?", "What about winter?", "Winter?"]
)
def test_a_question_that_points_back_gets_the_topic_before_it(question):
    assert make_standalone(question, EARLIER) == f"{question} (bees dance)"


def test_a_chinese_question_that_points_back_gets_the_topic_before_it():
    assert make_standalone("那冬天呢？", "person: 蜜蜂为什么跳舞？") == "那冬天呢？（蜜蜂 跳舞）"


@pytest.mark.parametrize(
    ("question", "before", "alone"),
    [
        ("Who built it?", "What is the Eiffel Tower?", "Who built the Eiffel Tower?"),
        ("How long does it live?", "What is a queen bee?", "How long does the queen bee live?"),
        ("What is his book called?", "Who was Karl Holm?", "What is Karl Holm's book called?"),
        ("它有多高？", "什么是埃菲尔铁塔？", "埃菲尔铁塔有多高？"),
        ("其作者是谁？", "《红楼梦》讲了什么？", "红楼梦的作者是谁？"),
    ],
)
def test_a_pronoun_becomes_the_one_thing_that_was_asked_about(question, before, alone):
    assert make_standalone(question, f"person: {before}") == alone


@pytest.mark.parametrize(
    "question", ["compare with the other one", "Which one is better?", "How do they differ?"]
)
def test_a_comparison_takes_up_the_last_two_things(question):
    before = "person: What is the decay view?\nperson: What is the interference view?"

    assert make_standalone(question, before) == "Compare the decay view and the interference view"


@pytest.mark.parametrize(
    ("question", "before", "alone"),
    [
        ("And a drone?", ["What is a queen bee?"], "What is a drone?"),
        (
            "What about a drone?",
            ["What is a queen bee?", "How long does it live?"],
            "How long does a drone live?",
        ),
        ("那红茶呢？", ["什么是绿茶？", "它的产地在哪里？"], "红茶的产地在哪里？"),
        ("And in winter?", ["What is a queen bee?"], "And in winter? (queen bee)"),
    ],
)
def test_what_about_another_thing_asks_the_last_question_of_it(question, before, alone):
    assert make_standalone(question, "\n".join(f"person: {one}" for one in before)) == alone


def test_a_comparison_knows_a_thing_that_was_only_named():
    before = "person: What is a queen bee?\nperson: And a drone?"

    assert (
        make_standalone("compare with the other one", before)
        == "Compare the queen bee and the drone"
    )


def test_a_comparison_keeps_what_is_compared():
    before = "person: 什么是绿茶？\nperson: 什么是红茶？"

    assert make_standalone("它们的产地有什么区别？", before) == "比较绿茶和红茶：产地"


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("Why?", "Why? (bees dance)"),
        ("And when?", "And when? (bees dance)"),
        ("Thanks! And the workers?", "Thanks! And the workers? (bees dance)"),
        ("Is that right?", "Is that right? (bees dance)"),
    ],
)
def test_a_question_without_a_topic_of_its_own_gets_one(question, alone):
    assert make_standalone(question, EARLIER) == alone


@pytest.mark.parametrize(
    "question",
    ["Is there a law that forbids bees in gardens?", "Is it true that drones cannot sting?"],
)
def test_words_that_only_look_like_pronouns_point_at_nothing(question):
    assert make_standalone(question, EARLIER) == question


@pytest.mark.parametrize(
    "question",
    [
        "Who was Ebbinghaus and when was he born?",
        "How do wasps survive the winter, and what do they eat?",
        "Where does the queen bee live? How long is it known?",
    ],
)
def test_a_pronoun_stands_for_what_its_own_question_speaks_of(question):
    assert make_standalone(question, "person: Who was Karl Holm?") == question


def test_a_pronoun_in_both_halves_of_a_question_points_back():
    alone = "When was Karl Holm born, and what did he write?"

    assert (
        make_standalone("When was he born, and what did he write?", "person: Who was Karl Holm?")
        == alone
    )


def test_a_pronoun_does_not_reach_over_a_question_of_something_else():
    before = "person: Who was Karl Holm?\nperson: How do wasps survive the winter?"

    assert (
        make_standalone("How long do they live?", before)
        == "How long do they live? (wasps survive winter)"
    )


def test_small_talk_in_between_is_no_topic():
    conversation = f"{EARLIER}\nperson: Thanks, that was helpful!\ndossier: You're welcome!"

    assert make_standalone("and in winter?", conversation) == "and in winter? (bees dance)"


def test_a_question_that_only_goes_on_talking_stays_as_it_is():
    before = "person: Did Sunday opening pay off?"
    whole = "And how many loans did the Harbour branch have in 2023?"

    assert make_standalone(whole, before) == whole
    assert "Sunday" in make_standalone("And how many loans were there?", before)


def test_a_question_that_stands_alone_stays_as_it_is():
    assert (
        make_standalone("What does the HNSW index cost?", EARLIER)
        == "What does the HNSW index cost?"
    )
    assert make_standalone("and in winter?", "") == "and in winter?"


def test_a_second_follow_up_still_knows_what_it_is_all_about():
    conversation = f"{EARLIER}\nperson: And in winter?\ndossier: They cluster."

    assert "bees dance" in make_standalone("and how do they heat?", conversation)


@each_case(product(["What is HNSW?", "蜜蜂为什么跳舞？", "Compare Rust and Go"], [0, 1, 3, 5]))
def test_there_are_as_many_different_queries_as_asked_for_and_no_more_than_help(question, count):
    queries = rewrite_question(ParsedPrompt(question=question, query_count=count))["queries"]

    assert len(set(queries)) == len(queries) == min(count, MAX_QUERIES)


def test_the_sides_of_a_comparison_are_searched_apart():
    queries = rewrite_question(
        ParsedPrompt(question="Where do Smith and Jones disagree about bees?", query_count=3)
    )["queries"]

    assert queries == ["Smith Jones bees", "Smith bees", "Jones bees"]


def test_the_queries_of_a_follow_up_know_the_topic():
    made = rewrite_question(
        ParsedPrompt(question="and in winter?", conversation=EARLIER, query_count=1)
    )

    assert made == {"question": "and in winter? (bees dance)", "queries": ["winter bees dance"]}


@pytest.mark.parametrize(
    ("said", "searched"),
    [
        ("My hives stand in Oslo. How do bees dance?", "How do bees dance?"),
        ("我是护士。疫苗怎样起作用？", "疫苗怎样起作用？"),
        ("The paper is of 1927. Who wrote it?", "The paper is of 1927. Who wrote it?"),
        ("I want to know how vaccines work.", "I want to know how vaccines work."),
        ("我想知道蜜蜂怎样跳舞。它们为什么跳？", "我想知道蜜蜂怎样跳舞。它们为什么跳？"),
    ],
)
def test_what_somebody_says_of_themselves_beside_a_question_is_not_searched_for(
    said: str, searched: str
):
    assert rewrite_question(ParsedPrompt(question=said, query_count=3))["question"] == searched


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        (
            ["My brother Zeb has leprosy. How do bees dance?"],
            "How do they tell the distance?",
            "How do they tell the distance? (bees dance)",
        ),
        (
            ["Remember that my brother Zeb has leprosy.", "What is a queen bee?"],
            "How long does it live?",
            "How long does the queen bee live?",
        ),
        (["我弟弟阿强有麻风病。什么是绿茶？"], "它的产地在哪里？", "绿茶的产地在哪里？"),
        (["记住我弟弟阿强有麻风病。", "什么是绿茶？"], "它的产地在哪里？", "绿茶的产地在哪里？"),
    ],
)
def test_what_was_told_beside_an_earlier_question_is_no_topic(before, question, alone):
    assert make_standalone(question, "\n".join(f"person: {one}" for one in before)) == alone


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("mux 的默认端口是多少？", "mux default port"),
        ("What is the default port of Mux?", "默认 缺省 端口 Mux"),
    ],
)
def test_the_first_query_is_in_the_other_language_if_sources_are_in_it(question, query):
    asked = ParsedPrompt(question=question, query_count=2)
    both = rewrite_question(asked._replace(source_languages=("en", "zh")))
    own = rewrite_question(asked)

    assert both["queries"][0] == query
    assert query not in own["queries"]


def test_the_languages_of_the_sources_are_read_from_the_outline():
    outline = render_block("outline", "- a.md: A <question>", languages="en zh")
    prompt = parse_prompt([HumanMessage(f"{outline}\n\n{render_block('question', 'Why?')}")])

    assert prompt.source_languages == ("en", "zh")
    assert prompt.question == "Why?"
