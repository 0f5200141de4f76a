"""The reports of finished runs over HTTP: list them, read one, its sources, its versions."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from app.api.etags import answer_with_etag
from app.api.listings import Cursor, Limit, Listing, make_listing, read_cursor, write_cursor
from app.api.parameters import Name, Owner, RunName, Words
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.server_paths import load_path_filter
from app.cli.cited_source import find_source_evidence, list_cited_sources
from memory.learning.run_feedback import record_feedback
from memory.report_titles import ReportTitle, list_report_titles
from nodes.finished_report import load_exported_report, load_report_document
from nodes.report_versions import ReportVersion, list_report_versions
from report.document import ReportDocument, extract_answer
from report.rendering.markdown_report import render_markdown
from report.report_diff import ReportEnd, compare_reports
from runs.lifecycle import RunRecord, find_run

router = make_router("Reports", "/api/reports")


class ReportSummary(BaseModel):
    """A report in a list."""

    run: str
    thread: str
    status: str
    title: str
    question: str
    created: float = Field(description="When it was asked, in seconds since 1970.")


class ReportSource(BaseModel):
    """A document that a report cites."""

    number: int = Field(description="Its number in the report.")
    ids: list[str] = Field(description="The ids of its pages in the marks of the text.")
    title: str
    location: str = Field(description="Its address on the web, or its path below what was read.")
    kind: str
    site: str = ""
    author: str = ""
    published: str = ""
    genre: str = ""


class CitedWords(BaseModel):
    """Words of a passage, and the sentences of the report that cite them."""

    words: str = Field(description="Empty where it is not certain which words bear a sentence out.")
    sentences: list[str]


class CitedPassage(BaseModel):
    """A paragraph of a source that a report cites."""

    id: str
    place: str
    paragraph: str
    cited: list[CitedWords]


class ReportSourceEvidence(BaseModel):
    """A source of a report, with its passages in their paragraphs."""

    run: str
    source: ReportSource
    passages: list[CitedPassage]


class FullReport(BaseModel):
    """A report with everything that is shown around it.

    `document` also has notices, gaps, sources, doubts, contradictions, method and programs, as
    `report/document.py` describes them.
    """

    run: str
    thread: str
    status: str
    title: str
    answer: str = Field(description="The short answer that opens it, with ids of sources.")
    markdown: str = Field(description="The whole report.")
    document: dict[str, Any]


class VersionOfReport(BaseModel):
    """A report of the same conversation, and the earlier one that it is a new version of."""

    run: str
    title: str
    created: str = Field(description="The day, as an ISO date.")
    kind: str = Field(
        description="Empty for a report of its own, else why it was written anew.",
        examples=["", "shorten", "rewrite", "deepen", "add", "refresh"],
    )
    revises: str = Field(description="The run of the version before; empty for none.")


class ReportVersions(BaseModel):
    """The reports of a conversation, the oldest first."""

    run: str
    versions: list[VersionOfReport]


class FeedbackWords(BaseModel):
    """Feedback on a report."""

    words: Words = Field(examples=["up", "down", "The price is per month, not per year."])


class RecordedFeedback(BaseModel):
    """What was recorded."""

    run: str
    feedback: str = Field(examples=["up", "down", "text"])
    fact: str = Field(description="The id of the fact that a correction became; empty for none.")


_NO_REPORT = tell_problems("run_not_found", "report_not_found")

Sought = Annotated[Name, Query(description="Only reports with this in the title or question.")]


@router.get("", summary="Your reports, the newest first", responses=tell_problems("bad_cursor"))
async def list_api_reports(
    owner: Owner, limit: Limit = 50, cursor: Cursor = "", search: Sought = ""
) -> Listing[ReportSummary]:
    """Return the reports of a person, one page at a time."""
    given = read_cursor(cursor, float, str)
    before = (given[0], given[1]) if given else None
    found = await list_report_titles(owner, limit + 1, before=before, search=search)
    last = found[limit - 1] if len(found) > limit else None
    more = write_cursor(last.created, last.run) if last else ""
    return make_listing([_summarize(one) for one in found], limit, more)


@router.get(
    "/{run}",
    summary="A report as data",
    response_model=None,
    responses={
        200: {"model": FullReport, "description": "The report, with an ETag of its content."},
        304: {"description": "The report is the one that the client has."},
        **_NO_REPORT,
    },
)
async def get_full_report(request: Request, run: RunName, owner: Owner) -> Response:
    """Return a report with everything that is shown around it."""
    found = await find_run(owner, run)
    document = (await load_exported_report(found)).document
    hidden = (await load_path_filter(owner)).hide(document)
    content = await asyncio.to_thread(_to_json, found, hidden)
    tag = hashlib.sha256(content).hexdigest()
    return answer_with_etag(request, tag, content, "application/json", {})


@router.get("/{run}/sources", summary="The documents that a report cites", responses=_NO_REPORT)
async def list_report_sources(run: RunName, owner: Owner) -> list[ReportSource]:
    """Return the documents that a report cites, by number."""
    document = await load_report_document(await find_run(owner, run))
    listed = await asyncio.to_thread(list_cited_sources, document)
    paths = await load_path_filter(owner)
    return [ReportSource(**paths.hide(one.describe_source())) for one in listed]


@router.get(
    "/{run}/sources/{source}",
    summary="What a report uses of a source, word for word",
    responses=tell_problems("run_not_found", "report_not_found", "source_not_found"),
)
async def get_report_source(
    run: RunName,
    source: Annotated[Name, Path(description="Its number in the report, or the id of a page.")],
    owner: Owner,
) -> ReportSourceEvidence:
    """Return the passages of a source that a report cites, and the sentences that cite them."""
    record = await find_run(owner, run)
    document = await load_report_document(record)
    found = await asyncio.to_thread(find_source_evidence, document, source)
    shown = (await load_path_filter(owner)).hide(found.describe_source())
    passages = [CitedPassage(**one) for one in found.describe_passages()]
    return ReportSourceEvidence(run=record.id, source=ReportSource(**shown), passages=passages)


@router.get("/{run}/versions", summary="The versions of a report", responses=_NO_REPORT)
async def list_versions_of_report(run: RunName, owner: Owner) -> ReportVersions:
    """Return the reports of the same conversation, and which of them are versions of others."""
    record = await find_run(owner, run)
    found = await list_report_versions(record)
    return ReportVersions(run=record.id, versions=[_version(one) for one in found])


@router.get(
    "/{run}/diff",
    summary="How a report differs from another one",
    response_model=None,
    responses={200: {"description": "As `dossier diff --json` prints it."}, **_NO_REPORT},
)
async def compare_api_reports(
    run: RunName,
    owner: Owner,
    to: Annotated[Name, Query(description="The run of the other report.")],
) -> dict[str, Any]:
    """Return what differs between two reports: sentences, sources, doubts, status."""
    before, after = [await _load_end(owner, name) for name in (to, run)]
    found = await asyncio.to_thread(compare_reports, before, after)
    return (await load_path_filter(owner)).hide(found.as_dict())


@router.post(
    "/{run}/feedback",
    summary="Say what was good or wrong",
    responses=tell_problems(
        *("run_not_found", "feedback_empty", "feedback_unclear", "feedback_refused")
    ),
)
async def give_report_feedback(run: RunName, owner: Owner, said: FeedbackWords) -> RecordedFeedback:
    """Record `up`, `down` or what was wrong; a correction applies from the next call on."""
    record = await find_run(owner, run)
    fact = await record_feedback(record, said.words)
    kind = "text" if fact else said.words.strip().casefold()
    return RecordedFeedback(run=record.id, feedback=kind, fact=fact.id if fact else "")


def _summarize(one: ReportTitle) -> ReportSummary:
    return ReportSummary(**one._asdict())


def _version(one: ReportVersion) -> VersionOfReport:
    return VersionOfReport(**one._asdict())


async def _load_end(owner: str, name: str) -> ReportEnd:
    run = await find_run(owner, name)
    return ReportEnd(run.id, await load_report_document(run))


def _to_json(run: RunRecord, document: ReportDocument) -> bytes:
    """Return a report as JSON, without the texts of pages: sources have a route of their own."""
    shown = {name: value for name, value in document.items() if name != "texts"}
    data = {
        "run": run.id,
        "thread": run.thread,
        "status": run.status,
        "title": document["title"],
        "answer": extract_answer(document["body"]),
        "markdown": render_markdown(document),
        "document": shown,
    }
    return json.dumps(data, ensure_ascii=False).encode()
