import pytest

from models.extract_kinds import answers


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When was it built?", "It was built in 1945.", "It was built of stone."),
        ("How many bees are there?", "There are three bees.", "There are bees."),
        ("Who built it?", "It was built by Ada Lovelace.", "It was built of stone."),
        ("Why do bees dance?", "They dance because of flowers.", "They dance a lot."),
        ("Where is it?", "It lies in Paris.", "It lies deep."),
        ("What is HNSW?", "HNSW is a graph.", "We ran HNSW."),
        ("什么时候建成？", "建于1945年。", "用石头建成。"),
        ("有多少蜜蜂？", "有三百个。", "有蜜蜂。"),
        ("为什么跳舞？", "因为有花。", "它们跳舞。"),
    ],
)
def test_a_sentence_answers_with_the_kind_of_thing_that_is_asked_for(question, answer, other):
    assert answers(question, answer)
    assert not answers(question, other)


def test_a_question_for_nothing_of_the_kind_is_answered_by_no_kind():
    assert not answers("forgetting curve", "The curve of 1885 is a curve.")
