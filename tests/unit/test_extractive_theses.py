import pytest

from models.extractive.sentence_scoring import (
    asks_disagreement,
    count_asked_documents,
    score_thesis,
)


@pytest.mark.parametrize(
    "question",
    ["How do the two papers disagree?", "Where do Smith and Jones differ?", "两篇论文有什么分歧？"],
)
def test_a_question_for_a_disagreement_is_known(question):
    assert asks_disagreement(question)


def test_another_question_is_for_no_disagreement():
    assert not asks_disagreement("Why do bees dance?")
    assert not asks_disagreement("蜜蜂为什么跳舞？")


@pytest.mark.parametrize(
    "question",
    [
        "How do I see only the lines that differ?",
        "What does merge exit with when changes conflict?",
        "Which options conflict with --quiet?",
    ],
)
def test_what_differs_or_conflicts_in_a_program_is_no_disagreement(question):
    assert not asks_disagreement(question)


@pytest.mark.parametrize(
    "question",
    ["What do the sources differ about?", "Do the reports contradict each other?"],
)
def test_documents_differ_and_contradict_each_other(question):
    assert asks_disagreement(question)


@pytest.mark.parametrize(
    ("thesis_like", "other"),
    [
        ("This review argues that memories fade.", "Twelve students learned a list."),
        ("Forgetting is caused mainly by decay.", "Forgetting was measured in 1885."),
        ("本文认为，双减减轻了负担。", "调查了三百个家庭。"),
    ],
)
def test_a_thesis_is_told_from_a_detail(thesis_like, other):
    assert score_thesis(thesis_like, "") > score_thesis(other, "")


def test_a_document_says_its_own_thesis_rather_than_that_of_others():
    assert score_thesis("I conclude that time heals.", "") > score_thesis(
        "Bell argued that time heals.", ""
    )


def test_what_stands_in_the_conclusion_is_more_of_a_thesis():
    assert score_thesis("Time heals.", "6. Conclusion") > score_thesis("Time heals.", "2. Method")
    assert score_thesis("时间起作用。", "结论") > score_thesis("时间起作用。", "方法")


def test_as_many_documents_are_set_against_each_other_as_the_question_says():
    assert count_asked_documents("How do the two papers disagree?") == 2
    assert count_asked_documents("Where do the three reports differ?") == 3
    assert count_asked_documents("Where do they disagree?") == 2
