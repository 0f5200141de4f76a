"""A Chinese report may list what is not known as questions, which need no source."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

TEXTS = {"S1": "镜像阵列把同样的数据写到每块盘上。"}


@pytest.mark.parametrize(
    ("bullet", "doubted"),
    [
        ("启动盘坏时怎样恢复引导程序和分区表。", False),
        ("重建要多久、期间再坏盘的风险多大。", False),
        ("你们的盘的大小和可接受的停机时间，这些会改变上面的选择。", False),
        ("镜像阵列比校验阵列快百分之二十。", True),
    ],
)
def test_what_is_not_known_is_doubted_only_where_it_claims_something(bullet: str, doubted: bool):
    body = f"镜像阵列把同样的数据写到每块盘上[S1]。\n\n## 尚不清楚\n\n- {bullet}\n"

    checked = enforce_citations(body, TEXTS, "")

    assert bullet in checked.body
    assert bool(checked.doubted) == doubted
