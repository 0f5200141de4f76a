"""The report of a finished run, made again from its saved state."""

from __future__ import annotations

from typing import cast

from langchain_core.runnables import RunnableConfig

from config.errors import ErrorCode, Problem
from graph.state import State
from library.store import read_page_days
from nodes.deliver import draw_report
from nodes.report_updates import add_later_changes
from report.document import ReportDocument
from report.exports.export_formats import ExportedReport
from runs.checkpointer import open_checkpointer
from runs.lifecycle import RunRecord


async def load_report_document(run: RunRecord) -> ReportDocument:
    """Return the document of a run's report, as its files show it.

    Raises:
        Problem: `report_not_found`.
    """
    state = await _find_report_state(run)
    return await draw_report(run.owner, run.id, state, state["report"].get("created", ""))


async def load_exported_report(run: RunRecord) -> ExportedReport:
    """Return the report of a run with what exports say beside it, and what became of it since.

    Raises:
        Problem: `report_not_found`.
    """
    state = await _find_report_state(run)
    day = state["report"].get("created", "")
    document = await draw_report(run.owner, run.id, state, day)
    document = await add_later_changes(run, state, document)
    pages = {
        one["id"]: one["page"] for one in document["sources"] if one["id"] in document["texts"]
    }
    days = await read_page_days(run.owner, list(pages.values()))
    read = {name: days[page] for name, page in pages.items() if page in days}
    return ExportedReport(run.id, run.thread, document, read)


async def _find_report_state(run: RunRecord) -> State:
    """Return the newest saved state of a run with a report.

    Raises:
        Problem: `report_not_found`.
    """
    place: RunnableConfig = {"configurable": {"thread_id": run.thread, "checkpoint_ns": ""}}
    async with open_checkpointer() as saver:
        async for saved in saver.alist(place):
            values = saved.checkpoint["channel_values"]
            if values.get("run") == run.id and values.get("report", {}).get("title"):
                return cast("State", values)
    what = f"{run.id} has no report; its status is {run.status}"
    hint = f"see `dossier runs show {run.id}`"
    raise Problem(ErrorCode.REPORT_NOT_FOUND, what, hint=hint)
