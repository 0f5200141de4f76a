"""Compose the notice of what is new in a report since the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

from calls.attempts import list_attempts, sum_attempts
from config.errors import ErrorCode, Problem
from graph.records import WebCheck
from nodes.finished_report import load_report_document
from report.citations import get_document_key
from report.document import ReportDocument
from report.labels import describe_reason
from report.report_diff import ReportDiff, ReportEnd, compare_reports
from runs.earlier_runs import load_run_state
from runs.lifecycle import RunRecord
from runs.watches import CheckStatus, Watch
from text.script import detect_language
from text.secret_masking import mask_secrets_within

MAX_SENTENCES = 20
"""The most sentences of each kind that a notice shows; likewise sources."""

_CHANGES = ("added", "changed", "removed")


class News(NamedTuple):
    """The status of a check, and its notice."""

    status: CheckStatus
    notice: dict[str, Any]
    """Plain data, which webhooks receive as JSON."""


async def compose_news(watch: Watch, run: RunRecord, earlier: RunRecord | None) -> News:
    """Return how the report of a run differs from an earlier one.

    Raises:
        Problem: `report_not_found` if the run has no report; `search_unavailable` if nothing is
            known to have changed, but the web could not be searched.
    """
    after = ReportEnd(run.id, await load_report_document(run))
    before = await _load_end(earlier)
    about = {**await _describe_run(watch, run), "title": after.document["title"]}
    about |= {"language": after.document["language"], **await _describe_web(run, after.document)}
    if before is None:
        status: CheckStatus = "first"
        changes: dict[str, Any] = _NO_CHANGES
    else:
        found = await asyncio.to_thread(compare_reports, before, after)
        status = "news" if has_news(found) else "unchanged"
        changes = _list_changes(found)
    if status == "unchanged":
        _check_search(about)
    since = earlier.id if before and earlier else ""
    notice = {**about, "status": status, "since": since, **changes}
    return News(status, mask_secrets_within(notice))


async def _load_end(run: RunRecord | None) -> ReportEnd | None:
    """Return an earlier report; `None` if it no longer exists."""
    if run is None:
        return None
    try:
        return ReportEnd(run.id, await load_report_document(run))
    except Problem:
        return None


def has_news(found: ReportDiff) -> bool:
    """Say whether sentences or sources differ; their order and numbers do not count."""
    said = any(found.count(change) for change in _CHANGES)  # type: ignore[arg-type]
    cited = found.sources_gained or found.sources_lost
    return bool(said or cited or not found.comparable)


def _list_changes(found: ReportDiff) -> dict[str, Any]:
    told = found.as_dict()
    changed = [{"before": before, "after": after} for before, after in told["changed"]]
    lists = {"added": told["added"], "changed": changed, "removed": told["removed"]}
    lists |= {f"sources_{name}": some for name, some in told["sources"].items()}
    return {
        "counts": {name: len(some) for name, some in lists.items()},
        **{name: some[:MAX_SENTENCES] for name, some in lists.items()},
        "sections": [*_list_sections(found)],
    }


def _list_sections(found: ReportDiff) -> Iterator[dict[str, Any]]:
    """Yield the sections that differ with their lines that do, in the order of the report."""
    left = dict.fromkeys(_CHANGES, MAX_SENTENCES)
    for section in found.sections:
        lines = []
        for line in section.lines:
            if left.get(line.change, 0) > 0:
                left[line.change] -= 1
                lines.append({"change": line.change, "before": line.before, "after": line.after})
        heading = section.heading
        if lines:
            yield {"title": heading.after or heading.before if heading else "", "lines": lines}


_NO_LISTS = (*_CHANGES, "sources_gained", "sources_lost")
_NO_CHANGES = {
    "counts": dict.fromkeys(_NO_LISTS, 0),
    **{name: [] for name in (*_NO_LISTS, "sections")},
}


async def _describe_web(run: RunRecord, document: ReportDocument) -> dict[str, Any]:
    """Return which new pages of the web a refresh has found, and why it could not look for them."""
    state = await load_run_state(run)
    record = state.get("earlier_run") if state else None
    none = WebCheck(searched=0, found=[], unsearched="")
    looked = record.get("web", none) if record else none
    cited = {get_document_key(source) for source in document["sources"]}
    found = [{**page, "cited": page["location"] in cited} for page in looked["found"]]
    return {
        "searched": looked["searched"],
        "found": found[:MAX_SENTENCES],
        "unsearched": looked["unsearched"],
    }


def _check_search(about: dict[str, Any]) -> None:
    """Make sure that the web was searched, if it should have been, so that nothing is new.

    Raises:
        Problem: `search_unavailable`.
    """
    if about["unsearched"] and not about["searched"]:
        why = describe_reason(about["unsearched"], "failed", "en")
        what = f"the web could not be searched for new pages: {why}"
        hint = "the watch looks again; `dossier doctor` tells what is missing"
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, what, hint=hint)


def tell_failure(watch: Watch, run: str, problem: Problem) -> News:
    """Return the notice of a failed check."""
    about = {"watch": watch.name, "question": watch.question, "run": run, "title": watch.question}
    language = detect_language(watch.question)
    failed = {"status": "failed", "error": problem.as_dict(), "language": language}
    return News("failed", mask_secrets_within({**about, **failed}))


async def _describe_run(watch: Watch, run: RunRecord) -> dict[str, Any]:
    spent = sum_attempts(await list_attempts(run.id))
    return {
        "watch": watch.name,
        "question": watch.question,
        "run": run.id,
        "run_status": run.status,
        "report": run.folder,
        "cost": round(spent.dollars, 6),
        "tokens": spent.tokens_in + spent.tokens_out,
    }
