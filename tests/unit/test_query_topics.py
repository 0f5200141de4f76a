"""A query is sent to the providers that know most of what it is about."""

from __future__ import annotations

from tests.cases import each_case
from tools.web.query_topics import classify_query

LABELLED = [
    ("academic", "systematic review of intermittent fasting and insulin resistance"),
    ("academic", "randomized controlled trial vitamin D depression"),
    ("academic", "arXiv attention is all you need"),
    ("academic", "10.1038/s41586-020-2649-2"),
    ("academic", "meta-analysis of mindfulness based stress reduction"),
    ("academic", "peer-reviewed studies on microplastics in human blood"),
    ("academic", "research papers about retrieval augmented generation"),
    ("academic", "evidence for the efficacy of spaced repetition"),
    ("academic", "protein folding mechanisms in prions"),
    ("academic", "大语言模型幻觉 综述 论文"),
    ("academic", "间歇性禁食 随机对照 临床试验"),
    ("academic", "微塑料对人体健康影响的文献"),
    ("encyclopedia", "who was Ada Lovelace"),
    ("encyclopedia", "history of the Ottoman Empire"),
    ("encyclopedia", "What is photosynthesis?"),
    ("encyclopedia", "capital of Burkina Faso"),
    ("encyclopedia", "when was the Eiffel Tower built"),
    ("encyclopedia", "who invented the telegraph"),
    ("encyclopedia", "biography of Marie Curie"),
    ("encyclopedia", "origin of the word robot wikipedia"),
    ("encyclopedia", "李白是谁"),
    ("encyclopedia", "什么是光合作用"),
    ("encyclopedia", "丝绸之路的历史"),
    ("encyclopedia", "谁发明了电话"),
    ("news", "latest news about the Mars mission"),
    ("news", "election results Germany"),
    ("news", "breaking news earthquake Japan"),
    ("news", "what happened today in parliament"),
    ("news", "headlines on the semiconductor industry"),
    ("news", "company announces merger, latest"),
    ("news", "recent developments in the ceasefire talks"),
    ("news", "台风 最新消息"),
    ("news", "今天的国际新闻"),
    ("news", "人工智能 最新进展"),
    ("code", "python asyncio.gather exception handling"),
    ("code", "how to reverse a list in Rust"),
    ("code", "TypeError: 'NoneType' object is not subscriptable"),
    ("code", "git rebase onto another branch"),
    ("code", "github repository for a robots.txt parser"),
    ("code", "docker build cache not used, how do I fix it in docker"),
    ("code", "open source library for PDF parsing"),
    ("code", "postgres index not used in query"),
    ("code", "Python 如何读取 CSV 代码"),
    ("code", "Java 报错 空指针"),
    ("code", "开源实现 向量数据库"),
    ("data", "GDP of France since 2000"),
    ("data", "unemployment rate in Spain by year"),
    ("data", "population of Nigeria 2023"),
    ("data", "life expectancy Japan world bank"),
    ("data", "CO2 emissions per capita by country"),
    ("data", "inflation rate Turkey statistics"),
    ("data", "datasets on urban air quality"),
    ("data", "中国 国内生产总值 历年"),
    ("data", "印度 失业率 统计数据"),
    ("data", "日本 预期寿命"),
    ("general", "how do bees dance"),
    ("general", "best hiking boots for wide feet"),
    ("general", "compare heat pumps and gas boilers for old houses"),
    ("general", "opening hours of the harbour museum"),
    ("general", "why do cats purr"),
    ("general", "cheap flights to Lisbon in spring"),
    ("general", "草莓蛋糕怎么做"),
    ("general", "杭州周末带孩子去哪里玩"),
    ("general", "如何挑选适合初学者的吉他"),
]
"""Queries as people and planners write them, with what each is about."""


@each_case(LABELLED)
def test_a_query_is_told_by_its_words(topic: str, query: str):
    assert classify_query(query) == topic


def test_a_very_long_query_is_told_as_quickly():
    assert classify_query("bees dance in the hive " * 5_000) == "general"
