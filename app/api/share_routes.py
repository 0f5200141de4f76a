"""Share a report by a link that needs no login."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.open_route import OPEN_PREFIX, OpenRoute
from app.api.parameters import Name, Owner, RunName
from app.api.problem_answers import tell_problems
from app.api.report_exports import render_shared_page
from app.api.router import make_router
from app.auth.login import is_still_user
from nodes.finished_report import load_report_document
from report.rendering.html_page import find_page_policy
from runs.lifecycle import find_run
from runs.report_shares import (
    ReportShare,
    create_share,
    find_shared_run,
    list_shares,
    revoke_share,
    share_not_found,
)

router = make_router("Shared reports", "/api/reports/{run}/shares")
open_router = make_router("Shared reports", route_class=OpenRoute)

MAX_HOURS = 24 * 90
"""The longest lifetime of a link."""

_HOUR = 3_600

_HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
}


class NewShare(BaseModel):
    """How long a link is valid."""

    hours: float = Field(default=24 * 7, gt=0, le=MAX_HOURS, allow_inf_nan=False)


class SharedReport(BaseModel):
    """A link to a report, without its address."""

    id: str = Field(description="By which it is revoked; it is no part of the address.")
    run: str
    created: float = Field(description="In seconds since 1970.")
    expires: float


class SharedReportLink(SharedReport):
    """A new link with its address, which is returned only this once."""

    url: str = Field(description="The path at this server.", examples=["/shared/Wq3…"])


ShareId = Annotated[Name, Path(description="The id of the link.")]


@router.post(
    "",
    status_code=201,
    summary="Share a report by a link",
    responses=tell_problems("run_not_found", "report_not_found", "too_many_shares"),
)
async def share_report(run: RunName, owner: Owner, wanted: NewShare) -> SharedReportLink:
    """Create a link that shows the report until it expires or is revoked."""
    record = await find_run(owner, run)
    await load_report_document(record)
    share, token = await create_share(record, wanted.hours * _HOUR)
    return SharedReportLink(**share._asdict(), url=f"{OPEN_PREFIX}{token}")


@router.get("", summary="The links of a report", responses=tell_problems("run_not_found"))
async def list_report_shares(run: RunName, owner: Owner) -> list[SharedReport]:
    """Return the valid links of a report, without their addresses."""
    return [_describe(one) for one in await list_shares(await find_run(owner, run))]


@router.delete(
    "/{share}",
    status_code=204,
    summary="Revoke a link",
    responses=tell_problems("run_not_found", "share_not_found"),
)
async def revoke_report_share(run: RunName, share: ShareId, owner: Owner) -> None:
    """Revoke a link."""
    await revoke_share(await find_run(owner, run), share)


@open_router.get(
    OPEN_PREFIX + "{token}",
    summary="A shared report",
    response_class=Response,
    responses={
        200: {"description": "The report as one page.", "content": {"text/html": {}}},
        **tell_problems("share_not_found"),
    },
)
async def show_shared_report(
    token: Annotated[Name, Path(description="What only those know who were given the address.")],
) -> Response:
    """Show a report to whoever has its address; the page loads nothing else."""
    run = await find_shared_run(token)
    if not await is_still_user(run.owner):
        raise share_not_found()
    page = await render_shared_page(run)
    policy = f"{find_page_policy(page)}; frame-ancestors 'none'"
    headers = {**_HEADERS, "Content-Security-Policy": policy}
    return Response(page, headers=headers, media_type="text/html")


def _describe(share: ReportShare) -> SharedReport:
    return SharedReport(**share._asdict())
