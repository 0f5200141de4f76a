import pytest

from models.extractive.finding_review import review_coverage, review_finding
from models.extractive.prompt_parser import ParsedPrompt, PromptFinding
from text.answerability import SourcePassage

PAGE = SourcePassage(
    "S1", "Bees", "", "The waggle dance was decoded in 1945. The cluster keeps the queen warm."
)
ASKED = "When was the waggle dance decoded?"


def judged(text, pages=(PAGE,), asked=ASKED):
    found = PromptFinding("s1", asked, "ok", text)
    return review_finding(
        ParsedPrompt(question=asked, step=(asked, ""), findings=(found,), pages=pages)
    )


def test_a_real_quote_that_covers_the_step_passes():
    assert judged('<q s="S1">The waggle dance was decoded in 1945.</q>') == {
        "passed": True,
        "feedback": "",
        "queries": [],
    }


def test_a_finding_without_a_quote_fails():
    verdict = judged("It was decoded in 1945 [S1].")

    assert not verdict["passed"]
    assert verdict["feedback"].endswith("waggle, dance, decoded")
    assert verdict["queries"] == ["waggle dance decoded"]


def test_a_quote_that_stands_in_no_page_fails():
    assert not judged('<q s="S1">The waggle dance was decoded in 1946.</q>')["passed"]
    assert not judged('<q s="S2">The waggle dance was decoded in 1945.</q>')["passed"]


def test_a_quote_beside_the_point_fails_and_the_missing_words_are_named():
    verdict = judged('<q s="S1">The cluster keeps the queen warm.</q>')

    assert not verdict["passed"]
    assert verdict["feedback"] == "Not covered yet: waggle, dance, decoded"


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("It was built by Thomas Arkwright in 1857.", True),
        ("The stone came from Penryn.", False),
    ],
)
def test_what_a_quote_says_is_said_of_what_its_document_is_called(said: str, passed: bool):
    text = f"{said} The keeper left."
    page = SourcePassage(
        "S1", "The lighthouse at Cape Merrin", "", f"{text} Who built it is known."
    )

    verdict = judged(
        f'<q s="S1">{said}</q>', (page,), "Who built and lit the lighthouse at Merrin?"
    )

    assert verdict["passed"] == passed


def test_what_no_page_has_is_not_asked_for():
    asked = "When was the waggle dance decoded by Zorba of Xanadu in Qumran?"

    assert judged('<q s="S1">The waggle dance was decoded in 1945.</q>', asked=asked)["passed"]


def test_feedback_is_in_the_language_of_the_question():
    page = SourcePassage("S1", "", "", "蜜蜂跳舞。蜂王怕冷。")

    verdict = judged('<q s="S1">蜂王怕冷。</q>', (page,), "蜜蜂为什么跳舞？")

    assert verdict["feedback"] == "还没有涉及：蜜蜂、跳舞"


QUESTION = "Why do bees dance, and how do hornets hunt spiders?"
BEES = PromptFinding("s1", "Why do bees dance", "ok", '<q s="S1">Bees dance.</q>')


def test_a_part_of_the_question_that_no_finding_touches_is_missing():
    assert review_coverage(ParsedPrompt(question=QUESTION, findings=(BEES,))) == {
        "enough": False,
        "missing": [
            {"title": "How do hornets hunt spiders", "queries": ["hornets hunt spiders bees dance"]}
        ],
    }


def test_a_part_that_was_searched_for_in_vain_is_not_searched_again():
    vain = PromptFinding("s2", "How do hornets hunt spiders", "failed", "no_evidence")

    assert review_coverage(ParsedPrompt(question=QUESTION, findings=(BEES, vain)))["enough"]


def test_a_part_that_is_answered_under_another_title_is_not_missing():
    told = PromptFinding(
        "s1", "Insects", "ok", '<q s="S1">Bees dance.</q> <q s="S2">Hornets hunt spiders.</q>'
    )

    assert review_coverage(ParsedPrompt(question=QUESTION, findings=(told,)))["enough"]


def test_at_most_two_parts_are_missing():
    question = "Why is A1 red? Why is B2 green? Why is C3 blue? Why is D4 pink?"

    assert len(review_coverage(ParsedPrompt(question=question))["missing"]) == 2


def test_nothing_is_missing_from_a_plan_that_follows_what_a_person_said():
    asked = ParsedPrompt(question=QUESTION, findings=(BEES,))

    assert not review_coverage(asked)["enough"]
    assert review_coverage(asked._replace(wishes=("only the bees, skip the rest",)))["enough"]
