"""What is right and said in other words, or reckoned out, is not doubted."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

GUIDE = (
    "Tape versions prior to 3.4.1 (April 2009) had a bug that kept the lock. The sweep starts when "
    "the dead rows exceed a base of 50 rows plus 0.2 times the rows of the table. All of a sudden "
    "rows that were in the past appear to be in the future, which makes them invisible; the sweep "
    "freezes them. Older drives wind the tape back by themselves. The vendor cannot guarantee that "
    "cassettes of other makers fit, and a jam may damage the heads. Set the speed with `tapectl`."
)
LIST = "ledger: 1,200,000 rows, 245,000 dead. visits: 4,000 rows, 930 dead."
TEXTS = {"S1": GUIDE, "S2": LIST}
TITLES = {"S1": "Sweeping tapes", "S2": "Older cassettes, rows by table"}


def doubts(text: str, question: str = "") -> list[str]:
    checked = enforce_citations(text, TEXTS, question, TITLES)
    assert checked.removed == []
    return [one["reason"] for one in checked.doubted]


@pytest.mark.parametrize(
    "said",
    [
        "The lock was kept by a bug before 3.4.1 of April 2009 [S1].",
        "50 + 0.2 × 1,200,000 = 240,050, which its 245,000 dead rows exceed by 4,950 [S1][S2].",
        "The rows of the past would, one day, seem to lie before us and be invisible [S1].",
        "Older versions wound back on their own [S1].",
        "The vendor does not guarantee that cassettes of other makers fit [S1].",
    ],
)
def test_what_is_right_in_other_words_is_not_doubted(said: str):
    assert doubts(said) == []


def test_another_date_beside_the_same_version_is_doubted():
    assert doubts("The lock was kept by a bug before 3.4.1 of May 2009 [S1].") == ["date"]


@pytest.mark.parametrize(
    ("lead", "head"),
    [
        ("The sweep of each table:", "Limit (own arithmetic)"),
        ("The limits below were worked out by hand from the formula:", "Limit"),
        ("各表的阈值是我推算的：", "Limit"),
        ("The rows of each table:", "阈值（自行推算）"),
    ],
)
def test_a_table_that_is_said_to_be_computed_may_have_numbers_of_its_own(lead: str, head: str):
    table = f"| Table | Dead | {head} | Over |\n|---|---|---|---|\n| ledger | 245,000 [S2] |"

    assert doubts(f"{lead}\n\n{table} 240,050 | by 4,950 |") == []
    assert "number" in doubts(f"{lead}\n\n{table.replace('245', '265')} 240,050 | by 4,950 |")


def test_a_table_that_is_not_said_to_be_computed_may_have_none():
    table = "| Table | Dead | Limit |\n|---|---|---|\n| ledger | 245,000 [S2] | 240,050 |"

    assert doubts(table) == ["number"]


def test_a_calculation_in_a_cell_begins_with_the_numbers_beside_it():
    row = "| ledger | 1,200,000 [S2] | 0.2 × 1,200,000 = 240,000 [S1] |"
    table = f"| Table | Rows | Limit |\n|---|---|---|\n{row}"

    assert doubts(table) == []
    assert doubts(table.replace("240,000", "250,000")) == ["calculation"]


@pytest.mark.parametrize(
    "lead",
    [
        "A nightly job could look like this:",
        "This is my suggestion:",
        "例如：",
        "I would set the speed to 42; this is my suggestion. It is set so [S1]:",
    ],
)
def test_code_that_is_called_an_example_may_have_numbers_of_its_own(lead: str):
    assert doubts(f"{lead}\n\n```\ntapectl --speed 42\n```") == []


def test_code_that_is_called_nothing_may_have_none():
    code = "```\ntapectl --speed 42\n```"

    assert doubts(f"Set the speed with `tapectl` [S1].\n\n{code}") == ["number"]


def test_a_pronoun_whose_subject_stays_hangs_from_nothing():
    removed = 'The sweep waits <q s="S1">for exactly one day and a night</q> [S1].'
    text = (
        f"The sweep freezes rows [S1]. {removed} It starts when the dead rows exceed a base [S1]."
    )

    checked = enforce_citations(text, TEXTS)

    assert [one["reason"] for one in checked.removed] == ["quote_not_found"]
    assert checked.doubted == []


def test_a_pronoun_whose_subject_is_gone_hangs():
    removed = 'The sweep waits <q s="S1">for exactly one day and a night</q> [S1].'
    text = (
        f"Older drives wind back [S1]. {removed} It starts when the dead rows exceed a base [S1]."
    )

    assert [one["reason"] for one in enforce_citations(text, TEXTS).doubted] == ["hanging"]
