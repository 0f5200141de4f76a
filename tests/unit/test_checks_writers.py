"""What a careful writer does with a source is kept: rounding, other units, summaries, openings."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.quantities import extract_source_numbers, list_derivable_numbers
from tests.cases import each_case

BRIDGE = (
    "The Harl Bridge was opened in 1931 and was widened in 1958. Its main span is 412 feet long "
    "and it weighs 18,640 tons. The engineer Ida Brandt was born in 1889 and died in 1951. The "
    "cache of its control room needs 7400k of memory. Visitors should not climb the towers. The "
    "old toll house no longer exists. Set `span_max` before the tests. "
)
PARK = (
    "松谷公园1926年建成，1953年扩建。园内小路全长3.2公里，面积约5180平方米。园丁在2004年6月12日种下第一棵樱花树，"
    "2009，316人参加活动。东门由建筑师何塞普·马丁设计并监督施工，前后用了两年。西门由卢卡·贝里尼设计。水塔在西门旁。管理员是何塞普·塞拉。"
)
TEXTS = {"S1": BRIDGE, "S2": PARK}


def doubts(text: str) -> list[str]:
    checked = enforce_citations(text, TEXTS)

    assert (checked.body, checked.removed) == (text, [])
    return [one["reason"] for one in checked.doubted]


@each_case(
    [
        "The main span measures about 126 m [S1].",
        "It weighs about 19,000 tons [S1].",
        "It was widened 27 years after its opening [S1].",
        "The bridge, opened in 1931, was widened 27 years later [S1].",
        "Ida Brandt died at 62 [S1].",
        "In the 1930s the Harl Bridge was opened [S1].",
        "The bridge is a work of the 20th century [S1].",
        "The control room needs 7.4 MB of memory [S1].",
        "By contrast, visitors must not climb the towers [S1].",
        "小路全长约2英里[S2]。",
        "小路全长3200米[S2]。",
        "公园建成27年之后扩建[S2]。",
        "面积约5200平方米[S2]。",
        "参加活动的有316人[S2]。",
        "总的来说，园内小路不长[S2]。",
        "管理员是塞拉[S2]。",
        "东门与西门分别由马丁和贝里尼设计[S2]。",
    ]
)
def test_what_follows_from_a_source_raises_nothing(said: str):
    assert doubts(said) == []


@each_case(
    [
        ("The main span measures about 162 m [S1].", "number"),
        ("It weighs about 16,000 tons [S1].", "other_number"),
        ("The bridge, opened in 1931, was widened 35 years later [S1].", "other_number"),
        ("Ida Brandt died at 71 [S1].", "other_number"),
        ("In the 1940s the Harl Bridge was opened [S1].", "number"),
        ("The control room needs 9.4 MB of memory [S1].", "number"),
        ("Visitors should climb the towers [S1].", "negation"),
        ("The old toll house still exists today [S1].", "negation"),
        ("The engineer Ida Brandt was born in Lisbon in 1889 and died in 1951 [S1].", "name"),
        ("管理员是郑可风[S2]。", "name"),
        ("小路全长约5.4英里[S2]。", "other_number"),
        ("公园建成45年之后扩建[S2]。", "other_number"),
        ("园丁在2004年7月12日种下第一棵樱花树[S2]。", "date"),
        ("东门由建筑师卢卡·贝里尼设计并监督施工，前后用了两年[S2]。", "name"),
    ]
)
def test_what_does_not_follow_is_still_marked(said: str, reason: str):
    assert doubts(said) == [reason]


@each_case(
    [
        "Four aspects are worth a look: how long it is, what it weighs, who built it, and when.",
        "The answer falls into two parts.",
        "This section compares the bridge with the park.",
        "In what follows, the oldest account comes first.",
        "There are three questions to answer.",
        "本文分为两部分：桥梁和公园。",
        "以下先介绍桥梁，再介绍公园。",
        "有三个问题需要回答。",
        "要点如下。",
        "In our opinion, the bridge is the finer work.",
        "I would suggest a visit in spring.",
        "If we had to pick one, we would pick the park.",
        "在我看来，公园更值得一去。",
        "我们建议春天去。",
        "我更喜欢这座桥。",
    ]
)
def test_what_opens_a_report_or_is_marked_as_an_opinion_needs_no_source(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Three points matter: the bridge cost 40 million, it leaks, and nobody ever liked it.",
        "The dam was built by prisoners of the second war and is cracked in many places.",
        "本文认为大坝由战俘修建，许多地方已经开裂，而且从来没有人检查过它的基础。",
    ],
)
def test_an_opening_that_claims_something_needs_a_source(said: str):
    assert [one["reason"] for one in enforce_citations(said, TEXTS).removed] == ["no_source"]


@pytest.mark.parametrize(
    "said",
    [
        "The page does not say whether pedestrians, cyclists or lorries use it today [S1].",
        "I infer from this that traffic had outgrown the original roadway [S1].",
        "由此推测，当时前来游玩的市民越来越多[S2]。",
        "资料没有说明门票价格和开放时间[S2]。",
    ],
)
def test_a_caveat_or_an_inference_may_use_words_that_its_source_has_not(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "By default, the guard closes existing gates [S1].",
        "Existing gates are closed by the guard by default [S1].",
    ],
)
def test_the_opposite_of_a_sentence_is_seen_in_whatever_order_its_words_stand(said: str):
    texts = {"S1": f"{BRIDGE}The guard will by default not close existing gates."}

    assert [one["reason"] for one in enforce_citations(said, texts).doubted] == ["negation"]
    assert not enforce_citations("Existing gates are not closed by default [S1].", texts).doubted


def test_a_sentence_that_begins_with_code_is_a_sentence_of_its_own():
    checked = enforce_citations(
        "The page speaks of “a tunnel of glass” [S1]. `span_max` is set [S1].", TEXTS
    )

    assert checked.body == "`span_max` is set [S1]."


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ("The first cherry tree was planted on 12 June 2004 [S2].", []),
        ("The first cherry tree was planted on 12 May 2004 [S2].", ["date"]),
        ("The first cherry tree was planted on 21 June 2004 [S2].", ["number"]),
        ("The paths are 3.2 km long in all [S2].", []),
        ("桥由工程师 Ida Brandt 设计[S1]。", []),
        ("桥由工程师 Greta Holm 设计[S1]。", ["name"]),
        ("桥于1931年启用，1958年加宽[S1]。", []),
        ("桥于1931年启用，1968年加宽[S1]。", ["number"]),
    ],
)
def test_dates_numbers_and_names_in_latin_letters_are_compared_across_languages(
    said: str, reasons: list[str]
):
    assert doubts(said) == reasons


def test_a_quantity_is_compared_with_quantities_of_its_own_kind_only():
    source = extract_source_numbers("The mast is 60 feet high and weighs 5 tons.")

    assert list_derivable_numbers("It is 18.3 m high", [], [source]) == [18.3]
    assert list_derivable_numbers("It weighs 18.3 kg", [], [source]) == []
