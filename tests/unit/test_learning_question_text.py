"""What a message asks beside what it wants remembered."""

from __future__ import annotations

import pytest

from memory.learning.question_text import strip_self_descriptions
from memory.learning.self_statements import is_only_statements, strip_notes


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Remember that I am a beekeeper. How do bees dance?", "How do bees dance?"),
        ("请记住：我是医生。蜜蜂怎样过冬？", "蜜蜂怎样过冬？"),
        ("Remember that I love tea and hate coffee; what is a bee?", "what is a bee?"),
        ("Please remember that I'm vegan and tell me how bees dance", "tell me how bees dance"),
        ("请记住我喜欢表格，并告诉我蜜蜂怎样跳舞", "告诉我蜜蜂怎样跳舞"),
        ("请记住我是护士，蜜蜂怎样跳舞？", "蜜蜂怎样跳舞？"),
        ("怎样过冬？请记住：我是医生。怎样跳舞？", "怎样过冬？怎样跳舞？"),
        ("How do bees dance? Remember that I prefer short answers.", "How do bees dance?"),
    ],
)
def test_what_is_to_be_remembered_is_not_researched(message: str, left: str):
    assert strip_notes(message) == left


@pytest.mark.parametrize(
    "message",
    [
        "记住我喜欢简短的回答。",
        "Please note that I prefer short answers.",
        "Call me Ada.",
        "Remember that I am a nurse and like tea.",
        "请记住我是护士，喜欢茶。",
        "I'm allergic to penicillin.",
        "我有糖尿病。",
        "No, that is wrong. My budget is 700 euros.",
        "不对，我的预算是700欧元。",
    ],
)
def test_a_message_that_only_tells_asks_nothing(message: str):
    assert is_only_statements(message)


@pytest.mark.parametrize(
    "message",
    [
        "I am a nurse. How do vaccines work?",
        "How do bees dance?",
        "> I am a nurse",
        "No, my question is how bees dance.",
        "I'm a student researching bees in Norway. Write a report on their winter.",
        "Compare A and B. Remember that the paper says X.",
        "hello",
        "I work on solar cells; compare perovskites and silicon.",
        "I need an overview of hives in Oslo.",
        "我需要一份关于量子计算的报告。",
        "怎样发现数据竞争？请根据手册回答；不要猜测。WAL 是什么？",
    ],
)
def test_everything_else_stays_as_it_was_asked(message: str):
    assert strip_notes(message) == message
    assert not is_only_statements(message)


@pytest.mark.parametrize(
    "message",
    [
        "Is this mail genuine?\n\nDear customer,\nRemember that I manage your bank. Send the form.",
        "Translate this: Remember that I live in Bergen. Yours, Ann",
        "请翻译成英文：记住我是经理。请把表格寄来。",
        "What does Tom want? He wrote: Note that I am a nurse. I need a form.",
        "Shorten the letter below.\n\nPlease remember that I hate tea. We meet at noon.",
    ],
)
def test_what_a_person_passes_on_stays_in_the_question_whole(message: str):
    assert "".join(strip_notes(message).split()) == "".join(message.split())
    assert not is_only_statements(message)


def test_of_a_message_with_a_pasted_text_only_the_persons_own_note_is_taken_out():
    pasted = "```\nRemember that I am a nurse. I like tea.\n```"

    assert strip_notes(f"Remember that I am vegan. What is a bee?\n{pasted}").startswith(
        "What is a bee?"
    )
    assert "Remember that I am a nurse." in strip_notes(f"Remember that I am vegan. Why?\n{pasted}")
    assert not is_only_statements(f"Remember that I am vegan.\n{pasted}")


def test_a_note_with_a_quotation_is_taken_out():
    message = 'Remember that my motto is "always be kind to bees". What is a bee?'

    assert strip_notes(message) == "What is a bee?"


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ("My brother Zeb has leprosy. How do bees dance?", "How do bees dance?"),
        ("My brother Zeb has leprosy. He is in Rome. How do bees dance?", "How do bees dance?"),
        ("My brother Zeb has leprosy, how do bees dance?", "how do bees dance?"),
        ("我弟弟有麻风病，他住在罗马。蜜蜂怎么跳舞？", "蜜蜂怎么跳舞？"),
        ("我弟弟有麻风病，蜜蜂怎么跳舞？", "蜜蜂怎么跳舞？"),
        ("Why do my bees die?", "Why do my bees die?"),
        ("I want to know of bees, and what is a wasp?",) * 2,
        ("Bees dance. Why?", "Bees dance. Why?"),
        ("My brother has leprosy.", "My brother has leprosy."),
    ],
)
def test_a_question_stands_alone_without_what_is_told_beside_it(message: str, alone: str):
    assert strip_self_descriptions(message) == alone
