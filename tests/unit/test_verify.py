"""Reports of any system are checked against the documents that they cite."""

from __future__ import annotations

import asyncio
from datetime import date
from functools import cache
from pathlib import Path

from evals.verify import measure_detection, read_example_documents, time_long_report
from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.check_results import CHECK_TITLES, CheckResult, Verification
from report.verify.cited_report import parse_report
from report.verify.given_documents import GivenDocument
from report.verify.html_conversion import convert_html_report, is_html
from tests.cases import each_case
from tools.verified_documents import read_given_files
from tools.web.urls import canonicalise_url

TODAY = date(2026, 11, 1)
FOLDER = Path(__file__).parent.parent / "data" / "carrow"
MILL, LIGHT = "https://mills.example/carrow", "https://lights.example/carrow-light"
FERRY = "https://ferries.example/carrow"
GOOD = {one.stem.replace("-", " "): one.read_text("utf-8") for one in (FOLDER / "good").iterdir()}
"""Small reports in the styles of many systems in which nothing is wrong."""

BAD = {one.stem.replace("-", " "): one.read_text("utf-8") for one in (FOLDER / "bad").iterdir()}
"""Reports by the check that fails and what is wrong in them."""


@cache
def documents() -> list[GivenDocument]:
    return asyncio.run(read_given_files([FOLDER / "documents"])).documents


def documents_named(name: str) -> list[GivenDocument]:
    return [one for one in documents() if one.name == name]


def verify(
    text: str, given: list[GivenDocument] | None = None, *, complete: bool = True
) -> Verification:
    page = text if is_html(text) else ""
    file = VerifiedFile(convert_html_report(page) if page else text, page)
    chosen = documents() if given is None else given
    return verify_report(file, chosen, canonicalise_url, complete=complete, today=TODAY)


def result(found: Verification, name: str) -> CheckResult:
    return next(one for one in found.checks if one.id == name)


def failed(found: Verification) -> dict[str, list[str]]:
    return {
        one.id: [told.what for told in one.findings]
        for one in found.checks
        if one.status == "failed"
    }


@each_case(sorted(GOOD))
def test_a_good_report_of_any_style_passes(name: str) -> None:
    found = verify(GOOD[name])
    assert failed(found) == {}
    assert found.matched == found.references > 0


@each_case(sorted(GOOD))
def test_the_numbers_of_any_style_are_compared(name: str) -> None:
    checks = {one.id: one for one in verify(GOOD[name]).checks}
    assert checks["C8"].checked + checks["C6"].checked + checks["C7"].checked > 0


@each_case(sorted(BAD))
def test_what_is_wrong_is_found_by_its_check(name: str) -> None:
    check = name.partition(" ")[0]
    found = verify(BAD[name])
    assert found.failed
    assert set(failed(found)) - {"C2"} == {check} - {"C2"}
    assert check in failed(found)


def test_every_check_is_told_in_order() -> None:
    assert [one.id for one in verify(GOOD["footnotes"]).checks] == list(CHECK_TITLES)


def test_without_documents_nothing_is_called_right_that_needs_them() -> None:
    found = verify(GOOD["quotations"], [], complete=False)
    assert not found.failed
    for name in ("C2", "C6", "C8"):
        assert result(found, name).status == "not_checked"
        assert result(found, name).reason == "its document is not given"
    assert {one.status for one in found.sentences} == {"not_checked"}


def test_what_only_a_run_knows_is_not_checked() -> None:
    found = verify(GOOD["footnotes"])
    assert [result(found, name).status for name in ("C11", "C19")] == ["not_checked"] * 2
    assert all(result(found, name).reason for name in ("C11", "C19"))


def test_a_report_of_which_some_documents_are_given_is_checked_in_part() -> None:
    found = verify(
        GOOD["numbers and a list in brackets"], documents_named("carrow-mill.md"), complete=False
    )
    numbers = result(found, "C8")
    assert (numbers.status, numbers.checked, numbers.unchecked) == ("partly", 1, 1)


def test_a_source_that_is_not_given_fails_only_where_the_documents_are_all() -> None:
    text = BAD["C2 a source that was not given"]
    assert not verify(text, complete=False).failed
    assert verify(text, complete=True).failed


def test_findings_say_where_and_what() -> None:
    found = verify(BAD["C8 a wrong year"])
    finding = result(found, "C8").findings[0]
    assert (finding.line, finding.what) == (1, "a number that no cited source has")
    assert finding.text == "The mill was built in 1678 [1]."
    wrong = [one for one in found.sentences if one.status == "failed"]
    assert [(one.text, one.cited) for one in wrong] == [(finding.text, ["1"])]
    assert [one.status for one in found.sentences] == ["failed", "ok"]


def test_a_nearly_right_quotation_is_shown_with_the_words_of_the_source() -> None:
    told = result(verify(BAD["C6 a changed quotation"]), "C6").findings[0].what
    assert "never wants for rain" in told
    assert "near: “" in told
    assert "never waits for rain" in told


def test_a_quotation_of_another_source_is_told_with_that_source() -> None:
    told = result(verify(BAD["C7 a quotation of another source"]), "C7").findings[0].what
    assert told.startswith("the quotation is of [1]")


def test_a_number_that_the_report_itself_doubts_is_no_failure() -> None:
    text = BAD["C8 a wrong year"].replace("1678 [1].", "1678 [1] (⚠ Not found).")
    found = verify(text)
    assert not found.failed
    assert result(found, "C8").note == "1 told by the report itself"


def test_a_number_may_be_computed_from_those_of_its_source() -> None:
    said = "Since 1903 the boats have grown from 60 to 180 places, that is, by 120 [1]."
    text = f"{said}\n\nSources:\n\n1. {FERRY}\n"
    assert not verify(text).failed


