"""A request to change the last report is told from a question, by plain wording alone."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from text.revision_requests import parse_revision_request, resolve_section


@each_case(
    [
        ("shorten", "shorten", "", ""),
        ("Make it shorter, please.", "shorten", "", ""),
        ("Could you make the report a bit shorter?", "shorten", "", ""),
        ("Please shorten this report", "shorten", "", ""),
        ("shorter", "shorten", "", ""),
        ("缩短一下", "shorten", "", ""),
        ("请把报告写得短一点", "shorten", "", ""),
        ("太长了", "shorten", "", ""),
        ("as a table", "rewrite", "", ""),
        ("Show it as a table.", "rewrite", "", ""),
        ("put this in bullet points please", "rewrite", "", ""),
        ("simplify it", "rewrite", "", ""),
        ("Rewrite it for ten-year-olds", "rewrite", "", ""),
        ("compare as a table", "rewrite", "", ""),
        ("Compare them in a table", "rewrite", "", ""),
        ("compare the two options in a table, please", "rewrite", "", ""),
        ("做成表格", "rewrite", "", ""),
        ("用表格列出", "rewrite", "", ""),
        ("translate it into Chinese", "rewrite", "", "zh"),
        ("Translate to English", "rewrite", "", "en"),
        ("Translate the report to German", "rewrite", "", ""),
        ("in Chinese please", "rewrite", "", "zh"),
        ("翻译成英文", "rewrite", "", "en"),
        ("用中文写", "rewrite", "", "zh"),
        ("Go deeper on section 2", "deepen", "section 2", ""),
        ("go deeper into the noise of heat pumps", "deepen", "the noise of heat pumps", ""),
        ("More detail on the second part, please", "deepen", "the second part", ""),
        ("Expand on the costs", "deepen", "the costs", ""),
        ("Go deeper", "deepen", "", ""),
        ("深入研究第二节", "deepen", "第二节", ""),
        ("详细说说第3部分", "deepen", "第3部分", ""),
        ("第二节再详细一点", "deepen", "第二节", ""),
        ("展开讲讲成本", "deepen", "成本", ""),
        ("add the noise levels", "add", "the noise levels", ""),
        ("Please also add a section on noise to the report.", "add", "noise", ""),
        ("Include prices in 2025", "add", "prices in 2025", ""),
        ("That is wrong: the pump was moved in 2023", "add", "the pump was moved in 2023", ""),
        ("No, that's not true - it costs 40 euros", "add", "it costs 40 euros", ""),
        ("不对：水泵是2023年移走的", "add", "水泵是2023年移走的", ""),
        ("补充噪音数据", "add", "噪音数据", ""),
        ("加上关于价格的内容", "add", "价格的内容", ""),
    ]
)
def test_a_plain_request_is_recognized(message: str, kind: str, topic: str, language: str):
    assert parse_revision_request(message) == (kind, topic, language)


@each_case(
    [
        "",
        "How do heat pumps work?",
        "Which table is longer?",
        "What does shorter mean?",
        "Add 5 and 7",
        "add milk to my list",
        "Is a shorter report better?",
        "How can I shorten a skirt?",
        "Is it possible to add a battery to a heat pump?",
        "Translate “good morning” to German",
        "Why are tables used in reports?",
        "Which cable is cheaper, and why?",
        "热泵怎么缩短寿命？",
        "谁翻译了这本书？",
        "什么是深入学习？",
        "Thanks!",
        "make it so",
        "shorten it\nand tell me who wrote it",
    ]
)
def test_a_question_or_an_order_of_another_kind_is_none(message: str):
    assert parse_revision_request(message) is None


@pytest.mark.parametrize(
    ("topic", "title"),
    [
        ("section 2", "Noise"),
        ("Section two", "Noise"),
        ("the second section", "Noise"),
        ("the last part", "Noise"),
        ("第二节", "Noise"),
        ("第1部分", "Cost"),
        ("section 3", None),
        ("the noise", "the noise"),
        ("section 2 of the law", "section 2 of the law"),
    ],
)
def test_a_section_is_named_by_its_number(topic: str, title: str | None):
    assert resolve_section(topic, ["Cost", "Noise"]) == title


def test_no_report_without_sections_has_a_section():
    assert resolve_section("the last section", []) is None
