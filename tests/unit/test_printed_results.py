"""Numbers that a program printed are compared line by line with what a text gives them for."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.printed_results import (
    is_cell_printed,
    is_statement_printed,
    split_printed_lines,
)

STATIONS = {
    "Auenried": ((55.9, 44.0), (92.7, 73.0), (121.4, 95.6)),
    "Birkfeld": ((71.1, 56.0), (118.1, 93.0), (149.9, 118.0)),
    "Hollerbach": ((63.5, 50.0), (88.9, 70.0), (177.8, 70.0)),
}
MONTHS = ("April", "May", "June")
PRINTED = "\n".join(
    [
        "Computed by a program.",
        "",
        *(
            f"{station}, {month} 2026: published {was} mm, factor used 0.254 mm per tip, "
            f"corrected {now} mm, published minus corrected +{was - now:.1f} mm"
            for station, totals in STATIONS.items()
            for month, (was, now) in zip(MONTHS, totals, strict=True)
        ),
        "Birkfeld: 7 wrong totals, the first of April 2026, the last published one of October 2026",
        "Wrong totals altogether: 26 of 48",
        "Moosach, March 2026: published 52.6 mm",
        "Auenried, sum of its wrong months: published 526.5 mm, minus corrected +111.9 mm",
        "Birkfeld, sum of its wrong months: published 723.9 mm, minus corrected +153.9 mm",
        "Hollerbach, sum of its wrong months: published 795.0 mm, minus corrected +376.0 mm",
    ]
)
RULES = "A total is proportional to the factor. Totals of the last 24 months are corrected."
ASKED = "Which of the published monthly totals of our stations from March 2026 on are wrong?"
HEAD = (
    "Corrected by the factor:\n\n| Month | Auenried, mm | Birkfeld, mm | Hollerbach, mm |\n"
    "|---|---|---|---|\n"
)


def doubts(said: str) -> list[str]:
    texts = {"S1": PRINTED, "S2": RULES}
    checked = enforce_citations(said, texts, ASKED, computed=["S1"])
    return [one["reason"] for one in checked.doubted]


@pytest.mark.parametrize(
    "row",
    [
        "| April | 55.9 → 44.0 [S1] | 71.1 → 56.0 [S1] | 63.5 → 50.0 [S1] |",
        "| May | 92.7 → 73.0 [S1] | 118.1 → 93.0 [S1] | 88.9 → 70.0 [S1] |",
        "| June | 121.4 → 95.6 [S1] | 149.9 → 118.0 [S1] | 177.8 → 70.0 [S1] |",
        "| Too much in all | +111.9 [S1] | +153.9 [S1] | +376.0 [S1] |",
    ],
)
def test_a_table_over_printed_lines_may_have_their_names_in_rows_and_columns(row: str):
    assert doubts(HEAD + row) == []


@pytest.mark.parametrize(
    "row",
    [
        "| April | 71.1 → 56.0 [S1] | 55.9 → 44.0 [S1] | 63.5 → 50.0 [S1] |",
        "| June | 55.9 → 44.0 [S1] | 71.1 → 56.0 [S1] | 63.5 → 50.0 [S1] |",
        "| Too much in all | +376.0 [S1] | +153.9 [S1] | +111.9 [S1] |",
    ],
)
def test_a_number_of_another_row_or_column_is_still_marked(row: str):
    assert doubts(HEAD + row) == ["other_number"]


def test_a_number_that_no_program_printed_is_still_marked():
    row = "| April | 55.8 → 44.0 [S1] | 71.1 → 56.0 [S1] | 63.5 → 50.0 [S1] |"
    assert doubts(HEAD + row) == ["number"]


def test_numbers_that_stand_together_in_a_printed_line_are_taken_from_it():
    said = "Of the 48 published totals of March to October 2026, {} are wrong [S1]."
    assert doubts(said.format(26)) == []
    assert doubts(said.format(24)) != []


def test_what_was_printed_of_another_name_bears_nothing_out():
    lines = split_printed_lines(PRINTED)

    said = "In April, {} published 55.9 mm."
    assert is_statement_printed(said.format("Auenried"), "", "", lines)
    assert not is_statement_printed(said.format("Birkfeld"), "", "", lines)
    assert is_cell_printed("92.7", "May Auenried, mm", lines)
    assert not is_cell_printed("92.7", "April Auenried, mm", lines)


def test_only_what_a_program_printed_is_compared_line_by_line():
    row = "| April | 55.9 → 44.0 [S1] | 71.1 → 56.0 [S1] | 63.5 → 50.0 [S1] |"
    checked = enforce_citations(HEAD + row, {"S1": PRINTED, "S2": RULES}, ASKED)
    assert [one["reason"] for one in checked.doubted] == ["other_number"]
