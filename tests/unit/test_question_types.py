"""A question that asks its answer to choose is told from one about what others recommend."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from text.question_types import asks_judgement, asks_recommendation


@each_case(
    [
        "Compare A and B and recommend one.",
        "Which pump should I buy for my well, the Dunmore or the Keel?",
        "Should we migrate to Postgres?",
        "What is the best database for logs?",
        "Which is better, A or B?",
        "Is the Keel pump worth buying?",
        "Summarise the three reports and give a recommendation.",
        "Please suggest a pump.",
        "Which one would you choose?",
        "A or B: which one to choose?",
        "What should we do about the leak?",
        "新泵和吉井泵哪一种更适合家用水井？请推荐一种。",
        "我们应该选哪个数据库？",
        "比较两种泵，并推荐一种",
        "给出你的建议",
        "哪款手机最值得买？",
        "要不要升级？",
        "该用哪种协议？",
    ]
)
def test_a_question_for_a_choice_is_known(question: str):
    assert asks_recommendation(question)
    assert asks_judgement(question)


@each_case(
    [
        "How many bees are in a hive?",
        "What does the manual recommend for cleaning?",
        "Which dose did the WHO recommend?",
        "Who recommended the change?",
        "How should I set the timeout?",
        "When should the filter be changed?",
        "What is the best way to clean it?",
        "What happens at the right side?",
        "What is the difference between A and B?",
        "What is known about the recommendation system?",
        "手册推荐的油压是多少？",
        "谁发明了八字舞？",
    ]
)
def test_any_other_question_asks_for_no_choice(question: str):
    assert not asks_recommendation(question)


@pytest.mark.parametrize(
    "question", ["What do you think of it?", "Assess the risk.", "评价这个方案"]
)
def test_a_question_may_ask_for_a_judgement_without_a_choice(question: str):
    assert asks_judgement(question)
    assert not asks_recommendation(question)
