"""Write the report of a run in a format, each file once for all who wait for it."""

from __future__ import annotations

import asyncio
import hashlib
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.api.content_tags import answer_tagged
from app.api.server_paths import load_path_filter
from nodes.finished_report import load_exported_report, load_report_document
from report.exports.export_formats import EXPORT_FORMATS, ExportedReport, find_format
from report.exports.report_text import export_html
from runs.lifecycle import RunRecord
from text.regex import regex

_MAX_NAME = 80  # characters of the title in the name of a file
_UNSAFE = regex(r"[\\/:*?\"<>|\s]+")

_WORKER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
"""Writes one export at a time, so that the runs of the server keep most of the processor."""


class _Wanted(NamedTuple):
    """An export that somebody waits for."""

    owner: str
    run: str
    updated: float
    """When the run was last changed: what is written then may differ."""
    format: str
    style: str


_WRITING: dict[_Wanted, asyncio.Task[tuple[ExportedReport, bytes]]] = {}
"""What is being written now; who asks for the same meanwhile waits for it."""


async def export_once(run: RunRecord, name: str, style: str) -> tuple[ExportedReport, bytes]:
    """Return a report and its file; the same file is never written twice at the same time.

    Args:
        run: The run of the report.
        name: The format.
        style: How it cites sources, one of the styles of the format.

    Raises:
        Problem: `report_not_found`, or what the format needs (`pdf_unavailable`, `no_tables`).
    """
    wanted = _Wanted(run.owner, run.id, run.updated, name, style)
    task = _WRITING.get(wanted)
    if task is None:
        task = _WRITING[wanted] = asyncio.create_task(_write(run, name, style))
        task.add_done_callback(lambda _: _WRITING.pop(wanted, None))
    # A client that goes away does not take the file from the others.
    return await asyncio.shield(task)


async def _write(run: RunRecord, name: str, style: str) -> tuple[ExportedReport, bytes]:
    report = (await load_exported_report(run))._replace(style=style)
    loop = asyncio.get_running_loop()
    return report, await loop.run_in_executor(_WORKER, lambda: find_format(name).load()(report))


async def render_shared_page(run: RunRecord) -> str:
    """Return the report of a run as one page for others, as it was delivered.

    It neither tells what its owner said of it nor where files of the server are.

    Raises:
        Problem: `report_not_found`.
    """
    document = await load_report_document(run)
    shown = (await load_path_filter(run.owner)).hide(document)
    shown.pop("command", None)
    report = ExportedReport(run.id, "", shown, {})
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_WORKER, lambda: export_html(report).decode())


def answer_export(request: Request, report: ExportedReport, name: str, content: bytes) -> Response:
    """Return a file that a browser stores and never shows as a page of the server."""
    chosen = EXPORT_FORMATS[name]
    headers = {"Content-Disposition": _format_disposition(report, chosen.suffix)}
    tag = hashlib.sha256(content).hexdigest()
    return answer_tagged(request, tag, content, chosen.media_type, headers)


def _format_disposition(report: ExportedReport, suffix: str) -> str:
    """Return a header that names the file by its title, and for old clients by its run."""
    title = unicodedata.normalize("NFC", report.document["title"])
    shown = "".join(one for one in title if unicodedata.category(one)[0] != "C")
    name = _UNSAFE.sub(" ", shown).strip(" .")[:_MAX_NAME].strip(" .") or report.run
    plain = f"{report.run}.{suffix}"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(f'{name}.{suffix}', '')}"
