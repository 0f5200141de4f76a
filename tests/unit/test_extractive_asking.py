import pytest

from tests.cases import each_case
from text.topics import is_generative_request, strip_request_phrases


@each_case(
    [
        ("Please tell me what the waggle dance is", "what the waggle dance is"),
        ("I would like to know how bees keep warm", "how bees keep warm"),
        ("Can you tell me how long a queen lives?", "how long a queen lives?"),
        ("Hi, could you please explain why bees dance?", "why bees dance?"),
        ("Tell me more about von Frisch", "von Frisch"),
        ("I'm interested in round dances", "round dances"),
        ("你好，请帮我查一下蜜蜂怎样过冬", "蜜蜂怎样过冬"),
        ("我想知道蜜蜂为什么跳舞", "蜜蜂为什么跳舞"),
        ("In two short sentences, why do bees dance?", "why do bees dance?"),
        ("What is a hive? Please answer in French.", "What is a hive?"),
        ("Briefly, what is a drone? One sentence only.", "what is a drone?"),
        ("Why do bees dance? Keep it short.", "Why do bees dance?"),
        ("Explain the round dance in at most 50 words", "Explain the round dance"),
        ("How do bees find water, as a table please", "How do bees find water"),
        ("请用中文回答：什么是蜂王？", "什么是蜂王？"),
        ("蜜蜂怎样过冬？请用三点回答", "蜜蜂怎样过冬？"),
        ("能不能告诉我大红袍生长在哪里？", "大红袍生长在哪里？"),
    ]
)
def test_words_that_only_ask_politely_are_left_out(said, asked):
    assert strip_request_phrases(said) == asked


@pytest.mark.parametrize(
    "said",
    [
        "Can bees see red?",
        "How many words are in one sentence?",
        "What is in short supply?",
        "What is HNSW?",
        "please",
        "tell me",
        "你好",
        "请",
    ],
)
def test_a_question_and_mere_politeness_stay_as_they_are(said):
    assert strip_request_phrases(said) == said


@each_case(
    [
        "2+2?",
        "What is 2 + 2?",
        "Calculate 15*3",
        "Write a haiku about the waggle dance",
        "Please write me a short poem about bees",
        "Tell me a story about bees",
        "Translate this into French: the queen lays eggs",
        "How do you say bee in French?",
        "写一首关于武夷岩茶的诗",
        "把这段话翻译成英文",
        "请帮我写一封邮件",
        "2加2等于几？",
    ]
)
def test_a_poem_a_translation_and_a_sum_are_more_than_quotes_can_give(said):
    assert is_generative_request(said)


@pytest.mark.parametrize(
    "said",
    [
        "What is a haiku?",
        "How do I write a letter?",
        "Write a report on bees",
        "What is the function of the queen?",
        "What happened in 1914-1918?",
        "谁翻译了这本书？",
        "写一篇关于蜜蜂的报告",
    ],
)
def test_a_question_about_a_poem_and_a_report_are_not(said):
    assert not is_generative_request(said)
