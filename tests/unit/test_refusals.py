"""An answer that answers nothing is told from one that says that nothing was found."""

import pytest

from report.findings import clip_answer, is_empty_answer

SOURCES = {"S1": ""}


@pytest.mark.parametrize(
    "said",
    [
        "I'm sorry, but I can't assist with that request.",
        "As an AI language model I am unable to provide information on this.",
        "I cannot comply. I'd recommend you consult a professional.",
        "I’m not able to discuss this topic.",
        "作为一个人工智能模型，我不能回答这个问题。",
        "抱歉，我不能提供相关信息。",
        "503 Service Unavailable",
        "错误：上游模型过载，请稍后重试。",
        "{}",
        "Bees fly 750 metres.",
    ],
)
def test_a_refusal_an_error_and_words_without_a_source_answer_nothing(said: str):
    assert is_empty_answer(said, SOURCES)


@pytest.mark.parametrize(
    "said",
    [
        "Bees fly (S1).",
        "I could not find an answer.",
        "I cannot answer this from the pages.",
        "It remains unclear how far.",
        "Nothing.",
        "No relevant information.",
        "没有相关内容。",
        "I can't help: the pages do not mention it.",
        "段落没有提到这一点。",
        "我无法从资料中回答这个问题。",
    ],
)
def test_a_cited_sentence_and_one_on_what_was_not_found_are_answers(said: str):
    assert not is_empty_answer(said, SOURCES)


def test_an_error_page_is_told_without_its_tags_and_no_longer_than_a_line():
    assert clip_answer("<html><h1>502\nBad Gateway</h1></html>") == "502 Bad Gateway"
    assert len(clip_answer("word " * 99)) < 99
