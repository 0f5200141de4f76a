import pytest

from text.topics import extract_names, extract_topic, key_phrase, key_terms, topic_coverage
from text.words import search_words


def test_words_for_the_work_itself_are_no_terms():
    assert key_terms("Please compare and summarise the waggle dance") == ["waggl", "danc"]
    assert key_terms("请帮我收集整理蜜蜂的资料并分析") == ["蜜蜂", "资料", "料并"]


def test_a_name_and_a_number_weigh_more_than_another_word():
    weights = extract_topic("the Zorbian waggler in 7311").terms

    assert weights["zorbian"] == 2 * weights["waggler"] == weights["7311"]


def test_a_later_text_weighs_half():
    assert extract_topic("waggler", "zorbian").terms == {"waggler": 1.0, "zorbian": 0.5}


def test_all_of_the_words_in_order_are_the_whole_topic():
    assert (
        topic_coverage(extract_topic("waggle dance"), search_words("The waggle dance of bees."))
        == 1.5
    )


def test_strewn_words_are_less_than_a_phrase():
    about = extract_topic("waggle dance")

    assert (
        topic_coverage(about, search_words("They waggle. Nothing else. Wasps never dance.")) == 1.0
    )
    assert 0 < topic_coverage(about, search_words("They dance.")) < 1.0
    assert topic_coverage(about, search_words("Football.")) == 0.0


def test_a_topic_of_nothing_is_covered_by_nothing():
    assert topic_coverage(extract_topic(""), search_words("bees")) == 0.0


def test_the_key_phrase_keeps_the_spelling_and_the_order():
    assert key_phrase("What does the Waggle Dance tell the bees?") == "Waggle Dance bees"
    assert key_phrase("蜜蜂为什么跳舞？") == "蜜蜂 跳舞"


def test_a_long_question_keeps_its_rarest_and_earliest_words():
    phrase = key_phrase(
        "How did the first state film of Zanzibar change " + "new world music " * 9, 3
    )

    assert len(phrase.split()) == 3
    assert "Zanzibar" in phrase


def test_names_are_found_with_the_small_words_inside_them():
    question = 'Did the Treaty of Versailles, "On Growth" and Karl von Frisch matter?'

    assert extract_names(question) == ["Treaty of Versailles", "On Growth", "Karl von Frisch"]
    assert extract_names("《战国无双3》是谁开发的？") == ["战国无双3"]


def test_a_date_counts_once_not_also_for_its_parts():
    weights = extract_topic("winter of 2023/24").terms

    assert weights["2023"] == weights["24"] < weights["2023/24"] / 2


def test_words_for_the_documents_themselves_are_no_terms():
    assert key_terms("Where do the two papers disagree about bees?") == ["bee"]
    assert key_terms("这两篇论文对蜜蜂有什么分歧？") == ["对蜜", "蜜蜂"]


@pytest.mark.parametrize("asked", ["happened to", "happens to", "is happening to"])
def test_that_something_happened_is_no_part_of_the_topic(asked: str):
    assert key_terms(f"What {asked} the heating pipe?") == key_terms("the heating pipe")
