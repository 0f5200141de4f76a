"""What a text works out, quotes or contrasts is no reason for a doubt; what is wrong in it is."""

from __future__ import annotations

from report.checks.attribution import enforce_citations
from tests.cases import each_case

RULES = (
    "# Lease terms, summary by the property office\n\n"
    "Cracks of Hall Nord in 2024 (serial numbers H1 to H90) were settled on goodwill and are not "
    "contained in the damage statistics. The lease of Hall Nord began on 2 May 2022, without an "
    "end.\n\nHall Nord had 86 visits in spring, 146 in summer, 139 in autumn and 82 in winter. "
    "It has 240 seats."
)
ZH_RULES = (
    "北馆2024年的裂缝是出于善意处理的，没有计入损坏统计。北馆春季有86人到访，夏季146人，秋季139人，"
    "冬季82人。座位240个。"
)
PRINTED = (
    "Computed by a program.\n\n"
    "Check: visit rows used 72, TOTAL rows left out 3\n"
    "Check: rows with the same quarter and hall twice 0; empty cells 0\n"
    "Lessor without Hall Nord, at 2025 use: 597 hours left, -103 against the minimum of 700, "
    "payment EUR 9,785 a year\n"
    "Lessor without Hall Ost, at 2025 use: 570 hours left, -130 against the minimum of 700, "
    "payment EUR 12,350 a year\n"
    + "\n".join(
        f"{hall} {year}: {hours} hours, rent after discounts EUR {rent}, EUR {each} per hour"
        for hall, year, hours, rent, each in (
            ("Hall Nord", 2024, 536, "447,033", 244),
            ("Hall Nord", 2025, 453, "391,563", 246),
            ("Hall Ost", 2024, 452, "533,376", 448),
            ("Hall Ost", 2025, 480, "582,719", 447),
        )
    )
)
TEXTS = {"S1": RULES, "S2": PRINTED, "S3": ZH_RULES}


def doubts(said: str) -> list[str]:
    checked = enforce_citations(said, TEXTS, computed=["S2"])
    return [one["reason"] for one in (*checked.doubted, *checked.removed)]


@each_case(
    [
        "That is 240 / (86 + 146 + 139 + 82) × 12 = 240 / 453 × 12 = 6.4 seats a visit [S1].",
        "每次到访有 240 / (86 + 146 + 139 + 82) × 12 = 240 / 453 × 12 = 6.4 个座位 [S3]。",
        "Cracks of Hall Nord in 2024, on serial numbers H1 to H90, "
        '<q s="S1">were settled on goodwill and are not contained in the damage statistics</q> '
        "[S1].",
        'The lease of Hall Nord began on 2 May 2022, <q s="S1">without an end</q> [S1].',
        '北馆2024年的裂缝<q s="S3">是出于善意处理的，没有计入损坏统计</q> [S3]。',
        "All lease terms come from the summary by the property office, not from the leases [S1].",
        "**Data.** 72 rows were used and 3 TOTAL rows left out; these agree with the sums of the "
        "quarters [S2].",
        "Without Hall Nord 597 hours are left; Hall Ost itself had 480 hours in 2025 [S2].",
    ]
)
def test_what_is_worked_out_quoted_or_contrasted_rightly_raises_nothing(said: str):
    assert doubts(said) == []


@each_case(
    [
        "That is 240 / (86 + 146 + 139 + 82) × 12 = 240 / 453 × 12 = 7.4 seats a visit [S1].",
        "That is 240 / (86 + 146 + 418 + 82) × 12 = 240 / 732 × 12 = 3.9 seats a visit [S1].",
        "每次到访有 240 / (86 + 146 + 139 + 82) × 12 = 240 / 435 × 12 = 6.6 个座位 [S3]。",
        "每次到访有 240 / (86 + 146 + 418 + 82) × 12 = 240 / 732 × 12 = 3.9 个座位 [S3]。",
        "Cracks of Hall Nord in 2024 were settled on goodwill and are contained in the damage "
        "statistics [S1].",
        'Cracks of Hall Nord in 2024 are contained in the damage statistics, since they <q s="S1">'
        "were settled on goodwill</q> [S1].",
        "北馆2024年的裂缝是出于善意处理的，计入了损坏统计 [S3]。",
        "Without Hall Nord 597 hours are left; Hall Ost itself had 453 hours in 2025 [S2].",
        "Without Hall Nord 597 hours are left; Hall Ost itself had 452 hours in 2025 [S2].",
    ]
)
def test_what_is_worked_out_or_told_wrongly_is_doubted(said: str):
    assert doubts(said) != []
