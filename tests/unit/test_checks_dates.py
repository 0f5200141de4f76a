"""Sums with dates, the time between two of them, and today are worked out, not doubted."""

from __future__ import annotations

from datetime import date

import pytest

from report.checks.attribution import enforce_citations
from report.checks.date_sums import add_time
from text.dates import PartialDate

TEXTS = {
    "S1": "Station Kaltenweg. Gauge: TB-7, number 7004. Last check: 17 March 2024.",
    "S2": "The TB-7 has a funnel of 400 cm² and needs a check every 36 months.",
    "S3": "Station Birkfeld. Gauge: TB-3. Last check: 20 August 2024. Access: open all year.",
}
CHINESE = {"S4": "雨量计 TB-7 上次检查：2024年3月17日。每36个月检查一次。"}
TODAY = date(2026, 11, 28)
HEAD = "| Station | Last check | Next check | State |\n|---|---|---|---|\n"


def doubts(said: str, today: date | None = TODAY) -> list[str]:
    checked = enforce_citations(said, CHINESE if "[S4]" in said else TEXTS, today=today)
    return [one["reason"] for one in checked.doubted]


@pytest.mark.parametrize(
    "said",
    [
        "The next check is due on 17 March 2024 + 36 months = 17 March 2027 [S1][S2].",
        "17 March 2024 plus 36 months = 17 March 2027 [S1][S2].",
        "20 August 2024 − 17 March 2024 = 156 days [S1][S3].",
        "下次检查：2024年3月17日 + 36个月 = 2027年3月17日[S4]。",
        "The last check of Birkfeld was on 20 August 2024, 156 days after 17 March 2024 [S1][S3].",
    ],
)
def test_a_right_calculation_with_dates_raises_nothing(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "The next check is due on 17 March 2024 + 36 months = 17 April 2027 [S1][S2].",
        "17 March 2024 + 36 months = 17 March 2026 [S1][S2].",
        "20 August 2024 − 17 March 2024 = 165 days [S1][S3].",
        "下次检查：2024年3月17日 + 36个月 = 2027年4月17日[S4]。",
    ],
)
def test_a_calculation_with_dates_that_does_not_come_out_is_marked(said: str):
    assert doubts(said) == ["calculation"]


def test_the_operands_of_a_calculation_with_dates_need_a_source():
    assert doubts("17 March 2023 + 36 months = 17 March 2026 [S1][S2].") != []
    assert doubts("17 March 2024 + 48 months = 17 March 2028 [S1][S2].") != []
    assert doubts("It is due on 17 March 2028, 48 months after 17 March 2024 [S1][S2].") != []


def test_a_later_sentence_may_name_a_date_that_was_computed():
    said = "17 March 2024 + 36 months = 17 March 2027 [S1][S2].\n\nIt is due on {} [S1]."
    assert doubts(said.format("17 March 2027")) == []
    assert doubts(said.format("17 March 2028")) == ["number"]


def test_a_row_may_name_the_date_after_an_interval_that_the_text_has_named():
    row = "| Kaltenweg | 17 March 2024 [S1] | {} [S1] | not due |"
    told = "The TB-7 needs a check every 36 months [S2].\n\n"
    assert doubts(told + HEAD + row.format("17 March 2027")) == []
    assert doubts(told + HEAD + row.format("17 March 2028")) != []
    assert doubts(HEAD + row.format("17 March 2027")) != []


def test_the_days_to_today_are_counted_from_a_date_of_the_row():
    row = "| Birkfeld | 20 August 2024 [S3] | 20 August 2026 | overdue by {} days |"
    told = "A TB-3 needs a check every 24 months, as I infer.\n\n"
    assert doubts(told + HEAD + row.format(100)) == []
    assert doubts(told + HEAD + row.format(110)) == ["number"]
    assert doubts(told + HEAD + row.format(100), date(2026, 11, 27)) == ["number"]


def test_today_may_be_named_and_no_other_day():
    said = "**Which visits are due (28 November 2026).**\n\nThe TB-7 needs a check [S2]."
    assert doubts(said) == []
    assert doubts(said, date(2026, 11, 27)) == ["number"]


def test_a_cell_without_a_citation_may_be_computed_from_two_that_have_one():
    texts = {
        "S1": "Our totals: March 52.6 mm, April 49.5 mm.",
        "S2": "The totals of the weather service: March 52.9 mm, April 39.4 mm.",
    }
    head = "| Month | Ours | Theirs | Ours / theirs |\n|---|---|---|---|\n"
    table = f"{head}| April | 49.5 [S1] | 39.4 [S2] | {{}} |"

    def reasons(cell: str) -> list[str]:
        checked = enforce_citations(table.format(cell), texts)
        return [one["reason"] for one in checked.doubted]

    assert reasons("1.256") == reasons("10.1") == []
    assert reasons("1.265") == reasons("12.1") == ["number"]
    assert reasons("1.256 [S2]") == ["number"]


def test_a_month_that_is_too_short_ends_a_sum_on_its_last_day():
    assert add_time(PartialDate(2026, 1, 31), 1, "month") == PartialDate(2026, 2, 28)
    assert add_time(PartialDate(2026, 1, 31), -1, "month") == PartialDate(2025, 12, 31)
    assert add_time(PartialDate(2026, 2, 0), 2, "year") == PartialDate(2028, 2, 0)
    assert add_time(PartialDate(2026, 2, 0), 2, "day") is None
    assert add_time(PartialDate(2026, 2, 28), 3, "week") == PartialDate(2026, 3, 21)
    assert add_time(PartialDate(2026, 2, 28), 99_999, "year") is None


