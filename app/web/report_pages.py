"""A report in the console: its page in a frame, files, links, versions, sources, feedback."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Name, Owner, RunName
from app.api.report_exports import answer_export, export_once
from app.api.server_paths import load_path_filter
from app.api.share_routes import MAX_HOURS
from app.cli.cited_source import find_source_evidence, list_cited_sources
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.console_threads import begin_run, is_server_thread
from app.web.console_words import say
from app.web.framed_pages import answer_framed_page
from app.web.page_rendering import go_to, render_console_page
from app.web.question_forms import list_choice_bounds
from app.web.question_pages import read_follow_choices
from calls.attempts import list_attempts, sum_attempts
from config.errors import ErrorCode, Problem
from memory.learning.run_feedback import record_feedback
from nodes.finished_report import load_report_document
from nodes.report_versions import list_report_versions
from report.exports.export_formats import EXPORT_FORMATS, check_export_style
from report.rendering.diff_page import render_diff_page
from report.report_diff import ReportEnd, compare_reports
from report.versions import list_section_titles
from runs.lifecycle import RunRecord, find_run, with_real_status
from runs.report_shares import create_share, list_shares, revoke_share

router = make_console_router()

_HOURS = (24, 24 * 7, 24 * 30, MAX_HOURS)


@router.get("/reports/{run}")
async def show_report(
    request: Request, run: RunName, owner: Owner, told: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    """Show a report with everything that can be done with it."""
    return await _render_report(request, await find_run(owner, run), told=told)


async def _render_report(
    request: Request, record: RunRecord, *, told: str = "", link: str = ""
) -> Response:
    document = await load_report_document(record)
    versions, shares, made = await asyncio.gather(
        list_report_versions(record), list_shares(record), list_attempts(record.id)
    )
    values = {
        "run": with_real_status(record),
        "title": document["title"],
        "spent": sum_attempts(made),
        "sections": list_section_titles(document["body"]),
        "formats": EXPORT_FORMATS,
        "versions": versions[::-1],
        "shares": shares,
        "hours": _HOURS,
        "may_ask_on": is_server_thread(record.thread),
        "may_resume": record.status == "partial" and is_server_thread(record.thread),
        "bounds": list_choice_bounds(),
        "told": told,
        "link": link,
    }
    return render_console_page(request, "report", values)


@router.get("/reports/{run}/page")
async def show_report_frame(run: RunName, owner: Owner) -> Response:
    """Return the report itself, for the frame of its page."""
    record = await find_run(owner, run)
    _, page = await export_once(record, "html", check_export_style("html", ""))
    return answer_framed_page(page.decode())


@router.get("/reports/{run}/file")
async def get_console_file(
    request: Request, run: RunName, owner: Owner, format: Name, style: Name = ""
) -> Response:
    """Return the report in a format."""
    cited = check_export_style(format.lower(), style)
    report, content = await export_once(await find_run(owner, run), format.lower(), cited)
    return answer_export(request, report, format.lower(), content)


@router.get("/reports/{run}/diff")
async def show_difference(request: Request, run: RunName, owner: Owner, to: Name) -> Response:
    """Show what a report says otherwise than an earlier one."""
    record, before = await find_run(owner, run), await find_run(owner, to)
    document = await load_report_document(record)
    values = {"run": record, "before": before, "title": document["title"]}
    return render_console_page(request, "difference", values)


@router.get("/reports/{run}/diff/page")
async def show_difference_frame(run: RunName, owner: Owner, to: Name) -> Response:
    """Return the page of the differences, for the frame of its page."""
    ends = [
        ReportEnd(one.id, await load_report_document(one))
        for one in (await find_run(owner, to), await find_run(owner, run))
    ]
    page = await asyncio.to_thread(lambda: render_diff_page(compare_reports(*ends)))
    return answer_framed_page(page)


@router.get("/reports/{run}/sources")
async def show_report_sources(request: Request, run: RunName, owner: Owner) -> Response:
    """List the documents that a report cites."""
    record = await find_run(owner, run)
    document = await load_report_document(record)
    listed = await asyncio.to_thread(list_cited_sources, document)
    paths = await load_path_filter(owner)
    sources = [paths.hide(one.describe_source()) for one in listed]
    values = {"run": record, "title": document["title"], "sources": sources}
    return render_console_page(request, "sources", values)


@router.get("/reports/{run}/sources/{source}")
async def show_report_source(
    request: Request, run: RunName, source: Annotated[Name, Path()], owner: Owner
) -> Response:
    """Show the passages of a source that a report cites, and the sentences that cite them."""
    record = await find_run(owner, run)
    document = await load_report_document(record)
    found = await asyncio.to_thread(find_source_evidence, document, source)
    passages = await asyncio.to_thread(found.describe_passages)
    paths = await load_path_filter(owner)
    values: dict[str, Any] = {"run": record, "title": document["title"], "passages": passages}
    return render_console_page(
        request, "source", {**values, "source": paths.hide(found.describe_source())}
    )


@router.post("/reports/{run}/shares")
async def share_console_report(
    request: Request, run: RunName, owner: Owner, form: CheckedForm
) -> Response:
    """Make a link that shows the report, and tell its address once."""
    record = await find_run(owner, run)
    await load_report_document(record)
    hours = int(form.text("hours")) if form.text("hours").isdecimal() else 0
    if hours not in _HOURS:
        what, hint = "no link lasts so long", "choose one of the times that are offered"
        raise Problem(ErrorCode.OUT_OF_RANGE, what, hint=hint)
    _, token = await create_share(record, hours * 3_600)
    link = f"{str(request.base_url).rstrip('/')}/shared/{token}"
    return await _render_report(request, record, told="shared", link=link)


@router.post("/reports/{run}/shares/{share}/revoke")
async def revoke_console_share(
    run: RunName, share: Annotated[Name, Path()], owner: Owner, form: CheckedForm
) -> Response:
    """Let a link show the report no more."""
    del form
    record = await find_run(owner, run)
    await revoke_share(record, share)
    return go_to(f"{CONSOLE}/reports/{record.id}?told=revoked")


@router.post("/reports/{run}/feedback")
async def give_console_feedback(run: RunName, owner: Owner, form: CheckedForm) -> Response:
    """Record what a person says of a report: good, bad, or what was wrong."""
    record = await find_run(owner, run)
    rating = form.text("rating")
    if rating in ("up", "down"):
        await record_feedback(record, rating)
    if words := form.words("words"):
        await record_feedback(record, words)
    if not (rating or words):
        hint = "say what was good or wrong"
        raise Problem(ErrorCode.FEEDBACK_EMPTY, "nothing was said", hint=hint)
    return go_to(f"{CONSOLE}/reports/{record.id}?told=heard")


@router.post("/reports/{run}/deepen")
async def deepen_section(
    request: Request, run: RunName, owner: Owner, form: CheckedForm
) -> Response:
    """Ask for more on a section of a report, as a new version of it."""
    record = await find_run(owner, run)
    document = await load_report_document(record)
    titles = list_section_titles(document["body"])
    number = int(form.text("section")) if form.text("section").isdecimal() else 0
    if not 0 < number <= len(titles):
        hint = "choose one of the list"
        raise Problem(ErrorCode.BAD_CHOICE, "the report has no such section", hint=hint)
    request_words = say(document["language"][:2], "report.deepen_words", number=number)
    choices = read_follow_choices(record.context)
    await begin_run(request, record.thread, choices, content=request_words)
    return go_to(f"{CONSOLE}/questions/{record.thread}")
