"""Watches in the console: list, add, pause, resume, remove, and what each time has found."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Caller, Name, Owner, Words
from app.api.watch_routes import (
    ChangedWatch,
    NewWatch,
    WatchName,
    add_api_watch,
    change_api_watch,
    remove_api_watch,
    run_api_watch,
)
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, SentForm, make_console_router
from app.web.page_rendering import go_to, render_console_page
from app.web.question_forms import describe_choices, list_choice_bounds, read_run_choices
from config.errors import ErrorCode, Problem
from runs.schedules import NAMED_SCHEDULES, local_zone
from runs.watches import Watch, find_watch, list_checks, list_watches
from tools.knowledge.catalog import list_bases

router = make_console_router()

LATE_SECONDS = 900.0
"""How long after its time a watch that nobody asks is told to be late."""

_PAGE = f"{CONSOLE}/watches"
_SHOWN_CHECKS = 50
_NAMES = {cron: name for name, cron in NAMED_SCHEDULES.items()}
_FIELDS = ("question", "every", "cron", "zone", "name", "web", "max_cost", "notify", "always")

Told = Annotated[str, Query(max_length=20)]


@router.get("/watches")
async def show_watches(
    request: Request, owner: Owner, told: Told = "", question: Words = ""
) -> Response:
    """List the watches of a person, and show where one adds another."""
    return await _render_watches(request, owner, {"question": question}, told=told)


@router.post("/watches")
async def add_console_watch(
    request: Request, owner: Owner, caller: Caller, form: CheckedForm
) -> Response:
    """Add a watch, which is due at once."""
    try:
        new = await asyncio.to_thread(_read_new_watch, form)
        watch = await add_api_watch(owner, caller, new)
    except Problem as problem:
        sent = {name: form.text(name) for name in _FIELDS}
        return await _render_watches(request, owner, sent, problem=problem)
    return go_to(f"{_PAGE}/{watch.name}?told=watched")


def _read_new_watch(form: SentForm) -> NewWatch:
    """Return the watch that a form describes.

    Raises:
        Problem: `out_of_range` or what else `read_run_choices` tells of.
    """
    choices = read_run_choices(form)
    choices |= {"again": "new"} if form.text("again") == "new" else {}
    receivers = [line.strip() for line in form.words("notify").splitlines() if line.strip()]
    return NewWatch(
        question=form.words("question"),
        every=form.words("cron") or form.text("every"),
        zone=form.words("zone") or local_zone(),
        name=form.words("name"),
        context=choices,
        notify=[_name_channel(one) for one in receivers],
        always=bool(form.text("always")),
    )


def _name_channel(receiver: str) -> str:
    """Return a receiver with its channel, which people leave out of an address."""
    if receiver.startswith(("webhook:", "mail:")):
        return receiver
    return f"webhook:{receiver}" if "://" in receiver else f"mail:{receiver}"


async def _render_watches(
    request: Request,
    owner: str,
    sent: dict[str, str],
    *,
    told: str = "",
    problem: Problem | None = None,
) -> Response:
    watches = await list_watches(owner)
    last = {one.id: next(iter(await list_checks(one, 1)), None) for one in watches}
    zone = await asyncio.to_thread(local_zone)
    values = {
        "watches": [{**_describe(one), "last": last[one.id]} for one in watches],
        "sent": {**dict.fromkeys(_FIELDS, ""), "zone": zone, **sent},
        "schedules": [*NAMED_SCHEDULES],
        "bases": await list_bases(owner),
        "bounds": list_choice_bounds(),
        "told": told,
        "problem": problem,
    }
    status = problem.error.http_status if problem else 200
    return render_console_page(request, "watches", values, status)


def _describe(watch: Watch) -> dict[str, Any]:
    is_active = watch.status == "active"
    return {
        "name": watch.name,
        "question": watch.question,
        "cron": watch.schedule.cron,
        "zone": watch.schedule.zone,
        "schedule": _NAMES.get(watch.schedule.cron, ""),
        "status": watch.status,
        "due": watch.due if is_active else 0,
        "is_late": is_active and watch.due < time.time() - LATE_SECONDS,
        "is_due": is_active and watch.due <= time.time(),
    }


@router.get("/watches/{name}")
async def show_watch(request: Request, name: WatchName, owner: Owner, told: Told = "") -> Response:
    """Show a watch, and what each time has found."""
    watch = await find_watch(owner, name)
    values = {
        "watch": _describe(watch),
        "checks": await list_checks(watch, _SHOWN_CHECKS),
        "notify": watch.notify,
        "always": watch.always,
        "choices": describe_choices(watch.context),
        "is_new_each_time": watch.context.get("again") == "new",
        "told": told,
    }
    return render_console_page(request, "watch", values)


@router.post("/watches/{name}/{change}")
async def change_console_watch(
    name: WatchName, change: Name, owner: Owner, caller: Caller, form: CheckedForm
) -> Response:
    """Pause, resume, run soon or remove a watch."""
    del form
    if change == "remove":
        await remove_api_watch(name, owner)
        return go_to(f"{_PAGE}?told=unwatched")
    if change == "run":
        await run_api_watch(name, owner)
    elif change in ("pause", "resume"):
        status = ChangedWatch(status="paused" if change == "pause" else "active")
        await change_api_watch(name, owner, caller, status)
    else:
        what, hint = "there is no such change of a watch", "open the page of the watch again"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, where=change, hint=hint)
    return go_to(f"{_PAGE}/{name}?told={change}")
