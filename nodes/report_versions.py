"""The reports of a conversation, and which of them are new versions of others."""

from __future__ import annotations

from typing import NamedTuple

from nodes.finished_report import load_report_document
from runs.earlier_runs import load_thread_states
from runs.lifecycle import RunRecord


class ReportVersion(NamedTuple):
    """A report of a conversation."""

    run: str
    title: str
    created: str
    """The day, as an ISO date."""
    kind: str
    """Why it was written anew (`graph.records.Revision`); empty for a report of its own."""
    revises: str
    """The run of the version before; empty for none."""


async def list_report_versions(run: RunRecord) -> list[ReportVersion]:
    """Return the reports of the conversation of a run, the oldest first.

    Raises:
        Problem: `report_not_found` if the run has none.
    """
    await load_report_document(run)
    states = [
        state
        for state in (await load_thread_states(run.thread)).values()
        if state["report"]["title"]
    ]
    found = []
    for state in sorted(states, key=lambda state: state["turn"]):
        report, revision = state["report"], state.get("revision")
        kind, revises = (revision["kind"], revision["run"]) if revision else ("", "")
        found.append(
            ReportVersion(state["run"], report["title"], report.get("created", ""), kind, revises)
        )
    return found
