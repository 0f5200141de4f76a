"""Export reports; clients that wait for the same file share one export."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.api.etags import answer_with_etag
from app.api.server_paths import load_path_filter
from app.export_queue import write_export
from config.resources import RecentCache, Resource, SharedTasks
from config.settings import settings
from nodes.finished_report import load_exported_report, load_report_document
from report.exports.export_formats import EXPORT_FORMATS, ExportedReport
from runs.lifecycle import RunRecord
from storage.events import read_revision
from text.regex import regex

_MAX_NAME = 80  # characters of the title in the name of a file
_UNSAFE = regex(r"[\\/:*?\"<>|\s]+")


class _Wanted(NamedTuple):
    """What identifies an export."""

    owner: str
    run: str
    updated: float
    """When the run last changed; an export made before that may differ."""
    format: str
    style: str


_writing = SharedTasks[_Wanted, tuple[ExportedReport, bytes]]()
"""The exports in progress, which later requests for the same file join."""


class _SharedPage(NamedTuple):
    """What identifies the page of a shared report."""

    owner: str
    run: str
    updated: float
    revision: int
    """The owner's newest event; after another one, something may have been forgotten."""


KEPT_PAGES = 16
"""How many pages of shared reports are cached."""

_shared_pages = Resource(lambda: RecentCache[_SharedPage, str](KEPT_PAGES))
_rendering = SharedTasks[_SharedPage, str]()


async def export_once(run: RunRecord, name: str, style: str) -> tuple[ExportedReport, bytes]:
    """Return a report and its file; concurrent requests for the same file share one export.

    Args:
        run: The run of the report.
        name: The format.
        style: How it cites sources, one of the styles of the format.

    Raises:
        Problem: `report_not_found`, `export_busy`, `export_failed`, or what the format needs
            (`pdf_unavailable`, `no_tables`).
    """

    async def load() -> ExportedReport:
        report = (await load_exported_report(run))._replace(style=style)
        if not settings().has_users:
            return report
        # A person alone on their own machine may see the paths of their files.
        shown = (await load_path_filter(run.owner)).hide(report.document)
        return report._replace(document=shown)

    wanted = _Wanted(run.owner, run.id, run.updated, name, style)
    return await _writing.run(wanted, lambda: write_export(load, name))


async def render_shared_page(run: RunRecord) -> str:
    """Return the report of a run as one HTML page for others, as it was delivered.

    The page has neither the owner's feedback nor paths of the server. It is cached until its owner
    changes anything, so that repeated requests cost the server nothing.

    Raises:
        Problem: `report_not_found`, `export_busy` or `export_failed`.
    """
    key = _SharedPage(run.owner, run.id, run.updated, await read_revision(run.owner))
    pages = _shared_pages.get()
    page = pages.get(key)
    if page is None:
        page = await _rendering.run(key, lambda: _render_page(run))
        pages[key] = page
    return page


async def _render_page(run: RunRecord) -> str:
    async def load() -> ExportedReport:
        document = await load_report_document(run)
        shown = (await load_path_filter(run.owner)).hide(document)
        shown.pop("command", None)
        return ExportedReport(run.id, "", shown, {})

    _, page = await write_export(load, "html")
    return page.decode()


def answer_export(request: Request, report: ExportedReport, name: str, content: bytes) -> Response:
    """Return an export as an attachment, which a browser saves and never renders."""
    chosen = EXPORT_FORMATS[name]
    headers = {"Content-Disposition": _format_disposition(report, chosen.suffix)}
    tag = hashlib.sha256(content).hexdigest()
    return answer_with_etag(request, tag, content, chosen.media_type, headers)


def _format_disposition(report: ExportedReport, suffix: str) -> str:
    """Return `Content-Disposition` with the title as the file name; the run, for old clients."""
    title = unicodedata.normalize("NFC", report.document["title"])
    shown = "".join(one for one in title if unicodedata.category(one)[0] != "C")
    name = _UNSAFE.sub(" ", shown).strip(" .")[:_MAX_NAME].strip(" .") or report.run
    plain = f"{report.run}.{suffix}"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(f'{name}.{suffix}', '')}"
