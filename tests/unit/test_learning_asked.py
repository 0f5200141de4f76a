"""What a message asks beside what it wants remembered."""

from __future__ import annotations

import pytest

from memory.learning.rules import asked, only_tells


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Remember that I am a beekeeper. How do bees dance?", "How do bees dance?"),
        ("请记住：我是医生。蜜蜂怎样过冬？", "蜜蜂怎样过冬？"),
        ("How do bees dance? Remember that I prefer short answers.", "How do bees dance?"),
    ],
)
def test_what_is_to_be_remembered_is_not_researched(message: str, left: str):
    assert asked(message) == left


@pytest.mark.parametrize(
    "message",
    ["记住我喜欢简短的回答。", "Please note that I prefer short answers.", "Call me Ada."],
)
def test_a_message_that_only_tells_asks_nothing(message: str):
    assert only_tells(message)


@pytest.mark.parametrize(
    "message",
    [
        "I am a nurse. How do vaccines work?",
        "How do bees dance?",
        "I'm a student researching bees in Norway. Write a report on their winter.",
        "Compare A and B. Remember that the paper says X.",
        "hello",
        "I work on solar cells; compare perovskites and silicon.",
        "I need an overview of hives in Oslo.",
        "我需要一份关于量子计算的报告。",
    ],
)
def test_everything_else_stays_as_it_was_asked(message: str):
    assert asked(message) == message
    assert not only_tells(message)
