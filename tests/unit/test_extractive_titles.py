import pytest

from text.summaries import localize_title, make_title


def test_a_title_is_short_and_cut_between_words():
    assert make_title("why do bees dance?") == "Why do bees dance?"
    assert make_title("word " * 40, most=12) == "Word word…"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Please tell me about the waggle dance", "The waggle dance"),
        ("I would like to know how bees keep warm", "How bees keep warm"),
        ("Write a report about bees", "Bees"),
        ("Give me an overview of bee dances", "Bee dances"),
        ("请问蜜蜂怎样过冬？", "蜜蜂怎样过冬？"),
        ("请写一篇关于蜜蜂过冬的报告", "蜜蜂过冬的报告"),
    ],
)
def test_words_that_ask_for_the_work_are_no_part_of_a_title(said, title):
    assert make_title(said) == title


def test_a_long_title_ends_with_a_clause_and_leaves_out_who_asked():
    background = (
        "Please write a review on how honey bees dance. " + "It should be long and good. " * 9
    )

    assert make_title(background) == "How honey bees dance"
    assert make_title(
        "请帮我整理下全球蜜蜂的发展路线，以及各个路线的代表性公司，" + "需要包括产品进度" * 5
    ) == ("全球蜜蜂的发展路线，以及各个路线的代表性公司")


def test_a_long_title_begins_where_it_is_asked():
    told = "As family members of those who live with the disease for a long time, "

    assert make_title(told + "which signs should alert us?") == "Which signs should alert us?"


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        (
            "How does the pump of the third hall work, when was its engine replaced, and who "
            "was the last to mend it?",
            "How does the pump of the third hall work",
        ),
        (
            "Which valve of the plant lets the most water through in spring, and when was it "
            "last opened by hand from the bridge?",
            "Which valve of the plant lets the most water through in spring",
        ),
        (
            "How do I write a driver for the pump: which functions must it have and what is "
            "the table of calls for?",
            "How do I write a driver for the pump",
        ),
        (
            "水泵的第一台发动机是怎样工作的，什么时候更换过它的主轴和轴承，最后一次修理它的人又是谁，一共花了多少钱和多少天？",
            "水泵的第一台发动机是怎样工作的，什么时候更换过它的主轴和轴承",
        ),
    ],
)
def test_a_long_question_with_several_parts_is_titled_by_what_it_asks_first(asked, title):
    assert make_title(asked) == title


def test_a_long_prompt_is_titled_by_the_sentence_that_asks_for_its_topic():
    prompt = (
        "Honey bees have been kept for a long time in many parts of the world. "
        "How do honey bees keep warm in winter? Please use good sources. "
        "It should compare them with wasps. The report may be long."
    )

    assert make_title(prompt) == "How do honey bees keep warm in winter?"


def test_a_first_line_of_its_own_is_the_title():
    assert make_title("The dances of bees\nCompare the kinds of dance. " + "Be long. " * 20) == (
        "The dances of bees"
    )


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "What are the best approaches to scaling the keeping of bees from gardens to farms "
            "in a land of few flowers and of little rain?",
            "What are the best approaches to scaling the keeping of bees",
        ),
        (
            "Which materials do keepers now choose for the frames and boxes of hives used "
            "in the mountains of the north and the plains of the south?",
            "Which materials do keepers now choose for the frames and boxes of hives",
        ),
    ],
)
def test_a_long_sentence_is_cut_where_a_phrase_ends(said, title):
    assert make_title(said) == title


def test_a_list_is_not_cut_at_its_commas():
    asked = "What do Karl von Frisch, Adrian Wenner, and James Gould think of the dance language?"

    assert make_title(asked) == asked


def test_a_title_in_another_language_is_framed():
    assert localize_title("What is the waggle dance?", "zh") == "关于“waggle dance”"
    assert localize_title("蜜蜂为什么跳舞？", "en") == "On “蜜蜂跳舞”"
    assert localize_title("蜜蜂为什么跳舞？", "zh") == "蜜蜂为什么跳舞？"
