import pytest

from models.extractive.answer_ranking import select_quotes
from models.extractive.prompt_parser import SourceQuote
from text.answerability import SourcePassage, best_source_coverage, is_answerable
from text.topics import extract_topic

BEES = SourcePassage(
    "S1",
    "Honey bees",
    "",
    "# Dance\nHoney bees dance to tell others where flowers are. The waggle dance was decoded by "
    "Karl von Frisch in 1945. He won the Nobel Prize for it in 1973.\n\nIn winter the colony forms "
    "a cluster below 14 °C. The cluster shivers to keep the queen warm.",
)
WASPS = SourcePassage("S2", "Wasps", "", "Wasps do not store honey. A wasp colony dies in autumn.")
蜜蜂 = SourcePassage(
    "S3",
    "蜜蜂",
    "",
    "蜜蜂通过跳舞告诉同伴花在哪里。摆尾舞由冯·弗里希于1945年破译。冬天蜂群会抱团取暖，因为温度太低。",
)


def ask(question, *pages, limit=6):
    return [quote.text for quote in select_quotes(extract_topic(question), question, pages, limit)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "When was the waggle dance decoded?",
            "The waggle dance was decoded by Karl von Frisch in 1945.",
        ),
        (
            "What does the colony form in winter?",
            "In winter the colony forms a cluster below 14 °C.",
        ),
        ("摆尾舞是什么时候破译的？", "摆尾舞由冯·弗里希于1945年破译。"),
        ("蜜蜂为什么跳舞？", "蜜蜂通过跳舞告诉同伴花在哪里。"),
        ("冬天蜂群为什么抱团？", "冬天蜂群会抱团取暖，因为温度太低。"),
    ],
)
def test_the_sentence_that_answers_comes_first(question, answer):
    assert ask(question, WASPS, BEES, 蜜蜂)[0] == answer


def test_quotes_are_pieces_of_their_page():
    quotes = select_quotes(extract_topic("bees colony winter"), "bees colony winter", [BEES, WASPS])

    assert quotes
    for quote in quotes:
        assert quote.text in {"S1": BEES, "S2": WASPS}[quote.source].text


def test_a_sentence_that_points_back_brings_the_one_before_it():
    found = ask("What did Frisch win the Nobel Prize for?", BEES)[0]

    assert found.startswith("The waggle dance was decoded")
    assert found.endswith("in 1973.")


def test_a_heading_is_no_answer():
    assert not any("#" in text for text in ask("bee dance", BEES))


def test_no_words_are_quoted_twice():
    found = ask("waggle dance Frisch Nobel Prize 1945 1973", BEES, BEES)

    assert not any(one in other for one in found for other in found if one is not other)


def test_a_sentence_without_a_word_of_the_question_is_left_out():
    assert not any("shivers" in text for text in ask("Why do honey bees dance?", BEES))


def test_no_more_than_the_limit_is_quoted():
    assert len(ask("bees dance colony winter queen cluster", BEES, WASPS, limit=2)) == 2


def test_an_address_is_not_quoted():
    assert ask("bees dance", SourcePassage("S1", "", "", "Bees dance at www.bees.org now.")) == []
    assert ask("bees dance", SourcePassage("S1", "", "", "bees = postgres://dance.internal")) == []


def test_a_question_about_something_else_is_not_answerable():
    assert not is_answerable("Who won the football world cup in 2018?", [BEES, WASPS])
    assert not is_answerable("谁赢得了2018年足球世界杯？", [BEES, 蜜蜂])
    assert not is_answerable("Why do bees dance?", [])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is the Osprey heavier than 20 kilograms?", "The Osprey is a drone of 21 kilograms."),
        ("无人机的重量超过20公斤吗？", "无人机的重量是21公斤。"),
    ],
)
def test_what_a_question_compares_with_need_not_be_in_a_source(question, said):
    assert is_answerable(question, [SourcePassage("S1", "", "", said)])


def test_a_question_in_other_words_is_answerable():
    assert is_answerable("Who decoded the dances of honeybees such as the waggle dance?", [BEES])
    assert is_answerable("蜂群在冬天如何取暖？", [蜜蜂])


def test_one_of_two_words_is_not_enough():
    assert not is_answerable("colony football", [BEES])


def test_the_passages_of_a_source_answer_together():
    halves = [
        SourcePassage("S1", "", "", text) for text in ("Zorba saw Frisch.", "Qumran saw Xanadu.")
    ]

    assert is_answerable("Frisch Xanadu Zorba Qumran", halves)
    assert not any(is_answerable("Frisch Xanadu Zorba Qumran", [half]) for half in halves)


def test_a_sentence_with_the_kind_of_thing_asked_for_comes_first():
    page = SourcePassage("S1", "", "", "Ada moved the hive slowly. Ada moved the hive in 1945.")

    assert ask("When did Ada move the hive?", page)[0] == "Ada moved the hive in 1945."


def test_a_source_whose_title_the_question_names_is_worth_more():
    about, question = extract_topic("the lake of Zorbia"), "the lake of Zorbia"
    named, other = (
        SourcePassage("S1", title, "", "A lake.") for title in ("Zorbia", "Zorbia lore")
    )

    assert best_source_coverage(about, question, [named]) > best_source_coverage(
        about, question, [other]
    )


def test_a_row_that_is_the_extreme_comes_first_and_then_its_reason():
    rows = SourcePassage("S1", "Hives", "", "Hive: H1; Loss (kg): 6.2.\nHive: H2; Loss (kg): 16.9.")
    log = SourcePassage(
        "S2", "Log", "", "H1 lost its roof because of a storm. H2 lost most because it bred."
    )

    found = ask("Which hive lost the most, and why?", rows, log)

    assert found[:2] == ["Hive: H2; Loss (kg): 16.9.", "H2 lost most because it bred."]
    assert not any("Hive: H1" in text for text in found)


