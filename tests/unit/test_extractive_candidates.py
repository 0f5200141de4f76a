from models.extractive.blocks import Page
from models.extractive.candidates import candidates, document


def texts(text):
    return [one.text for one in candidates([Page("S1", "", "", text)])]


def test_a_chinese_sentence_goes_on_after_its_semicolon():
    whole = "华北需要10至15千克蜂蜜；东北冬季更长，需要15至20千克。"

    assert texts(whole) == [whole]


def test_a_sentence_that_is_too_long_as_a_whole_stays_in_its_clauses():
    clause = "华北需要十千克蜂蜜" * 8 + "；"

    assert texts(clause * 2) == [clause, clause]


def test_sentences_that_point_back_stand_with_the_one_they_point_to():
    said = "The hive stood open. It did not starve. It died of damp."

    assert texts(said)[-1] == said


def test_a_document_that_speaks_of_itself_needs_no_sentence_before_it():
    assert texts("We met in May. This review argues that time heals.")[-1].startswith("This review")


def test_a_sentence_knows_the_heading_above_it_and_whether_it_opens_what_follows():
    one, two = (
        candidate
        for candidate in candidates([Page("S1", "", "", "Bees\n\nBees dance. Bees sing.")])
        if candidate.text.endswith(".")
    )

    assert (one.above, one.opens) == ("Bees", True)
    assert (two.above, two.opens) == ("Bees", False)


def test_a_part_of_a_document_is_titled_after_the_whole():
    assert document("Bees — The dance") == document("Bees") == "Bees"


def test_a_line_of_capitals_is_a_heading_and_no_sentence():
    assert texts("APIARY LOG, WINTER 2023/24\n\nBees dance.") == ["Bees dance."]
    assert texts("中国的CPU和GPU。") == ["中国的CPU和GPU。"]
