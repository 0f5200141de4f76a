"""What a report cites as computed from a table is computed again over the file that is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.check_results import Verification
from report.verify.cited_report import parse_report
from tests.places import somewhere
from tests.unit.test_run_inputs import result
from tests.unit.test_verify import TODAY, failed
from tools.computations import store_computation
from tools.recomputed_results import compute_cited_results
from tools.run_inputs import RunInput
from tools.verified_documents import load_stored_documents, read_given_files
from tools.web.urls import canonicalise_url

SALES = """\
region,year,amount
North,2023,120
South,2023,140
North,2024,180
South,2024,95
East,2024,77
West,2024,60
"""
BY_REGION = "sales.csv, computed: total of amount per region"
AVERAGE = "sales.csv, computed: average of amount where year = 2024"


def write_report(*titles: str, says: str, question: str = "Which region sold most?") -> str:
    listed = "".join(
        f"[{at}] {one} — /home/me/sales.csv#rows=2-7 (1 passage)\n\n"
        for at, one in enumerate(titles, start=1)
    )
    return f"# {question}\n\n{says}\n\n## Sources\n\n{listed}## How it was researched\n\nSo.\n"


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text(SALES, "utf-8")
    return tmp_path


async def verify(text: str, folder: Path) -> Verification:
    given = (await read_given_files([folder])).documents
    report = parse_report(text, canonicalise_url)
    given += await compute_cited_results(report, given)
    return verify_report(VerifiedFile(text), given, canonicalise_url, today=TODAY)


@pytest.mark.parametrize("question", ["Sales", "What is the total amount in sales.csv by region?"])
async def test_a_result_follows_from_the_file(sales: Path, question: str):
    right = write_report(BY_REGION, says="- North: 300 [1]\n- West: 60 [1]", question=question)
    wrong = right.replace("300", "310")

    found = await verify(right, sales)
    assert (found.matched, failed(found)) == (1, {})
    assert set(failed(await verify(wrong, sales))) == {"C8"}


async def test_a_result_that_does_not_follow_from_the_file_as_it_is_now_fails(sales: Path):
    (sales / "sales.csv").write_text(SALES.replace("180", "200"), "utf-8")
    found = await verify(write_report(BY_REGION, says="- North: 300 [1]"), sales)
    assert set(failed(found)) == {"C8"}


async def test_results_of_one_table_are_different_sources(sales: Path):
    says = "- South: 235 [1]\n\nOn average 103 were sold in 2024 [2]."
    found = await verify(write_report(BY_REGION, AVERAGE, says=says), sales)
    assert (found.matched, failed(found)) == (2, {})

    swapped = says.replace("[1]", "[3]").replace("[2]", "[1]").replace("[3]", "[2]")
    found = await verify(write_report(BY_REGION, AVERAGE, says=swapped), sales)
    assert set(failed(found)) == {"C4", "C8"}


async def test_the_groups_that_a_title_leaves_out_are_told(sales: Path):
    says = "The region with the largest total of amount: 300 (North) [1]."
    assert failed(await verify(write_report(BY_REGION, says=says), sales)) == {}


@pytest.mark.parametrize(
    "source",
    [
        "sales.csv, computed: share of rows where year = 2024 — /home/me/sales.csv#rows=2-7",
        "sales.csv, computed: total of profit — /home/me/sales.csv#rows=2-7",
        "Sales by region — computation 0123456789ab from sales.csv",
        "sales.csv，计算：行数占比：year = 2024 — /home/me/sales.csv#rows=2-7",
    ],
)
async def test_what_cannot_be_computed_again_is_not_taken_for_the_file(sales: Path, source: str):
    text = write_report("", says="It is 66.67 % [1].").replace(
        " — /home/me/sales.csv#rows=2-7 (1 passage)", source
    )
    found = await verify(text, sales)
    assert (found.matched, failed(found)) == (0, {})


async def test_a_file_of_another_name_is_not_computed_with(sales: Path):
    (sales / "sales.csv").rename(sales / "costs.csv")
    found = await verify(write_report(BY_REGION, says="- North: 300 [1]"), sales)
    assert found.matched == 0


@pytest.mark.usefixtures("database")
async def test_what_a_program_printed_is_found_in_the_home():
    inputs = [RunInput("sales.csv", "1" * 64, "file", "1" * 64, "/sales.csv")]
    printed = result("North: 300\n")
    made = await store_computation(somewhere(), "By region", "en", "print(1)", inputs, printed)
    listed = f"[1] By region — {made.source['location']} (1 passage)"
    text = f"# Sales\n\nNorth: 300 [1].\n\n## Sources\n\n{listed}\n"
    references = parse_report(text, canonicalise_url).references

    (stored,) = await load_stored_documents("local/", references)
    assert "North: 300" in stored.text
    found = verify_report(VerifiedFile(text), [stored], canonicalise_url, today=TODAY)
    assert (found.matched, failed(found)) == (1, {})
    assert await load_stored_documents("others/", references) == []
