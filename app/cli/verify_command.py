"""dossier verify: check a report of any system against its documents."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line, print_notice
from app.cli.table import make_table
from config.errors import ErrorCode, Problem
from graph.state import State
from nodes.deliver import draw_report
from report.document import ReportDocument
from report.export import render_report_files
from report.exports.bundle import parse_bundle
from report.verify.all_checks import VerifiedFile, verify_report
from report.verify.bundle_check import prepare_bundle
from report.verify.check_results import CHECK_TITLES, CheckResult, SentenceResult, Verification
from report.verify.cited_report import Reference, parse_report
from report.verify.computed_references import parse_computed_reference
from report.verify.given_documents import GivenDocument, match_documents
from runs.earlier_runs import load_run_state
from runs.lifecycle import RunRecord, find_run, find_run_of_report
from tools.given_report import REPORT_SUFFIXES, read_given_report
from tools.recomputed_results import compute_cited_results
from tools.verified_documents import (
    load_run_documents,
    load_stored_documents,
    read_given_files,
)
from tools.web.urls import canonicalise_url

STATUS_WORDS = {
    "ok": ("ok", "green"),
    "partly": ("ok as far as checked", "green"),
    "warning": ("look at it", "yellow"),
    "failed": ("failed", "red"),
    "not_checked": ("not checked", "dim"),
}
"""How the result of a check is told, and its colour."""

_MOST_PLACES = 3
_MOST_SENTENCES = 40


class _Subject(NamedTuple):
    """What is verified."""

    file: VerifiedFile
    documents: list[GivenDocument]
    complete: bool
    more: dict[str, CheckResult]
    language: str = ""


async def verify_command(
    *,
    report: str,
    docs: list[Path] | None,
    complete: bool,
    support: bool,
    model: str,
    max_cost: float | None,
    invocation: Invocation,
) -> int:
    """Check a report, print what each check found, and return 1 if one failed.

    Raises:
        Problem: `file_not_found`, `file_unreadable`, `run_not_found`, `file_too_large`,
            `export_invalid`, or what `SupportGrading` raises.
    """
    grade = None
    if support or model or max_cost is not None:
        # Most calls of this command ask no model.
        from app.cli.support_output import SupportGrading  # noqa: PLC0415

        grade = SupportGrading(invocation.project, model, max_cost)
    given = await read_given_files(docs or [])
    for path, why in given.unread.items():
        print_notice(f"not read: {path}: {why}")
    subject = await _load_subject(invocation.owner, report, given.documents)
    found = await asyncio.to_thread(
        verify_report,
        subject.file,
        subject.documents,
        canonicalise_url,
        complete=complete or subject.complete,
        language=subject.language,
        today=datetime.now(UTC).date(),
        more=subject.more,
    )
    if grade is None:
        invocation.print_result(found.as_dict(), *_list_parts(found))
        return int(found.failed)
    graded = await grade.run(subject.file, subject.documents)
    failed = found.failed or graded.failed
    data = {**found.as_dict(), "failed": failed, "support": graded.as_dict()}
    invocation.print_result(data, *_list_parts(found), *grade.list_parts(graded))
    return int(failed)


async def _load_subject(owner: str, name: str, given: list[GivenDocument]) -> _Subject:
    found = await asyncio.to_thread(_find_file, name)
    if found.is_report:
        return await _load_file(owner, found.path, given)
    try:
        run = await find_run(owner, name)
    except Problem as problem:
        raise (found.problem or problem) from problem
    state = await load_run_state(run)
    if state is None:
        what = f"no report of {name!r} is saved"
        raise Problem(ErrorCode.RUN_NOT_FOUND, what, hint="see `dossier runs`")
    document = await _draw(run, state)
    text = render_report_files(document)["md"].decode()
    return await _from_run(owner, state, document, VerifiedFile(text), given)


class _NamedFile(NamedTuple):
    """What is at the place that the command line names."""

    path: Path
    is_report: bool
    problem: Problem | None = None
    """What is told if it is no run, either."""


def _find_file(name: str) -> _NamedFile:
    """Return the file that is named, or the report in the folder that is named.

    Raises:
        Problem: `file_unreadable`.
    """
    path = Path(os.path.expanduser(name))
    try:
        for one in (path / "report.md", path):
            if one.is_file():
                return _NamedFile(one, True)
        is_folder = path.is_dir()
    except OSError as error:
        what, hint = f"it cannot be opened: {error.strerror}", "check the path and its permissions"
        raise Problem(ErrorCode.FILE_UNREADABLE, what, where=name, hint=hint) from error
    what = "there is no `report.md` in this folder" if is_folder else "there is no such file"
    hint = "name the file of a report, or a run"
    problem = Problem(ErrorCode.FILE_NOT_FOUND, what, where=name, hint=hint)
    is_path = is_folder or path.suffix.lower() in REPORT_SUFFIXES or len(path.parts) > 1
    return _NamedFile(path, False, problem if is_path else None)


async def _load_file(owner: str, path: Path, given: list[GivenDocument]) -> _Subject:
    file = await asyncio.to_thread(read_given_report, path)
    if isinstance(file, bytes):
        return await asyncio.to_thread(_prepare_bundle, file, given)
    parsed = parse_report(file.text, canonicalise_url)
    run = await _find_own_run(owner, path) if parsed.own else None
    state = await load_run_state(run) if run else None
    if run and state:
        return await _from_run(owner, state, await _draw(run, state), file, given)
    given = [*given, *await compute_cited_results(parsed, given)]
    matched = match_documents(parsed.references, given, canonicalise_url)
    missing = [one for one in parsed.references if one.id not in matched]
    stored = await load_stored_documents(owner, missing)
    documents = [*given, *stored]
    _tell_missing_results(parsed.references, documents)
    return _Subject(file, documents, False, {})


def _tell_missing_results(
    references: Sequence[Reference], documents: Sequence[GivenDocument]
) -> None:
    """Tell which computed results could neither be computed again nor be found."""
    matched = match_documents(references, documents, canonicalise_url)
    for one in references:
        if one.id not in matched and parse_computed_reference(one):
            print_notice(f"not computed again: {one_line(one.text)}")


def _prepare_bundle(data: bytes, given: list[GivenDocument]) -> _Subject:
    """Return the report of a bundle; its evidence is all that it may rest on."""
    found = prepare_bundle(parse_bundle(data), canonicalise_url)
    documents = [*found.documents, *given]
    more = {"C19": found.same_again}
    return _Subject(VerifiedFile(found.text), documents, True, more, found.language)


async def _find_own_run(owner: str, path: Path) -> RunRecord | None:
    """Return the run that wrote a report to this folder last, if it is stored here."""
    try:
        return await find_run_of_report(owner, str(path.parent.absolute()))
    except Problem as problem:
        if problem.code != ErrorCode.RUN_NOT_FOUND:
            raise
        return None


async def _draw(run: RunRecord, state: State) -> ReportDocument:
    ended = datetime.fromtimestamp(run.updated, UTC).date().isoformat()
    return await draw_report(run.owner, run.id, state, state["report"].get("created", ended))


async def _from_run(
    owner: str,
    state: State,
    document: ReportDocument,
    file: VerifiedFile,
    given: list[GivenDocument],
) -> _Subject:
    documents = await load_run_documents(owner, state)
    more = {"C11": _check_steps(state, document), "C19": _check_rendering(document)}
    return _Subject(file, [*documents, *given], True, more, document["language"])


def _check_steps(state: State, document: ReportDocument) -> CheckResult:
    """Check that each step of the plan is cited, or named as missing (C11)."""
    result = CheckResult("C11")
    cited, told = set(state["report"]["cited"]), {one["title"] for one in document["gaps"]}
    found = {one["step"]: one for one in state.get("findings", {}).values()}
    steps = [*state.get("plan", {"steps": []})["steps"], *state.get("follow_ups", [])]
    for step in steps:
        result.checked += 1
        finding = found.get(step["id"])
        if step["title"] not in told and not (finding and cited & set(finding["sources"])):
            result.add(0, "a step that is neither cited nor named as missing", step["title"])
    if not steps:
        result.skip("the run had no plan", 0)
    return result


def _check_rendering(document: ReportDocument) -> CheckResult:
    """Check that rendering it twice gives the same bytes (C19)."""
    result = CheckResult("C19", checked=1)
    if render_report_files(document) != render_report_files(document):
        result.add(0, "rendered twice, it is not the same")
    return result


def _list_parts(found: Verification) -> Iterator[Table | Text]:
    """Yield the table of checks, the sentences in which something was found, and the outcome."""
    yield _render_checks(found.checks)
    told = [one for one in found.sentences if one.findings]
    if told:
        yield Text("")
        yield Text(f"Sentences in which something was found: {len(told)}", "bold")
    for one in told[:_MOST_SENTENCES]:
        yield _render_sentence(one)
    if len(told) > _MOST_SENTENCES:
        yield Text(f"{len(told) - _MOST_SENTENCES} more with --json")
    yield Text("")
    yield Text(_summarize(found))


def _render_checks(checks: Sequence[CheckResult]) -> Table:
    rows = make_table("", "check", "result", Column("first places", overflow="fold"))
    for one in checks:
        word, colour = STATUS_WORDS[one.status]
        shown = Text(word, colour)
        rows.add_row(one.id, CHECK_TITLES[one.id], shown, _describe(one))
    return rows


def _describe(result: CheckResult) -> str:
    """Return the first findings of a check, or how much was checked and why not all."""
    if result.findings:
        places = [
            f"{f'line {one.line}: ' if one.line else ''}{one_line(one.what)}"
            for one in result.findings[:_MOST_PLACES]
        ]
        more = len(result.findings) - len(places)
        return "; ".join([*places, *([f"{more} more"] if more else [])])
    parts = []
    if result.checked:
        parts.append(f"{result.checked} checked")
    if result.unchecked and result.checked:
        parts.append(f"{result.unchecked} not")
    return "; ".join(filter(None, [", ".join(parts), result.reason, result.note]))


def _render_sentence(result: SentenceResult) -> Text:
    colour = STATUS_WORDS[result.status][1]
    told = "; ".join(map(one_line, result.findings))
    return Text.assemble(
        (f"{result.line:>5}  ", "dim"), (told, colour), f"\n       {one_line(result.text)}"
    )


def _summarize(found: Verification) -> str:
    counts: Counter[str] = Counter(one.status for one in found.checks)
    words = ((counts[name], word) for name, (word, _) in STATUS_WORDS.items())
    told = ", ".join(f"{count} {word}" for count, word in words if count)
    given = f"{found.matched} of {found.references} sources given"
    return f"{told}. {found.words:,} words, {given}."