def test_a_question_for_a_reason_is_answered_by_a_reason():
    page = SourcePassage("S1", "", "", "The Zorba hive died in May. The hive died because of damp.")

    assert ask("Why did the Zorba hive die?", page)[0] == "The hive died because of damp."


def test_a_definition_comes_before_an_aside():
    page = SourcePassage(
        "S1", "", "", "The tale of the waggle dance is an old one. A waggle dance is a signal."
    )

    assert ask("What is a waggle dance?", page)[0] == "A waggle dance is a signal."


def test_documents_that_disagree_have_as_many_quotes_each():
    one, two = (
        SourcePassage(name, name, "", f"I argue that bees {said}. Bees fly. Bees sting. Bees hum.")
        for name, said in (("S1", "dance"), ("S2", "sing"))
    )

    quotes = select_quotes(
        extract_topic("bees"), "How do the two papers disagree about bees?", [one, two], 4
    )

    assert [quote.source for quote in quotes] == ["S1", "S1", "S2", "S2"]


def test_a_thesis_comes_before_a_detail_where_documents_disagree():
    page = SourcePassage(
        "S1", "Bees", "", "Bees were seen by three people. I conclude that bees dance."
    )

    assert ask("How do the papers disagree about bees?", page)[0] == "I conclude that bees dance."
    assert ask("How do bees live?", page)[0] == "Bees were seen by three people."


def test_a_question_whose_names_no_source_has_is_not_answerable():
    assert not is_answerable("When did Zorba decode the waggle dance of honey bees?", [BEES])
    assert is_answerable("When did Frisch decode the waggle dance of honey bees?", [BEES])


def test_a_setting_is_quoted_with_the_sections_it_stands_in():
    page = SourcePassage(
        "S1", "server", "", "[server]\nhost = 'a'\nport = 8443\n\n[cache]\nport = 11"
    )

    first = select_quotes(
        extract_topic("server port"), "Which port does the server listen on?", [page]
    )[0]

    assert first == SourceQuote("S1", "port = 8443", "server")
    assert (
        ask("What is MAX_ITEMS?", SourcePassage("S1", "", "", "use(MAX_ITEMS)\nMAX_ITEMS = 512"))[0]
        == "MAX_ITEMS = 512"
    )


def test_what_the_title_says_already_counts_less_than_what_is_asked_of_it():
    page = SourcePassage(
        "S1", "Zorba", "", "Zorba is old, and Zorba is big. The founder was Frisch."
    )

    assert ask("Who was the founder of Zorba?", page)[0] == "The founder was Frisch."


def test_a_name_is_meant_in_the_whole_passage_that_says_it():
    page = SourcePassage(
        "S1", "", "", "Zorba lies by a lake in the north. Anders Holm founded the village."
    )

    assert ask("Who founded Zorba?", page)[0] == "Anders Holm founded the village."


def test_words_of_grammar_are_not_needed_for_an_answer():
    page = SourcePassage("S1", "", "", "The ferry leaves every 40 minutes.")

    assert is_answerable("How often does the ferry go?", [page])
    assert not is_answerable("How often does the train go?", [page])


def test_a_question_in_a_text_is_no_answer():
    page = SourcePassage("S1", "", "", "How exact is the dance of bees? The dance is not exact.")

    assert ask("How exact is the dance of bees?", page)[0] == "The dance is not exact."


def test_a_row_does_not_tell_how_or_why():
    rows = "Hive: H1; Winter: bees kept warm; Food: honey kept.\n\nBees kept together stay warm."

    page = SourcePassage("S1", "", "", rows)

    assert ask("How are bees kept warm?", page)[0] == "Bees kept together stay warm."
    assert ask("Which bees are kept warm?", page)[0].startswith("Hive: H1")


def test_a_name_whose_words_are_strewn_is_half_a_name():
    strewn = SourcePassage(
        "S1", "", "", "The Eastern League played for two nations, Bob Starr says."
    )

    assert not is_answerable("Who joined the League of Nations?", [strewn])
    assert is_answerable(
        "Who joined the League of Nations?",
        [SourcePassage("S1", "", "", "It left the League of Nations.")],
    )


def test_a_source_that_is_far_off_is_not_quoted():
    near = SourcePassage("S1", "", "", "Honey bees dance in winter near Zorba.")
    far = SourcePassage("S2", "", "", "The rent of winter coats is high. Winter is cold.")

    quotes = select_quotes(
        extract_topic("honey bees dance winter Zorba"), "honey bees dance winter", [near, far]
    )

    assert {quote.source for quote in quotes} == {"S1"}


def test_a_sentence_that_stands_alone_comes_before_one_that_hangs():
    page = SourcePassage("S1", "", "", "It has many Zorba bees.\n\nOrley has many Zorba bees.")

    assert ask("Zorba bees", page) == ["Orley has many Zorba bees.", "It has many Zorba bees."]


def test_the_sentence_that_holds_the_relation_comes_before_one_that_names_the_subject():
    page = SourcePassage(
        "S1",
        "Harvest of Glass",
        "",
        "Harvest of Glass is a 1931 silent film directed by Ivo Brandt. "
        "The film was shot in Split. The leading role is played by Mila Horn.",
    )
    question = "Who played the leading role in the film Harvest of Glass?"

    assert "Mila Horn" in select_quotes(extract_topic(question), question, [page])[0].text
