"""Serve the report of a finished run in every format that `dossier export` writes."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import NamedTuple
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.access import has_own_login
from app.export_queue import write_export
from config.errors import ErrorCode, Problem
from config.resources import SharedTasks
from config.settings import settings
from nodes.finished_report import load_exported_report
from report.exports.export_formats import (
    EXPORT_FORMATS,
    ExportedReport,
    check_export_style,
)
from runs.call_site import join_owner
from runs.lifecycle import RunRecord, find_run
from text.regex import regex

_MAX_NAME = 80  # characters of the title in the name of a file
_UNSAFE = regex(r"[\\/:*?\"<>|\s]+")


class _Wanted(NamedTuple):
    """An export that somebody waits for."""

    owner: str
    run: str
    updated: float
    """When the run was last changed: what is written then may differ."""
    format: str
    style: str


_writing = SharedTasks[_Wanted, tuple[ExportedReport, bytes]]()
"""What is being written now; who asks for the same meanwhile waits for it."""


async def get_report(request: Request) -> Response:
    """Return the report of a run in a format, or without one the formats that there are.

    Raises:
        Problem: `run_not_found`, `report_not_found`, `unknown_format`, `bad_choice`,
            `token_missing`, `export_busy`, `export_failed`, or what the format needs
            (`pdf_unavailable`, `no_tables`).
    ---
    summary: The report of a finished run in a format
    description: >-
      Without `format` the answer is JSON: the title of the report, and the formats with their
      addresses. The names of errors are those of the command line.
    tags: [Reports]
    parameters:
      - {name: run, in: path, required: true, schema: {type: string},
         description: "The name of a run, or a thread, which stands for its newest run."}
      - {name: format, in: query, schema: {type: string,
         enum: [md, html, pdf, docx, epub, csv, json, bib, csl]}}
      - {name: style, in: query, schema: {type: string, enum: [numeric, author-year, footnotes]},
         description: "How sources are cited; each format has one that is usual."}
      - {name: project, in: query, schema: {type: string},
         description: "The project of the run, if it has one."}
    responses:
      "200": {description: "The file, with the SHA-256 of its content as ETag; or the formats."}
      "304": {description: "The file is the one that the client has."}
      "401": {description: "The token or the login is missing."}
      "404": {description: "The run is not there, has no report yet, or no table for `csv` (`run_not_found`, `report_not_found`, `no_tables`)."}
      "422": {description: "The format or the style is unknown (`unknown_format`, `bad_choice`)."}
      "500": {description: "The file cannot be written (`export_failed`)."}
      "503": {description: "A format needs what is not installed (`pdf_unavailable`), or too many exports wait (`export_busy`, with `Retry-After`)."}
    """  # noqa: E501
    query = request.query_params
    owner = join_owner(_find_login(request), query.get("project", ""))
    name = query.get("format", "").lower()
    style = check_export_style(name, query.get("style", "")) if name else ""
    run = await find_run(owner, request.path_params["run"])
    if not name:
        return JSONResponse(await _describe(run, request))
    report, content = await _write_once(run, name, style)
    return _answer(request, report, name, content)


async def _describe(run: RunRecord, request: Request) -> dict[str, object]:
    """Return what a report is, and where each of its formats is."""
    document = (await load_exported_report(run)).document
    asked = {key: value for key, value in request.query_params.items() if key == "project"}
    formats = [
        {
            "format": name,
            "media_type": one.media_type,
            "styles": list(one.styles),
            "url": f"/reports/{quote(run.id)}?{urlencode({'format': name, **asked})}",
        }
        for name, one in EXPORT_FORMATS.items()
    ]
    about = {"run": run.id, "thread": run.thread, "status": run.status}
    return {**about, "title": document["title"], "created": document["created"], "formats": formats}


def _find_login(request: Request) -> str:
    """Return the user whose runs a request may see, as `resolve_owner` names the user of a run.

    Raises:
        Problem: `token_missing` where a login is required and the request has none.
    """
    user = request.scope.get("user")
    if user is not None and user.identity:
        return str(user.identity)
    if has_own_login():
        hint = "set http.enable_custom_route_auth in langgraph.json, and log in"
        raise Problem(ErrorCode.TOKEN_MISSING, "this request has no login", hint=hint)
    return settings().user


async def _write_once(run: RunRecord, name: str, style: str) -> tuple[ExportedReport, bytes]:
    """Return a report and its file; the same file is never written twice at the same time."""

    async def load() -> ExportedReport:
        return (await load_exported_report(run))._replace(style=style)

    wanted = _Wanted(run.owner, run.id, run.updated, name, style)
    return await _writing.run(wanted, lambda: write_export(load, name))


def _answer(request: Request, report: ExportedReport, name: str, content: bytes) -> Response:
    """Return a file that a browser stores and never shows as a page of the server."""
    chosen = EXPORT_FORMATS[name]
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": _format_disposition(report, chosen.suffix),
        "X-Content-Type-Options": "nosniff",
    }
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or tag in {one.strip().removeprefix("W/") for one in known.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=chosen.media_type)


def _format_disposition(report: ExportedReport, suffix: str) -> str:
    """Return a header that names the file by its title, and for old clients by its run."""
    title = unicodedata.normalize("NFC", report.document["title"])
    shown = "".join(one for one in title if unicodedata.category(one)[0] != "C")
    name = _UNSAFE.sub(" ", shown).strip(" .")[:_MAX_NAME].strip(" .") or report.run
    plain = f"{report.run}.{suffix}"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(f'{name}.{suffix}', '')}"


REPORT_ROUTES = [Route("/reports/{run}", get_report, methods=["GET"])]
"""The routes that the server mounts beside those of LangGraph."""
