"""All pages of the console."""

from __future__ import annotations

from starlette.requests import Request

from app.web import (
    agents_md_pages,
    history_pages,
    knowledge_pages,
    memory_pages,
    operator_pages,
    question_pages,
    report_pages,
    sign_in_pages,
    static_files,
    watch_pages,
    work_pages,
)
from app.web.console_route import make_console_router
from config.errors import ErrorCode, Problem

_rest = make_console_router()


@_rest.get("/{path:path}")
async def refuse_unknown_page(request: Request, path: str) -> None:
    """Say that there is no such page."""
    what = "there is no such page in the console"
    hint = "go on from its first page"
    raise Problem(ErrorCode.REPORT_NOT_FOUND, what, where=path[:80], hint=hint)


CONSOLE_ROUTERS = (
    static_files.router,
    sign_in_pages.open_router,
    sign_in_pages.router,
    question_pages.router,
    work_pages.router,
    report_pages.router,
    history_pages.router,
    memory_pages.router,
    agents_md_pages.router,
    knowledge_pages.router,
    watch_pages.router,
    operator_pages.router,
    _rest,
)
"""The pages of each noun; the last one answers for those that are not there."""
