"""The questions of a person: how they stand, what they cost; find them, delete them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from langgraph_sdk.errors import NotFoundError
from starlette.requests import Request
from starlette.responses import Response

from app.api.listings import Cursor, read_cursor, write_cursor
from app.api.parameters import Name, Owner
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.console_threads import is_server_thread
from app.web.page_rendering import go_to, render_console_page
from app.web.server_client import open_server_client
from config.errors import ErrorCode, Problem
from memory.registry import search_items
from memory.report_titles import list_report_titles
from privacy.service import delete_thread
from runs.checkpointer import open_checkpointer
from runs.lifecycle import RunRecord, find_newest_run, find_run, list_recent_runs, with_real_status
from runs.run_metrics import sum_run_costs
from text.normalization import is_blank

router = make_console_router()

PAGE_RUNS = 30
_MAX_FOUND = 40

STATUSES = (
    *("running", "waiting_review", "succeeded", "partial", "insufficient_evidence"),
    *("paused", "failed", "cancelled"),
)

Sought = Annotated[Name, Query(alias="q")]


@router.get("/history")
async def show_history(
    request: Request, owner: Owner, cursor: Cursor = "", status: Name = "", sought: Sought = ""
) -> Response:
    """List the questions of a person, the newest first, or those that fit some words."""
    chosen = status if status in STATUSES else ""
    more = ""
    if is_blank(sought):
        given = read_cursor(cursor, float, str)
        before = (given[0], given[1]) if given else None
        found = await list_recent_runs(owner, PAGE_RUNS + 1, before=before, status=chosen)
        if len(found) > PAGE_RUNS:
            more = write_cursor(found[PAGE_RUNS - 1].created, found[PAGE_RUNS - 1].id)
    else:
        found = [one for one in await _search(owner, sought) if chosen in ("", one.status)]
    shown = await asyncio.to_thread(lambda: [with_real_status(one) for one in found[:PAGE_RUNS]])
    values = {
        "runs": shown,
        "costs": await sum_run_costs([one.id for one in shown]),
        "more": more,
        "status": chosen,
        "sought": sought,
        "statuses": STATUSES,
    }
    return render_console_page(request, "history", values)


async def _search(owner: str, words: str) -> Sequence[RunRecord]:
    """Return runs whose question, or the title or text of whose report, fits some words."""
    asked, titled, told = await asyncio.gather(
        list_recent_runs(owner, _MAX_FOUND, search=words),
        list_report_titles(owner, _MAX_FOUND, search=words),
        search_items(owner, words, _MAX_FOUND, "reports"),
    )
    found = {one.id: one for one in asked}
    named = [one.run for one in titled] + [one.run for one in told["reports"]]
    for name in dict.fromkeys(named):
        if name and name not in found:
            found[name] = await find_run(owner, name)
    return sorted(found.values(), key=lambda one: one.created, reverse=True)


@router.get("/history/{thread}/delete")
async def show_deletion(request: Request, thread: Name, owner: Owner) -> Response:
    """Ask whether a conversation is to be deleted."""
    run = await _find_thread_run(owner, thread)
    return render_console_page(request, "delete", {"thread": thread, "run": run})


@router.post("/history/{thread}/delete")
async def delete_conversation(
    request: Request, thread: Name, owner: Owner, form: CheckedForm
) -> Response:
    """Delete a conversation with its reports, files and traces.

    Raises:
        Problem: `run_in_progress` while a run works on it.
    """
    del form
    await _find_thread_run(owner, thread)
    if is_server_thread(thread):
        async with open_server_client(request) as client:
            try:
                await client.threads.delete(thread)
            except NotFoundError:
                await _delete_stored(thread)
    else:
        await _delete_stored(thread)
    return go_to(f"{CONSOLE}/history")


async def _find_thread_run(owner: str, thread: str) -> RunRecord:
    """Return the newest run of a conversation of a person.

    Raises:
        Problem: `run_not_found`.
    """
    run = await find_newest_run(owner, thread)
    if run is None:
        what, hint = "there is no such conversation", "look into the history"
        raise Problem(ErrorCode.RUN_NOT_FOUND, what, where=thread, hint=hint)
    return run


async def _delete_stored(thread: str) -> None:
    """Delete a conversation that the server does not know, such as one of a terminal."""
    await delete_thread(thread)
    async with open_checkpointer() as saver:
        await saver.adelete_thread(thread)
