"""The report of a finished run as a file."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Name, Owner, ProjectName, RunName
from app.api.problem_answers import tell_problems
from app.api.report_exports import answer_export, export_once
from app.api.router import make_router
from nodes.finished_report import load_exported_report
from report.exports.export_formats import EXPORT_FORMATS, check_export_style
from runs.lifecycle import RunRecord, find_run

router = make_router("Reports")

_STYLES = list(dict.fromkeys(style for one in EXPORT_FORMATS.values() for style in one.styles))

FormatName = Annotated[
    Name,
    Query(
        description="The format; without one the answer says which there are.",
        json_schema_extra={"enum": list(EXPORT_FORMATS)},
    ),
]

StyleName = Annotated[
    Name,
    Query(
        description="How sources are cited; each format has one that is usual.",
        json_schema_extra={"enum": _STYLES},
    ),
]


class ReportFormat(BaseModel):
    """A format in which a report can be exported."""

    format: str
    media_type: str
    styles: list[str] = Field(description="How it can cite sources, the usual way first.")
    url: str


class ReportFormats(BaseModel):
    """A report, and the formats in which it can be exported."""

    run: str
    thread: str
    status: str
    title: str
    created: str = Field(description="The day, as an ISO date.")
    formats: list[ReportFormat]


_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ReportFormats,
        "description": "The file, with the SHA-256 of its content as ETag; or the formats.",
        "content": {one.media_type: {} for one in EXPORT_FORMATS.values()},
    },
    304: {"description": "The file is the one that the client has."},
    **tell_problems(
        *("token_missing", "run_not_found", "report_not_found", "no_tables"),
        *("unknown_format", "bad_choice", "pdf_unavailable", "export_busy", "export_failed"),
    ),
}


@router.get("/reports/{run}", summary="A report as a file", response_model=None, responses=_FILES)
async def get_report_file(
    request: Request,
    run: RunName,
    owner: Owner,
    format: FormatName = "",
    style: StyleName = "",
    project: ProjectName = "",
) -> Response | ReportFormats:
    """Return the report of a run in a format; without one, list the formats."""
    name = format.lower()
    cited = check_export_style(name, style) if name else ""
    found = await find_run(owner, run)
    if not name:
        return await _describe_formats(found, project)
    report, content = await export_once(found, name, cited)
    return answer_export(request, report, name, content)


async def _describe_formats(run: RunRecord, project: str) -> ReportFormats:
    """Return a report with the URL of each of its formats."""
    document = (await load_exported_report(run)).document
    asked = {"project": project} if project else {}
    formats = [
        ReportFormat(
            format=name,
            media_type=one.media_type,
            styles=list(one.styles),
            url=f"/reports/{quote(run.id)}?{urlencode({'format': name, **asked})}",
        )
        for name, one in EXPORT_FORMATS.items()
    ]
    return ReportFormats(
        run=run.id,
        thread=run.thread,
        status=run.status,
        title=document["title"],
        created=document["created"],
        formats=formats,
    )
