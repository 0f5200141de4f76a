"""Compose the notice of what is new in a report since the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from calls.attempts import list_attempts, sum_attempts
from config.errors import Problem
from nodes.finished_report import load_report_document
from prompts.loader import render_prompt
from report.report_diff import ReportDiff, ReportEnd, compare_reports
from runs.lifecycle import RunRecord
from runs.watches import CheckStatus, Watch
from text.secret_masking import mask_secrets_within

MAX_SENTENCES = 20
"""The most sentences of each kind that a notice shows."""

NOTICE_GROUPS = ("added", "changed", "removed", "sources_gained", "sources_lost")
"""The lists of changes in a notice."""


class News(NamedTuple):
    """The status of a check, and its notice."""

    status: CheckStatus
    notice: dict[str, Any]
    """Plain data, which webhooks receive as JSON."""


async def compose_news(watch: Watch, run: RunRecord, earlier: RunRecord | None) -> News:
    """Return how the report of a run differs from an earlier one.

    Raises:
        Problem: `report_not_found` if the run has no report.
    """
    after = ReportEnd(run.id, await load_report_document(run))
    before = await _load_end(earlier)
    about = {**await _describe_run(watch, run), "title": after.document["title"]}
    about["language"] = after.document["language"]
    if before is None:
        status: CheckStatus = "first"
        changes: dict[str, Any] = {name: [] for name in NOTICE_GROUPS}
    else:
        found = await asyncio.to_thread(compare_reports, before, after)
        status = "news" if has_news(found) else "unchanged"
        changes = _list_changes(found)
    notice = {
        **about,
        "status": status,
        "since": earlier.id if before and earlier else "",
        **changes,
    }
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
    said = any(found.count(change) for change in ("added", "changed", "removed"))
    cited = found.sources_gained or found.sources_lost
    return bool(said or cited or not found.comparable)


def _list_changes(found: ReportDiff) -> dict[str, Any]:
    told = found.as_dict()
    changed = [{"before": before, "after": after} for before, after in told["changed"]]
    return {
        "added": told["added"][:MAX_SENTENCES],
        "changed": changed[:MAX_SENTENCES],
        "removed": told["removed"][:MAX_SENTENCES],
        "sources_gained": told["sources"]["gained"][:MAX_SENTENCES],
        "sources_lost": told["sources"]["lost"][:MAX_SENTENCES],
    }


def tell_failure(watch: Watch, run: str, problem: Problem) -> News:
    """Return the notice of a failed check."""
    about = {"watch": watch.name, "question": watch.question, "run": run, "title": watch.question}
    failed = {"status": "failed", "error": problem.as_dict(), "language": "en"}
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


def render_subject(notice: dict[str, Any]) -> str:
    """Return the notice in one line."""
    name = f"watch_{notice['status']}"
    return render_prompt(name, language=notice["language"], title=notice["title"])


def list_notice_groups(notice: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the groups of changes with their headings, without empty ones."""
    language = notice["language"]
    groups = []
    for name in NOTICE_GROUPS:
        if lines := [_line(name, one) for one in notice.get(name, [])]:
            groups.append((render_prompt(f"watch_{name}", language=language), lines))
    return groups


def _line(group: str, one: Any) -> str:
    if group == "changed":
        return f"{one['before']} → {one['after']}"
    return f"{one['title']} ({one['location']})" if group.startswith("sources_") else str(one)


def render_notice(notice: dict[str, Any]) -> str:
    """Return the notice as plain text."""
    parts: list[str] = [render_subject(notice), *_list_facts(notice)]
    for heading, lines in list_notice_groups(notice):
        parts += ["", heading, *(f"- {line}" for line in lines)]
    return "\n".join(parts) + "\n"


def _list_facts(notice: dict[str, Any]) -> Sequence[str]:
    """Return the lines that say which question, run and report it is about."""
    language = notice["language"]
    if notice["status"] == "failed":
        problem = Problem.from_dict(notice["error"])
        return [notice["question"], str(problem)]
    told = {name: notice[name] for name in ("question", "run", "report", "tokens")}
    cost = f"{notice['cost']:.2f}"
    return [render_prompt("watch_facts", language=language, **told, cost=cost)]
