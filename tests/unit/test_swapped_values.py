"""Two names of a printed result that a text gives each other's numbers are doubted."""

from __future__ import annotations

import random

import pytest

from report.checks.attribution import enforce_citations
from report.checks.swapped_values import has_swapped_value
from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.given_documents import GivenDocument
from tests.cases import each_case
from tests.unit.test_verify import TODAY, failed
from tools.web.urls import canonicalise_url

LINES = "Computed by a program from sales.csv.\n\nNorth: 120\nSouth: 140\nEast: 77\nTotal: 337"
FORMS = {
    "lines": LINES,
    "an item each": LINES.replace("North", "- North").replace("South", "- South"),
    "columns": "region  amount  share\nNorth      120   35.6\nSouth      140   41.5\nEast  77  23",
    "an index": "   region  amount\n0   North     120\n1   South     140\n2    East      77",
    "a table": "| region | amount |\n|---|---|\n| North | 120 |\n| South | 140 |\n| East | 77 |",
    "commas": "region,amount\nNorth,120\nSouth,140\nEast,77",
    "one line": "North 120, South 140, East 77",
    "a dict": "{'North': 120, 'South': 140, 'East': 77}",
    "sentences": "Sales in North were 120 EUR.\nSales in South were 140 EUR.\nIn East: 77 EUR.",
}

SWAPPED = [
    "North 140, South 120.",
    "The total of amount was 140 in North and 120 in South.",
    "North sold 140, and South, which is smaller, sold 120.",
    "North and South sold 140 and 120, respectively.",
    "North (140), South (120) and East (77) make up all.",
    "Of all sales, 77 were made in South and 140 in East.",
    "North sold 77, South 120 and East 140.",
    "In the north 140 were sold, in the south 120.",
]
RIGHT = [
    "North 120, South 140.",
    "The total of amount was 120 in North and 140 in South.",
    "North and South sold 120 and 140, respectively.",
    "South's 140 exceed North's 120 by 20.",
    "South leads with 140, before North with 120 and East with 77.",
    "While North sold 120, 140 were sold in South.",
    "Compared with 140 in South, North had 120.",
    "North, behind South with 140, sold 120.",
    "South and North sold 140 and 120.",
    "North sold 120, which is 43 more than East.",
    "North and South together sold 260, East 77.",
    "Neither North nor South reached 150; 140 was the most.",
]


def doubts(said: str, printed: str = LINES) -> list[str]:
    checked = enforce_citations(said, {"S1": printed}, "What was sold?", computed=["S1"])
    return [one["reason"] for one in checked.doubted if one["reason"] == "other_number"]


@each_case([(said, printed) for said in SWAPPED for printed in FORMS.values()])
def test_names_with_each_others_numbers_are_found(said: str, printed: str):
    assert has_swapped_value(said, [], (printed,))


@each_case([(said, printed) for said in RIGHT for printed in FORMS.values()])
def test_what_was_printed_may_be_said_in_any_order(said: str, printed: str):
    assert not has_swapped_value(said, [], (printed,))


def test_a_swapped_sentence_is_doubted_and_the_right_one_is_not():
    assert doubts("North sold 140 and South sold 120 [S1].") == ["other_number"]
    assert doubts("North sold 120 and South sold 140 [S1].") == []
    assert doubts("北区卖出 140 件，南区卖出 120 件 [S1]。", "北区：120\n南区：140") == [
        "other_number"
    ]
    assert doubts("北区卖出 120 件，南区卖出 140 件 [S1]。", "北区：120\n南区：140") == []


def test_items_and_rows_are_compared_with_those_beside_them():
    items = "- North: {} [S1]\n- South: {} [S1]\n- East: 77 [S1]"
    rows = "| Region | Sold |\n|---|---|\n| North | {} [S1] |\n| South | {} [S1] |"

    assert doubts(items.format(120, 140)) == doubts(rows.format(120, 140)) == []
    assert doubts(items.format(140, 120)) == doubts(rows.format(140, 120)) == ["other_number"] * 2
    assert doubts("- North: 140 [S1]\n- East: 77 [S1]") == []


@pytest.mark.parametrize("seed", range(3))
def test_any_result_may_be_told_in_many_ways(seed: int):
    chance = random.Random(seed)
    towns = ["Arfeld", "Bruck", "Castell", "Dorn", "Ebern", "Floss"]
    templates = ["{0} {2}, {1} {3}.", "{2} in {0}, {3} in {1}.", "{0} has {2} and {1} has {3}."]
    for _ in range(60):
        values = dict(zip(towns, chance.sample(range(100, 9_000), len(towns)), strict=True))
        printed = "\n".join(f"{town}  {value}  {value / 7:.2f}" for town, value in values.items())
        one, other = chance.sample(towns, 2)
        for said in templates:
            right = said.format(one, other, f"{values[one]:,}", values[other])
            wrong = said.format(one, other, f"{values[other]:,}", values[one])
            assert not has_swapped_value(right, [], (printed,))
            assert has_swapped_value(wrong, [], (printed,))


def test_verifying_finds_them_in_what_was_computed():
    listed = "[1] sales.csv, computed: total of amount per region — /home/me/sales.csv#rows=2-7"
    text = f"# Sales\n\nNorth sold 140 and South sold 120 [1].\n\n## Sources\n\n{listed}\n"
    result = GivenDocument("sales", "", LINES, ("/home/me/sales.csv#rows=2-7",))

    found = verify_report(VerifiedFile(text), [result], canonicalise_url, today=TODAY)
    assert set(failed(found)) == {"C8"}
    right = text.replace("140", "1x0").replace("120", "140").replace("1x0", "120")
    found = verify_report(VerifiedFile(right), [result], canonicalise_url, today=TODAY)
    assert failed(found) == {}
