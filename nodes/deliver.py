"""Deliver the report: set its date, add it to the conversation, and write its files."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from langchain_core.messages import AIMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from calls.attempts import EMBEDDER, INDEXER, OPEN_STATUS, list_attempts
from config.errors import Problem
from graph.context import Context
from graph.records import Report, ResearchLog, UnreadPage, WithheldQuery
from graph.state import State
from report.citations import extract_host
from report.computed_results import ReportComputation, make_figure
from report.document import ReportDocument, build_document, removed_command
from report.export import (
    ReportTarget,
    digest_report_files,
    render_report_files,
    resolve_report_folder,
)
from report.rendering.chat_report import render_chat_report
from report.report_places import put_report, stored_report_folder
from report.versions import find_version_changes
from runs.call_site import call_site
from runs.incomplete import find_first_error
from runs.lifecycle import (
    REPORT_FILES,
    find_run,
    list_file_digests,
    record_file_digests,
    set_report_dir,
    set_run_status,
)
from runs.trace import list_base_searches, list_withheld, read_trace, trace
from tools.computations import load_computations, load_computed_files
from tools.program_files import is_figure
from tools.source_checks import load_cited_texts

TARGET_KEY = "__report_target"
"""Where in `configurable` a command puts a `ReportTarget`; nothing of it is saved."""

MAX_UNREAD_PAGES = 40
"""How many pages that could not be read are kept with a report."""

log = logging.getLogger(__name__)


async def deliver(state: State, runtime: Runtime[Context]) -> State:
    """Deliver the report of this turn to the person.

    Reads `report`, `answers`, `sources`, `status`; writes `report` (its date, what the run did
    for it, and why it has no files) and `messages`. Delivering the same report again changes
    nothing, not even its date. If the folder cannot be written, only the files are missing.
    """
    if not state["report"]["title"]:
        return State()
    place = call_site(state, runtime)
    if "research" not in state["report"]:
        research = await summarize_research(place.run)
        state = {**state, "report": {**state["report"], "research": research}}
    target = None if runtime.server_info else get_config()["configurable"].get(TARGET_KEY)
    day = await _find_day(place.owner, place.run, state)
    report: Report = {**state["report"], "created": day}
    report.pop("file_error", None)
    document = await draw_report(place.owner, place.run, state, day)
    try:
        folder = await _choose_folder(place.owner, place.run, target)
        await _write(place.owner, place.run, document, folder, force=bool(target and target.force))
    except Problem as problem:
        log.warning("%s has no report files: %s", place.run, problem)
        await trace(place, "status", "deliver", problem.code)
        report["file_error"] = problem.as_dict()
    await _record_end(place.owner, place.run, state)
    talked: ReportDocument = {**document, "command": ""}
    shown = await asyncio.to_thread(render_chat_report, talked, f"{state['turn']}", place.run)
    return State(report=report, messages=[AIMessage(shown, id=_find_message_id(state))])


async def summarize_research(run: str) -> ResearchLog:
    """Return what a run has done until now beside what its state holds.

    A call that a crash left without an answer is none: the run made it again.
    """
    calls = Counter(
        attempt.model
        for attempt in await list_attempts(run)
        if attempt.role not in (EMBEDDER, INDEXER) and attempt.status != OPEN_STATUS
    )
    try:
        lines = await read_trace(run)
    except Problem as problem:
        log.warning("the report of %s is without its trace: %s", run, problem)
        lines = []
    searches = {
        str(one.get("query")) for one in lines if (one["kind"], one["status"]) == ("search", "ok")
    }
    fetches = [one for one in lines if one["kind"] == "fetch"]
    failed = {str(one.get("url")): one["status"] for one in fetches}
    for one in fetches:
        if one["status"] in ("ok", "stored"):
            failed.pop(str(one.get("url")), None)
    unread = [UnreadPage(site=extract_host(url), reason=code) for url, code in failed.items()]
    found = ResearchLog(
        calls=dict(calls), web_searches=len(searches), unread=unread[:MAX_UNREAD_PAGES]
    )
    unanswered = Counter(
        str(name)
        for one in lines
        if (one["kind"], one["status"]) == ("search", "ok")
        for name in one.get("failed") or ()
    )
    if unanswered:
        found["unanswered"] = dict(unanswered)
    if withheld := list_withheld(lines):
        found["withheld"] = [WithheldQuery(sent=sent, to=to) for sent, to in withheld]
    if bases := list_base_searches(lines):
        found["bases"] = bases
    return found


async def draw_report(owner: str, run: str, state: State, day: str) -> ReportDocument:
    """Return the document of a run's report, as its files show it; `day` is an ISO date."""
    texts = await load_cited_texts(owner, state)
    document = build_document(state, state["report"], state["status"], day, texts)
    document["command"] = removed_command(run)
    if computations := await _load_computations(owner, document, state["report"]):
        document["computations"] = computations
    if changes := await asyncio.to_thread(find_version_changes, state, state["report"]):
        document["changes"] = changes
    return document


