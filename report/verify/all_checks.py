"""Verify a report: all checks, in their order, and what each sentence was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from report.markdown.markers import MARKER
from report.verify.check_results import (
    CHECK_TITLES,
    CheckFinding,
    CheckResult,
    SentenceResult,
    Verification,
)
from report.verify.cited_report import CitedReport, parse_report
from report.verify.content_checks import ContentChecker
from report.verify.given_documents import GivenDocument, match_documents
from report.verify.structure_checks import (
    CheckedSources,
    check_addresses,
    check_completeness,
    check_diversity,
    check_duplicates,
    check_leftovers,
    check_list,
    check_markers,
    check_page_safety,
    check_safety,
    check_tables,
)
from text.readability import count_text_words

_STRUCTURE = (
    check_markers,
    check_addresses,
    check_list,
    check_duplicates,
    check_leftovers,
    check_completeness,
    check_tables,
    check_diversity,
)
_ONLY_OF_RUNS = {
    "C11": "only the run of a report knows its plan",
    "C19": "only the run of a report can be rendered again",
}


class VerifiedFile(NamedTuple):
    """A report as it is verified."""

    text: str
    """In Markdown."""
    page: str = ""
    """The page in HTML that it was read from."""


def verify_report(
    file: VerifiedFile,
    documents: Sequence[GivenDocument],
    canonicalise: Callable[[str], str],
    *,
    complete: bool = False,
    language: str = "",
    today: date,
    more: Mapping[str, CheckResult] | None = None,
) -> Verification:
    """Return what all checks find in a report. No model and no network is used.

    Args:
        file: The report.
        documents: What its sources may be.
        canonicalise: Returns the one form of a web address.
        complete: Whether it may cite nothing but these documents.
        language: The language that was asked for, if it is known.
        today: The date by which sources are recent.
        more: Results of checks that only the run of the report allows, by their ids.
    """
    report = parse_report(file.text, canonicalise)
    matched = match_documents(report.references, documents, canonicalise)
    sources = CheckedSources(matched, complete, canonicalise, language)
    found = [check(report, sources) for check in _STRUCTURE]
    found += ContentChecker(report, sources, today).run()
    found.append(check_page_safety(file.page) if file.page else check_safety(report, sources))
    results = {one.id: one for one in found} | dict(more or {})
    checks = [results.get(name) or _not_checked(name) for name in CHECK_TITLES]
    sentences = [*_list_sentences(report, sources, checks)]
    for check in checks:
        check.findings = [replace(one, text=_write(report, one.text)) for one in check.findings]
    return Verification(
        style="dossier" if report.own else report.style,
        words=count_text_words("\n".join(one.text for one in report.statements)),
        references=len(report.references),
        matched=len(matched),
        checks=checks,
        sentences=sentences,
    )


def _not_checked(name: str) -> CheckResult:
    return CheckResult(name, reason=_ONLY_OF_RUNS.get(name, "it was not made"))


def _write(report: CitedReport, text: str) -> str:
    """Return a text with its citations as its readers know them."""
    labels = {one.id: one.label or one.address for one in report.references}
    known = {one.id: one.label for one in report.uses} | labels
    return MARKER.sub(lambda one: f"[{known.get(one[1], one[1])}]", text)


def _list_sentences(
    report: CitedReport, sources: CheckedSources, checks: Sequence[CheckResult]
) -> Iterator[SentenceResult]:
    """Yield the statements of a report with what was found in each."""
    found: dict[tuple[int, str], list[CheckFinding]] = defaultdict(list)
    for one in (finding for check in checks for finding in check.findings if finding.text):
        found[one.line, one.text].append(one)
    labels = {one.id: one.label or one.address for one in report.references}
    for statement in report.statements:
        if not any(map(str.isalnum, statement.text)):
            continue
        told = found.get((statement.line, statement.text), [])
        given = [name for name in statement.cited if name in sources.documents]
        wrong = any(not one.warning for one in told)
        checked = bool(given) and len(given) == len(statement.cited)
        status = "failed" if wrong else "warning" if told else "ok" if checked else "not_checked"
        yield SentenceResult(
            statement.line,
            _write(report, statement.text),
            [labels.get(name, name) for name in statement.cited],
            status,  # type: ignore[arg-type]
            [f"{one.check}: {one.what}" for one in told],
        )
