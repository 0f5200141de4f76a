"""Calculations that are written out are verified from their operands; right ones raise nothing."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from tests.cases import each_case

EN = (
    "A checkpoint runs at 1000 pages. Many raise it to 4000 pages. A page has 4096 bytes. "
    "The old mode made 412 commits a second, the new one 3870. The pool is 25 metres long."
)
ZH = "日志达到1000页时执行检查点，有人改为4000页。每页4096字节。旧模式每秒412次提交，新模式3870次。"
TEXTS = {"S1": EN, "S2": ZH}


def doubts(said: str) -> list[str]:
    checked = enforce_citations(said, TEXTS)
    assert checked.body == said
    return [one["reason"] for one in checked.doubted]


@each_case(
    [
        "1000 × 4096 = 4,096,000 bytes, about 4.1 MB [S1].",
        "Raised to 4000 pages it would be about 16.4 MB [S1], with 4096 bytes each [S1].",
        "That is 4000 × 4096 = 16,384,000 bytes ≈ 15.6 MiB [S1].",
        "1000 pages × 4096 bytes = 4,096,000 bytes, or roughly 4,100,000 [S1].",
        "By these figures the ratio of the second to the first is 3870 ÷ 412 ≈ 9.4 [S1].",
        "3870 - 412 = 3458, and 3458 / 412 = 8.4 [S1].",
        "412 × 60 = 24,720 a minute, 24,720 × 60 = 1,483,200 an hour [S1].",
        "412 / 3870 = 10.6% [S1].",
        "Nine lengths make 9 × 25 = 225 metres [S1].",
        "1000 × 4096 = 4096 × 1000 = 4,096,000 [S1].",
        "1000 × 4096 = 4,096,000 字节，约 4.1 MB [S2]。",
        "按这两个数，新模式约为旧模式的 3870 ÷ 412 ≈ 9.4 倍 [S2]。",
        "改为4000页时，4000 × 4096 = 16,384,000 字节 ≈ 16.4 MB [S2]。",
        "每分钟 412 × 60 = 24,720 次 [S2]。",
        "两者相差 3870 − 412 = 3458 次，约 3500 次 [S1]。",
    ]
)
def test_a_right_calculation_raises_nothing(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("1000 × 4096 = 4,196,000 bytes [S1].", "calculation"),
        ("The ratio of them is 3870 ÷ 412 ≈ 8.4 [S1].", "calculation"),
        ("1000 pages × 4096 bytes = 4,906,000 bytes [S1].", "calculation"),
        ("3870 - 412 = 3458 = 412 × 9 [S1].", "calculation"),
        ("1000 × 4096 = 4,096,000 字节，约 5.2 MB [S2]。", "number"),
        ("按这两个数，约为 3870 ÷ 412 ≈ 7.9 倍 [S2]。", "calculation"),
        ("777 × 4096 = 3,182,592 bytes [S1].", "number"),
    ],
)
def test_a_wrong_calculation_is_marked(said: str, reason: str):
    assert doubts(said) == [reason]
