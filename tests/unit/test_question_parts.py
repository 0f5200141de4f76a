import pytest

from text.question_parts import (
    find_comparison,
    is_simple_question,
    is_subquestion,
    list_named_aspects,
    split_question,
)


def test_each_sub_question_is_a_part():
    assert split_question("Why do bees dance, and how do they find the hive?") == [
        "Why do bees dance",
        "how do they find the hive",
    ]
    assert split_question("如何增强课堂参与度？有哪些有效的策略？") == [
        "如何增强课堂参与度",
        "有哪些有效的策略",
    ]


def test_background_is_left_out_where_something_is_asked():
    told = "The disease has a profound impact on patients. "

    assert split_question(told + "What are the signs? Which activities are suitable?") == [
        "What are the signs",
        "Which activities are suitable",
    ]


def test_a_question_without_parts_is_its_only_part():
    assert split_question("What is HNSW?") == ["What is HNSW?"]
    assert split_question("Write on how and why people talk.") == [
        "Write on how and why people talk."
    ]


@pytest.mark.parametrize(
    ("question", "names", "about"),
    [
        ("Compare Rust and Go for web servers", ["Rust", "Go"], "web servers"),
        ("HNSW vs IVF", ["HNSW", "IVF"], ""),
        ("Where do Smith and Jones disagree about bees?", ["Smith", "Jones"], "bees"),
        ("What is the difference between TCP and UDP?", ["TCP", "UDP"], ""),
        ("Which is larger, the Moon or Mars?", ["Moon", "Mars"], "Which is larger"),
        ("蜜蜂和黄蜂有什么区别？", ["蜜蜂", "黄蜂"], ""),
        ("比较HNSW与IVF在召回率上的差异", ["HNSW", "IVF"], "召回率"),
        ("比较佛教艺术和锡克教", ["佛教艺术", "锡克教"], ""),
        ("请比较绿茶和红茶的产地", ["绿茶", "红茶"], "产地"),
    ],
)
def test_a_comparison_has_two_sides(question, names, about):
    assert find_comparison(question) == (names, about)


@pytest.mark.parametrize(
    "question", ["What is HNSW?", "Compare the strengths and weaknesses of bees", "蜜蜂和花"]
)
def test_what_does_not_compare_has_no_sides(question):
    assert find_comparison(question) is None


def test_what_a_question_lists_are_its_dimensions():
    english = "Compare firms, including their funding, size, and reputation."

    assert list_named_aspects(english) == ["funding", "size", "reputation"]
    assert list_named_aspects("What do Anna Bell, Bob Cole, and Dan Eck think?") == [
        "Anna Bell",
        "Bob Cole",
        "Dan Eck",
    ]
    assert list_named_aspects("比较各公司的融资情况、信誉度、实际分红等维度") == [
        "融资情况",
        "信誉度",
        "实际分红",
    ]


def test_two_things_are_no_list():
    assert list_named_aspects("Tell me about bees and wasps, including honey.") == []


def test_one_fact_is_simple_and_an_open_question_is_not():
    assert is_simple_question("What is HNSW?")
    assert is_simple_question(
        "Who was the very first president of the association that published the journal?"
    )
    assert is_simple_question("蜜蜂为什么跳舞？")
    assert not is_simple_question("Compare Rust and Go")
    assert not is_simple_question(
        "Explain how bees communicate with one another about food over the whole year in detail"
    )


def test_a_part_asks_for_nothing_that_the_whole_does_not_ask_for():
    whole = "What is the waggle dance, and who decoded it?"

    assert is_subquestion("What is the waggle dance", whole)
    assert is_subquestion("Who decoded the waggle dance", whole)
    assert not is_subquestion("Who taught the waggle dance", whole)
    assert not is_subquestion("The waggle dance", whole)
    assert not is_subquestion(whole, whole)