async def _load_computations(
    owner: str, document: ReportDocument, report: Report
) -> list[ReportComputation]:
    """Return the programs whose results a report cites, with the figures that they drew."""
    cited = {one["id"]: one for one in document["sources"] if one["id"] in report["cited"]}
    recomputed = {one["source"]: one for one in report.get("recomputed", [])}
    computations = []
    for name, record in (await load_computations(owner, cited)).items():
        figures = [one for one in record["files"] if is_figure(one["name"])]
        data = await load_computed_files(owner, figures)
        again = recomputed.get(name)
        shown = ReportComputation(
            source=cited[name],
            code=record["code"],
            inputs=[one["name"] for one in record["inputs"]],
            sha256=record["sha256"],
            outcome=again["outcome"] if again else "",
            changed=again.get("files", []) if again else [],
            figures=[
                make_figure(one["name"], data[one["sha256"]])
                for one in figures
                if one["sha256"] in data
            ],
        )
        computations.append(shown)
    return computations


async def write_run_report(
    owner: str, run: str, state: State, folder: Path, *, force: bool
) -> dict[str, Path]:
    """Write the files of a report to a folder; return their paths by kind.

    Versions before 5 stored no date of delivery; their runs ended on it.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    ended = datetime.fromtimestamp((await find_run(owner, run)).updated, UTC)
    day = state["report"].get("created", ended.date().isoformat())
    document = await draw_report(owner, run, state, day)
    written = Path(await _write(owner, run, document, str(folder), force=force))
    return {kind: written / name for kind, name in REPORT_FILES.items()}


async def _write(
    owner: str, run: str, document: ReportDocument, folder: str, *, force: bool
) -> str:
    contents = await asyncio.to_thread(render_report_files, document)
    own = await list_file_digests(run, owner)
    # The process may be killed between writing the files and recording their folder.
    await record_file_digests(run, owner, digest_report_files(contents))
    written = await put_report(contents, folder, force=force, own=own)
    await set_report_dir(run, written)
    return written


async def _choose_folder(owner: str, run: str, target: ReportTarget | None) -> str:
    """Return where this command or the start of the run wants the report, or the usual place.

    Raises:
        Problem: What `resolve_report_folder` raises.
    """
    if target:
        return str(resolve_report_folder(target.out, run))
    named = (await find_run(owner, run)).out
    return named or stored_report_folder(run)


async def _find_day(owner: str, run: str, state: State) -> str:
    """Return the day of the first delivery of this report, or today."""
    if day := state["report"].get("created"):
        return day
    written = await list_file_digests(run, owner)
    for day in dict.fromkeys(written.values()):
        contents = render_report_files(await draw_report(owner, run, state, day))
        if written.keys() >= set(digest_report_files(contents)):
            return day
    return datetime.now(UTC).date().isoformat()


def _find_message_id(state: State) -> str | None:
    """Return the id of the message that shows the report, or is streamed as its draft."""
    answer = (state.get("answers") or {}).get(str(state["turn"]))
    if answer and answer.get("message"):
        return answer["message"]
    last = state["messages"][-1]
    return last.id if isinstance(last, AIMessage) else None


async def _record_end(owner: str, run: str, state: State) -> None:
    """Record the outcome of the run."""
    problem, status = find_first_error(state), state["status"]
    code = problem.code if problem else ""
    code = status if status == "insufficient_evidence" else code
    await set_run_status(owner, run, status, code=code)