def test_a_judgement_needs_no_source() -> None:
    body = GOOD["a numbered list"].split("## Sources")[0]
    text = f"{body}## Assessment\n\nI would plan 90 minutes.\n\n## Sources\n\n1. {FERRY}\n"
    assert failed(verify(text)) == {}


def test_a_document_that_says_that_it_is_not_there_is_none() -> None:
    gone = GivenDocument("gone.html", "Gone", "404 – page not found", (MILL,))
    found = verify(f"The mill is closed [1].\n\nSources:\n\n1. {MILL}\n", [gone])
    assert failed(found) == {"C2": ["its document says that the page is not there"]}


def test_a_document_whose_text_was_altered_fails() -> None:
    given = [one._replace(altered=True) for one in documents()]
    assert set(failed(verify(GOOD["footnotes"], given))) == {"C2"}


def test_the_latest_that_rests_on_old_sources_is_a_warning() -> None:
    old = [one._replace(published="2019-05-01") for one in documents()]
    text = f"The current boat is the Tern [1].\n\nSources:\n\n1. {FERRY}\n"
    found = verify(text, old)
    assert not found.failed
    assert result(found, "C16").status == "warning"
    assert (
        result(verify(text, [one._replace(published="2026-02") for one in old]), "C16").status
        == "ok"
    )


def test_one_site_with_most_sources_is_a_warning() -> None:
    lines = "".join(f"[{n}] Page {n}. https://www.one.example/{n}\n" for n in range(1, 5))
    text = f"It is so [1][2][3][4].\n\n## References\n\n{lines}"
    diversity = result(verify(text, [], complete=False), "C15")
    assert (diversity.status, diversity.note) == ("warning", "1 sites; one.example 100%")


def test_sources_that_contradict_each_other_are_told() -> None:
    other = GivenDocument(
        "other.md",
        "The Carrow ferry today",
        "The ferry between Carrow and Skarn Island has run since 1908.",
        ("https://other.example/ferry",),
    )
    text = (
        "The ferry between Carrow and Skarn Island has run since 1903 [1]. "
        "It is a good one [2].\n\n"
        f"## References\n\n[1] The Carrow ferry. {FERRY}\n[2] The Carrow ferry today. https://other.example/ferry\n"
    )
    found = verify(text, [*documents(), other])
    assert result(found, "C17").status == "warning"
    assert not found.failed


def test_an_order_other_than_that_of_first_use_is_told() -> None:
    said = "The light is of 1822 [2]. The mill closed in 1934 [1]."
    text = f"{said}\n\n## References\n\n[1] {MILL}\n[2] {LIGHT}\n"
    found = verify(text)
    assert result(found, "C4").status == "warning"
    assert not found.failed


def test_a_passage_that_is_repeated_is_found() -> None:
    more = "The pond has 3.5 hectares, and it fills through gates that the water itself opens [1]."
    text = f"{GOOD['quotations'].split('## References')[0].strip()} {more} {more.lower()}"
    twice = (
        f"{text}\n\nThen it goes on [1].\n\n{text}\n\n## References\n\n[1] {MILL}\n[2] {LIGHT}\n"
    )
    assert "C13" in failed(verify(twice))


@each_case(["", " \n", "# A title\n", "<html></html>", "<html><h1>A title</h1></html>"])
def test_a_report_without_text_is_not_complete(text: str) -> None:
    assert failed(verify(text)) == {"C13": ["the report has no text"]}


def test_a_page_in_html_that_loads_something_fails() -> None:
    page = GOOD["a page in html"].replace("<h1>", '<img src="https://spy.example/p.png"><h1>')
    assert set(failed(verify(page))) == {"C18"}


def test_results_are_plain_data() -> None:
    data = verify(BAD["C14 a wrong total"]).as_dict()
    table = next(one for one in data["checks"] if one["id"] == "C14")
    assert data["failed"] is True
    assert table["status"] == "failed"
    assert table["findings"][0]["what"] == "the sum is 240, and not 250"


def test_corruptions_of_good_reports_are_found_and_good_reports_pass() -> None:
    given = asyncio.run(read_example_documents())
    found = measure_detection(given, seed=5, clean=24, bases=12, corruptions=48)
    assert [wrong for wrong, _ in found.alarms] == []
    assert len(found.missed) <= 1
    assert len(found.kinds) == 6


def test_a_long_report_takes_little_time() -> None:
    given = asyncio.run(read_example_documents())
    time_long_report(given, 500)
    assert time_long_report(given, 2_000) < 1.5


def test_what_dossier_remarks_at_a_sentence_is_no_word_of_the_report():
    text = """> Since this report: on 2026-01-02 you said of it “It was 1999”.

Bees dance [1] *(only in a forum, its source has changed since)*. They hum [1] *(softly)*.

## Sources

[1] dance.md

## How it was researched

2026-01-01: nothing.
"""
    report = parse_report(text, canonicalise_url)
    assert [one.text for one in report.statements] == [
        "Bees dance [S1].",
        "They hum [S1] *(softly)*.",
    ]

    plain = parse_report(
        text.replace("*(only", "(only").replace("since)*", "since)"), canonicalise_url
    )
    assert plain.statements[0].text == "Bees dance [S1]."
    foreign = parse_report(text.partition("## How")[0], canonicalise_url)
    assert "its source has changed" in " ".join(one.text for one in foreign.statements)


def test_an_escaped_address_of_a_script_is_found() -> None:
    text = f"The mill closed in 1934 [1]. [More](javascript\\:alert)\n\n[1]: {MILL}\n"
    assert failed(verify(text))["C18"] == ["active content"]
