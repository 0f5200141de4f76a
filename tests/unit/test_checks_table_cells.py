"""A cell is compared by its own numbers, not by those of its row, its column or its result."""

from __future__ import annotations

from report.checks.attribution import enforce_citations
from tests.cases import each_case

TEXTS = {
    "S1": (
        "# Reader survey, spring 2025\n\nOf 212 readers asked, 143 answered. Asked which branch "
        "they would miss least, 61 named Fenwick, 34 Birchley, 19 Elmstead, 12 Asterby and 8 "
        "Driftham."
    ),
    "S4": (
        "For branches with a lending hall a reserve of 2.4 % of the income is set aside when the "
        "branch is closed. Fenwick is the only branch with a lending hall."
    ),
    "S5": "有借阅大厅的分馆关闭时须留出收入的2.4%作为准备金。北桥分馆是唯一有借阅大厅的分馆。",
    "S3": (
        "branch: Fenwick Hill; loans a week: 61; days open: 5.\n"
        "branch: Birchley Park; loans a week: 34; days open: 4.\n"
        "branch: Elmstead Green; loans a week: 19; days open: 3."
    ),
    "S2": (
        "2025年读者调查：询问212名读者，143名作答。被问及最不舍不得哪个分馆时，61人选北桥分馆，"
        "34人选南山分馆，19人选东湖分馆，12人选西岭分馆。"
    ),
}
SHARES = "| Branch | Readers | Share of 143 |\n|---|---|---|\n"
ZH_SHARES = "| 分馆 | 人数 | 143人中的比例 |\n|---|---|---|\n"
LOANS = "| Branch | Loans a week | Share of 114 loans |\n|---|---|---|\n"
ASKED = "What does it cost to close Asterby, Birchley, Driftham, Elmstead or Fenwick?"
RULES = "| Branch | Reserve when closed |\n|---|---|\n"
ZH_RULES = "| 分馆 | 关闭时的准备金 |\n|---|---|\n"
ACROSS = "| | Asterby | Birchley | Fenwick |\n|---|---|---|---|\n"


def doubts(said: str) -> list[str]:
    checked = enforce_citations(said, TEXTS, ASKED if RULES in said else "")
    return [one["reason"] for one in (*checked.doubted, *checked.removed)]


@each_case(
    [
        f"{SHARES}| Fenwick | 61 [S1] | 61 / 143 = 42.7 % [S1] |",
        f"{SHARES}| Birchley | 34 [S1] | 34 / 143 = 23.8 % [S1] |",
        f"{SHARES}| Driftham | 8 [S1] | 8 / 143 = 5.6 % [S1] |",
        f"{ZH_SHARES}| 北桥分馆 | 61 [S2] | 61 / 143 = 42.7 % [S2] |",
        f"{ZH_SHARES}| 南山分馆 | 34 [S2] | 34 / 143 = 23.8 % [S2] |",
        f"{LOANS}| Fenwick Hill | 61 [S3] | 61 / (61 + 34 + 19) = 53.5 % [S3] |",
        f"{RULES}| Asterby | none prescribed [S4] |",
        f"{RULES}| Birchley, Elmstead, Asterby | none prescribed, since only branches with "
        "a lending hall need a reserve [S4] |",
        f"{ZH_RULES}| 南山分馆 | 无规定 [S5] |",
        f"{ACROSS}| Readers who would miss it least, of 143 | 12 [S1] | 34 [S1] | 61 [S1] |",
    ]
)
def test_a_right_share_and_the_total_in_a_heading_raise_nothing(said: str):
    assert doubts(said) == []


@each_case(
    [
        f"{SHARES}| Fenwick | 61 [S1] | 61 / 143 = 24.7 % [S1] |",
        f"{SHARES}| Fenwick | 34 [S1] | 34 / 143 = 23.8 % [S1] |",
        f"{SHARES}| Fenwick | 61 [S1] | 34 / 143 = 23.8 % [S1] |",
        f"{ZH_SHARES}| 北桥分馆 | 34 [S2] | 34 / 143 = 23.8 % [S2] |",
        f"{ACROSS}| Readers who would miss it least, of 143 | 12 [S1] | 61 [S1] | 34 [S1] |",
        f"{SHARES}| Fenwick | 77 [S1] | 77 / 143 = 53.8 % [S1] |",
        f"{RULES}| Birchley | none prescribed, since volcanoes erupted near Gravesend [S4] |",
        f"{RULES}| Fenwick | 4.2 % of the income [S4] |",
        f"{ZH_RULES}| 北桥分馆 | 收入的4.2% [S5] |",
        f"{LOANS}| Fenwick Hill | 34 [S3] | 34 / (61 + 34 + 19) = 29.8 % [S3] |",
        f"{LOANS}| Birchley Park | 61 [S3] | 61 / (61 + 34 + 19) = 53.5 % [S3] |",
        f"{ZH_SHARES}| 北桥分馆 | 61 [S2] | 61 / 143 = 24.7 % [S2] |",
        f"{ZH_SHARES}| 北桥分馆 | 77 [S2] | 77 / 143 = 53.8 % [S2] |",
    ]
)
def test_a_wrong_share_and_a_number_of_another_row_are_doubted(said: str):
    assert doubts(said) != []
