import pytest

from models.extractive.sentence_scoring import list_candidates
from text.answerability import SourcePassage, document_title


def texts(text):
    return [one.text for one in list_candidates([SourcePassage("S1", "", "", text)])]


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
        for candidate in list_candidates(
            [SourcePassage("S1", "", "", "Bees\n\nBees dance. Bees sing.")]
        )
        if candidate.text.endswith(".")
    )

    assert (one.heading, one.follows_heading) == ("Bees", True)
    assert (two.heading, two.follows_heading) == ("Bees", False)


def test_a_part_of_a_document_is_titled_after_the_whole():
    assert document_title("Bees — The dance") == document_title("Bees") == "Bees"


def test_a_line_of_capitals_is_a_heading_and_no_sentence():
    assert texts("APIARY LOG, WINTER 2023/24\n\nBees dance.") == ["Bees dance."]
    assert texts("中国的CPU和GPU。") == ["中国的CPU和GPU。"]


@pytest.mark.parametrize(
    "mark", ["- ", "* ", "1. ", "(2) ", "3) ", "• ", "> ", "- [x] ", "二、", "（三）", "  - "]
)
def test_the_mark_of_a_list_is_no_part_of_a_quote(mark):
    assert texts(f"{mark}Weigh every hive in October.") == ["Weigh every hive in October."]


def test_a_number_that_begins_a_sentence_is_no_mark_of_a_list():
    assert texts("12,000 people came. 1.5 kg were lost.") == [
        "12,000 people came.",
        "1.5 kg were lost.",
    ]


@pytest.mark.parametrize("said", ["The parser cites [S1] here.", 'A <q s="S2">word</q> is cut.'])
def test_what_looks_like_a_citation_can_be_quoted(said):
    assert texts(said) == [said]


def test_a_setting_knows_its_section_and_has_no_comma_behind_it():
    json = '{\n  "engines": {\n    "node": ">=18.17",\n  }\n}'

    found = next(list_candidates([SourcePassage("S1", "", "", json)]))

    assert (found.text, found.section) == ('"node": ">=18.17"', "engines")


def test_a_constant_in_capitals_is_quoted_and_a_heading_in_capitals_is_not():
    assert texts("MAX_ITEMS = 512\n\nTHE LIMITS OF ALL ITEMS") == ["MAX_ITEMS = 512"]


def test_a_sentence_in_a_program_is_quoted_without_the_marks_around_it():
    assert texts('"""Return how many rows there are."""') == ["Return how many rows there are."]
    assert texts("// The rows are counted twice.") == ["The rows are counted twice."]


@pytest.mark.parametrize(
    "said",
    ["At the end of this run she turns.", "The first two are close.", "In this way it works."],
)
def test_a_sentence_that_begins_with_what_was_said_before_stands_with_it(said):
    assert texts(f"The bee runs over the comb. {said}")[-1] == f"The bee runs over the comb. {said}"


def test_a_sentence_hangs_if_what_it_points_to_is_not_before_it():
    page = SourcePassage(
        "S1", "", "", "It has 340 members. It owns 27 hives.\n\nThe club is old. It grows."
    )

    assert [one.is_dangling for one in list_candidates([page])] == [True, True, False, False]


def test_signs_of_a_comment_are_left_out_before_a_sentence_and_kept_within_it():
    assert texts("-- Bees dance for the queen.") == ["Bees dance for the queen."]
    assert texts("Give the argument --slow to calm all bees.") == [
        "Give the argument --slow to calm all bees."
    ]
    assert texts("--slow calms all of the bees.") == ["--slow calms all of the bees."]


def test_a_mere_name_of_a_term_is_quoted_with_the_sentence_after_it():
    page = SourcePassage(
        "S1", "kilnctl - fire pots", "", "  -q  Quick fire.  Pots get hot in an hour.\n"
    )
    first = next(one for one in list_candidates([page]) if one.section == "-q")
    assert first.text == "Quick fire.  Pots get hot in an hour."


@pytest.mark.parametrize(
    ("item", "quoted"),
    [
        (
            "1. Heating pipe. The pipe was moved in April 2023. It cost 18,900 euros.",
            "Heating pipe. The pipe was moved in April 2023.",
        ),
        ("- 供暖管道。管道于2023年4月移走。", "供暖管道。管道于2023年4月移走。"),
    ],
)
def test_the_label_of_an_item_is_quoted_with_what_it_stands_before(item: str, quoted: str):
    assert texts(f"Minutes of the board.\n\n{item}\n\n2. Next.")[1] == quoted
    assert "Heating pipe." not in texts(item)


def test_a_label_without_a_sentence_behind_it_stays_as_it_was():
    assert texts("Bees live here.\n\n1. Heating pipe.\n\nThe pipe was moved.") == [
        "Bees live here.",
        "Heating pipe.",
        "The pipe was moved.",
    ]
