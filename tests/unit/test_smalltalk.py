from pathlib import Path

import pytest

from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.query_rewriting import triage_message
from tests.cases import each_case
from text.smalltalk import reply_to_smalltalk

LINES = Path(__file__).parents[1].joinpath("flow", "smalltalk.txt").read_text(encoding="utf-8")


@each_case(LINES.splitlines())
def test_small_talk_is_answered_at_once(line):
    assert reply_to_smalltalk(line)


@each_case(
    [
        "What is HNSW?",
        "蜜蜂为什么跳舞？",
        "forgetting curve",
        "遗忘曲线",
        "BM25",
        "Hello, what is HNSW?",
        "Thanks! And what about wasps?",
        "谢谢，那黄蜂呢？",
        "What is love?",
        "爱是什么？",
        "Why do we sleep?",
        "machine learning",
        "how do you make coffee",
        "tell me about AI",
        "Do you know the capital of France?",
        "can you explain quantum computing",
        "你能解释量子力学吗",
        "weather in Berlin tomorrow",
        "北京今天天气怎么样",
        "机器人的历史",
        "I want to know about bees",
        "I need to dynamically adjust cluster node counts",
        "write a poem about rain",
        "1+1=?",
        "Best language models",
        "top movies",
        "What is the weather today?",
        "What time is it?",
        "今天天气怎么样？",
        "明天会下雨吗？",
    ]
)
def test_what_asks_for_something_is_researched(question):
    assert not reply_to_smalltalk(question)


def test_the_answer_is_in_the_language_of_what_was_said_and_says_what_dossier_does():
    assert reply_to_smalltalk("hi").startswith("Hello!")
    assert "report" in reply_to_smalltalk("hi")
    assert reply_to_smalltalk("你好").startswith("你好")
    assert "报告" in reply_to_smalltalk("你好")


def test_thanks_a_goodbye_and_a_question_about_itself_are_answered_as_such():
    assert "welcome" in reply_to_smalltalk("thanks a lot")
    assert "Goodbye" in reply_to_smalltalk("bye bye")
    assert "I am Dossier" in reply_to_smalltalk("who are you?")
    assert "我是 Dossier" in reply_to_smalltalk("你是谁？")


@pytest.mark.parametrize(
    "said",
    [
        "why?",
        "How much?",
        "Is that right?",
        "Who built it?",
        "Which one is better?",
        "Are you sure?",
        "Show me",
        "它呢？",
        "为什么？",
        "真的吗？",
        "在哪里？",
    ],
)
def test_a_short_question_asks_for_more_only_after_something_was_asked(said):
    assert reply_to_smalltalk(said)
    assert not reply_to_smalltalk(said, earlier=True)


@pytest.mark.parametrize(
    "said",
    [
        "thanks",
        "How are you?",
        "What's up?",
        "Can you help me?",
        "Who made you?",
        "ok?",
        "Nice weather today, isn't it?",
        "Tell me a joke, please",
        "你好吗？",
        "最近怎么样？",
        "吃了吗？",
    ],
)
def test_small_talk_is_small_talk_also_after_a_question(said):
    assert reply_to_smalltalk(said, earlier=True)


def test_small_talk_before_is_nothing_to_ask_on_about():
    assert (
        triage_message(ParsedPrompt(last_message="How much?", earlier_messages=("Hello!",)))[
            "research"
        ]
        is False
    )
    assert (
        triage_message(
            ParsedPrompt(last_message="How much?", earlier_messages=("Hello!", "What is HNSW?"))
        )["research"]
        is True
    )


def test_a_drawn_out_word_is_still_that_word():
    assert reply_to_smalltalk("hellooooo")
    assert reply_to_smalltalk("thankssss")


def test_an_introduction_is_small_talk_whatever_the_name():
    assert reply_to_smalltalk("Hi, I'm Zaphod")
    assert reply_to_smalltalk("My name is Zaphod Beeblebrox, nice to meet you")


@pytest.mark.parametrize("said", ["hello world", "asdf", "Guten Morgen", "Guten Tag!"])
def test_a_greeting_of_another_kind_and_mere_keys_are_small_talk(said):
    assert reply_to_smalltalk(said)


def test_triage_says_what_to_do():
    assert triage_message(ParsedPrompt(last_message="What is HNSW?")) == {
        "research": True,
        "reply": "",
    }
    assert triage_message(ParsedPrompt(last_message="hello"))["research"] is False