COMMIT = (
    "Commit: 'd4e213b9ab4800dfbc7ac676c1fa3b9c424d9e15'\nAuthor: Emil Brandt\n"
    "Date: datetime.datetime(2026, 4, 1, 0, 5, tzinfo=<git.objects.util.tzoffset object at "
    "0x7f246c603b10>)\nMessage: 'Use the factor of the new sheet'\n"
)


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ("On 1 April 2026 at 0:05 Emil Brandt committed d4e213b [S1].", []),
        ("On 1 April 2026 at 00:05 Emil Brandt committed d4e213b9 [S1].", []),
        ("On 1 April 2026 at 0:15 Emil Brandt committed d4e213b [S1].", ["number"]),
        ("On 1 May 2026 at 0:05 Emil Brandt committed d4e213b [S1].", ["date"]),
        ("On 1 April 2026 at 0:05 Emil Brandt committed d4e312b [S1].", ["number"]),
        ("On 1 April 2026 at 0:05 Emil Brandt committed 213b9ab [S1].", ["number"]),
    ],
)
def test_a_commit_is_known_by_the_beginning_of_its_hash_and_by_its_time(
    said: str, reasons: list[str]
):
    doubted = enforce_citations(said, {"S1": COMMIT}).doubted
    assert [one["reason"] for one in doubted] == reasons


def test_the_day_of_a_source_may_be_named_where_it_is_cited():
    texts = {"S1": "We run Memcheck every night since May 2024. It takes 41 minutes."}
    names = {"S1": "Valgrind in CI\nhttp://blog.example/valgrind\n2025-11-10"}

    def reasons(said: str) -> list[str]:
        return [one["reason"] for one in enforce_citations(said, texts, "", names).doubted]

    assert reasons("The blog of 10 November 2025 runs Memcheck every night [S1].") == []
    assert reasons("《Valgrind in CI》（2025-11-10）每晚运行 Memcheck[S1]。") == []
    assert reasons("The blog of 10 December 2025 runs Memcheck every night [S1].") == ["date"]
    assert reasons("《Valgrind in CI》（2025-12-10）每晚运行 Memcheck[S1]。") == ["number"]


def test_months_at_the_head_of_figures_are_dates_of_a_source():
    texts = {"S1": "Published on 5 November 2026.\n\nstation: Moosach; March: 52.6; April: 49.5."}

    def reasons(said: str) -> list[str]:
        return [one["reason"] for one in enforce_citations(said, texts).doubted]

    assert reasons("The page has the totals of March and April 2026 [S1].") == []
    assert reasons("It has no totals for January and February [S1].") == []
    assert reasons("The page has the totals of March and May 2026 [S1].") == ["date"]


LEASES = {
    "S1": (
        "Lease of Hall Nord, signed on 14 May 2022, runs until 31 December 2029. Single rooms may "
        "be given up with a notice of six months to the end of a quarter."
    ),
    "S4": (
        "北馆租约于2022年5月14日签订，至2029年12月31日止。"
        "单个房间可退租，须提前六个月通知，至季度末生效。"
    ),
}
NOTICE = '<q s="S1">a notice of six months to the end of a quarter</q> [S1]. '
ZH_NOTICE = '<q s="S4">须提前六个月通知，至季度末生效</q>[S4]。'


def lease_doubts(said: str) -> list[str]:
    checked = enforce_citations(said, LEASES, today=TODAY)
    return [one["reason"] for one in (*checked.doubted, *checked.removed)]


@pytest.mark.parametrize(
    "said",
    [
        f"It takes {NOTICE}Notice given today, 28 November 2026, runs six months to 28 May 2027, "
        "so it takes effect at the end of the quarter, 30 June 2027 [S1].",
        f"It takes {NOTICE}To leave at 31 December 2026, notice would have had to be given by "
        "30 June 2026 [S1].",
        f"It takes {NOTICE}Give notice before the end of December 2026; the six months then lead "
        "to 30 June 2027 [S1].",
        f"规定{ZH_NOTICE}今天，即2026年11月28日通知，则六个月后是2027年5月28日，于2027年6月30日生效[S4]。",
    ],
)
def test_the_end_of_a_notice_is_worked_out_from_today_and_its_length(said: str):
    assert lease_doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        f"It takes {NOTICE}Notice given today, 28 November 2026, runs six months to 28 May 2027, "
        "so it takes effect at the end of the quarter, 30 September 2027 [S1].",
        f"It takes {NOTICE}Notice given today, 28 November 2026, runs six months to 28 April 2027, "
        "so it takes effect at the end of the quarter, 30 June 2027 [S1].",
        f"It takes {NOTICE}To leave at 31 December 2026, notice would have had to be given by "
        "31 July 2026 [S1].",
        f"It takes {NOTICE}The lease of Hall Nord runs until 31 December 2026 [S1].",
        f"It takes {NOTICE}The lease of Hall Nord, signed on 14 May 2022, runs until 30 June 2027 "
        "[S1].",
        f"规定{ZH_NOTICE}今天，即2026年11月28日通知，则六个月后是2027年5月28日，于2027年9月30日生效[S4]。",
        f"规定{ZH_NOTICE}租约至2026年12月31日止[S4]。",
    ],
)
def test_a_wrong_end_of_a_notice_and_the_end_of_a_quarter_alone_are_doubted(said: str):
    assert lease_doubts(said) != []
