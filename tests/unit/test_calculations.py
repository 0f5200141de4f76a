"""What a text reckons is computed again: right results stay unmarked, wrong ones stay marked."""

from __future__ import annotations

import pytest

from report.checks.attribution import CheckedText, enforce_citations
from tests.cases import each_case

EN = (
    "The pump moves 45 litres a minute. A tank holds 2700 litres and the site has 14 tanks. "
    "The service contract costs 380 euros a quarter. A spare membrane costs 95 euros. "
    "The old pump moved 30 litres a minute. A filter lasts 90 days."
)
ZH = (
    "这台水泵每分钟抽水45升。每个水箱可容纳2700升，站点共有14个水箱。维护合同每季度380元。备用滤膜每张95元。"
    "旧水泵每分钟抽水30升。滤芯可用90天。"
)
TEXTS = {"S1": EN, "S2": ZH}
LEAD = "The pump moves 45 litres a minute, and a tank holds 2700 litres [S1]. "
ZH_LEAD = "这台水泵每分钟抽水45升，每个水箱可容纳2700升 [S2]。"

TABLE = """The site has 14 tanks, each of 2700 litres [S1].

| part | quantities | euros |
|---|---|---|
| contract | 4 quarters, 380 each | 1520 |
| membranes | 12 pieces, 95 each | {} |
| other parts | none | 0 |
"""
ZH_TABLE = """站点共有14个水箱，每个可容纳2700升 [S2]。

| 项目 | 数量 | 元 |
|---|---|---|
| 合同 | 4 季度，每季度 380 | 1520 |
| 滤膜 | 12 张，每张 95 | {} |
"""


def checked(
    said: str, asked: str = "What does it cost to run the pump for 12 months?"
) -> CheckedText:
    return enforce_citations(said, TEXTS, asked)


def reasons(found: CheckedText) -> list[str]:
    return [one["reason"] for one in found.doubted]


@each_case(
    [
        LEAD + "So one tank is full after 60 minutes.",
        LEAD + "Filling a tank would take an hour, that is 2700 divided by 45 or 60 minutes.",
        LEAD
        + "All 14 tanks together make 37,800 litres. At that rate they are full after 840 minutes.",
        LEAD + "The old one moved 30 litres [S1]. The new one is faster by a factor of 1.5.",
        LEAD + "The old one moved 30 litres [S1]. That is a difference of 15 litres, or 50 %.",
        LEAD + "With 14 tanks the total would be about 38,000 litres.",
        LEAD + "That is, for the site with 14 tanks, 14 × 2700 ≈ 37,800 litres.",
        LEAD + "So a tank of that size takes 2700 ÷ 45 ≈ 60 minutes in all.",
        LEAD
        + "A tank needs 60 minutes, namely 2700 ÷ 45 [S1]. The 60 minutes hold for each tank [S1].",
        "Four quarters and 12 membranes at 95 euros make 4 × 380 + 12 × 95 = 2660 euros [S1]. "
        "Altogether that is roughly 222 euros a month.",
        "(14 − 2) × 2700 = 32,400 litres [S1]. Taken together, these fill in 720 minutes at 45.",
        "A filter lasts 90 days [S1], which is 2160 hours.",
        "14 x 2700 = 37,800 litres take 840 minutes at 45 a minute [S1], which is 14 hours.",
        "14 × 2700 = 37,800 litres make 840 minutes at 45, which is 14 hours and 0 minutes [S1].",
        ZH_LEAD + "因此一个水箱需要 60 分钟。",
        ZH_LEAD + "14 个水箱合计 37,800 升。照此计算，总共需要 840 分钟。",
        ZH_LEAD + "旧水泵每分钟抽水30升 [S2]。新水泵是旧水泵的 1.5 倍。",
        ZH_LEAD + "14 个水箱总计约 38,000 升。",
        "2700 除以 45 等于 60 分钟，也就是 1 小时 [S2]。",
        TABLE.format(1140),
        ZH_TABLE.format(1140),
    ]
)
def test_a_result_that_follows_from_the_text_stays_without_a_mark(said: str):
    found = checked(said)
    assert (found.removed, reasons(found)) == ([], [])


@each_case(
    [
        LEAD + "All 14 tanks have a total of 38,700 litres.",
        LEAD + "The old one moved 30 litres [S1]. The new one is faster by a factor of 1.9.",
        LEAD + "A tank needs 75 minutes, namely 2700 ÷ 45 [S1].",
        LEAD + "At that rate 14 of them are full after 940 minutes.",
        "4 × 380 + 12 × 95 = 2760 euros [S1].",
        "(14 − 2) × 2700 = 34,200 litres.",
        "14 × 2700 = 37,800 litres at 45 a minute take 840 minutes, which is 12 hours [S1].",
        ZH_LEAD + "14 个水箱合计 38,700 升。",
        ZH_LEAD + "旧水泵每分钟抽水30升 [S2]。新水泵是旧水泵的 1.9 倍。",
        "2700 除以 45 等于 60 分钟，也就是 2 小时 [S2]。",
        TABLE.format(1240),
        ZH_TABLE.format(1240),
    ]
)
def test_a_result_that_does_not_come_out_is_marked_and_stays(said: str):
    found = checked(said)
    assert found.removed == []
    assert len(found.doubted) >= 1


@pytest.mark.parametrize(
    "said",
    [
        LEAD + "Adding these up, I computed 61,111 litres.",
        LEAD + "8123 × 77 = 625,471 litres.",
        ZH_LEAD + "8123 × 77 = 625,471 升。",
    ],
)
def test_a_calculation_with_unknown_operands_is_at_most_marked(said: str):
    found = checked(said)
    assert found.removed == []
    assert reasons(found) in ([], ["no_source"], ["calculation"])


@pytest.mark.parametrize(
    "said",
    [
        LEAD + "The factory was founded by two brothers in 1921.",
        LEAD + "Its owners sold 5400 machines to Norway.",
        ZH_LEAD + "这家工厂由两兄弟于1921年创办。",
        LEAD + "| maker | country |\n",
    ],
)
def test_a_claim_that_reckons_nothing_is_still_taken_out(said: str):
    assert len(checked(said).removed) == 1


def test_a_result_may_be_named_again_by_a_sentence_that_cites_another_source():
    said = "14 × 2700 = 37,800 litres [S1].\n\nThe 37,800 litres are what the tanks hold [S1]."
    assert reasons(checked(said)) == []


def test_a_wrong_result_is_not_known_to_later_sentences():
    said = "14 × 2700 = 37,300 litres [S1].\n\nThe 37,300 litres are what the tanks hold [S1]."
    assert len(reasons(checked(said))) == 2
