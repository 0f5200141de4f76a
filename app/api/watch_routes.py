"""Watches over HTTP: list, add, pause, run soon, remove; the history of their checks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from app.api.parameters import Caller, Name, Owner, ProjectName, Words
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.auth.caller_limits import check_caller_choices, check_caller_receiver
from app.auth.user import User
from app.watching.delivery import check_receiver
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import Context, build_context, non_default_choices
from runs.lifecycle import check_question
from runs.schedules import Schedule, parse_schedule
from runs.watches import (
    CheckStatus,
    Watch,
    WatchCheck,
    WatchStatus,
    add_watch,
    find_watch,
    list_checks,
    list_watches,
    make_watch_due,
    remove_watch,
    set_watch_status,
)

router = make_router("Watches", "/api/watches")

_HOUR = 3_600
_COMPARED_TIMES = 100
"""How many of the next times of a schedule are checked for the shortest interval."""


class NewWatch(BaseModel):
    """A question to ask again on a schedule."""

    question: Words
    every: Name = Field(examples=["weekly", "0 7 * * 1"])
    zone: Name = Field(default="UTC", examples=["Europe/Berlin"])
    name: Name = Field(default="", description="One is made up if it is empty.")
    context: dict[str, Any] = Field(default={}, description="Choices of its runs.")
    notify: list[Words] = Field(default=[], max_length=10, examples=[["mail:you@example.org"]])
    always: bool = Field(default=False, description="Tell as well when nothing has changed.")


class ChangedWatch(BaseModel):
    """The new status of a watch."""

    status: WatchStatus


class WatchAnswer(BaseModel):
    """A watch."""

    id: str
    name: str
    question: str
    cron: str
    zone: str
    context: dict[str, Any]
    notify: list[str]
    always: bool
    status: WatchStatus
    due: float = Field(description="In seconds since 1970.")
    thread: str


class WatchCheckAnswer(BaseModel):
    """The result of one check."""

    id: str
    run: str
    status: CheckStatus
    code: str = Field(description="The code of the problem, if it failed.")
    notice: dict[str, Any]
    unsent: list[str] = Field(description="Who has not been told yet.")
    started: float
    ended: float


WatchName = Annotated[Name, Path(description="The name of the watch, or its id.")]
_UNKNOWN = tell_problems("watch_not_found")


@router.get("", summary="Your watches")
async def list_api_watches(owner: Owner) -> list[WatchAnswer]:
    """Return the watches of a person in a project, the oldest first."""
    return [_describe(one) for one in await list_watches(owner)]


@router.post(
    "",
    status_code=201,
    summary="Watch a question",
    responses=tell_problems(
        *("bad_schedule", "bad_watch_name", "watch_exists", "choice_refused", "question_empty")
    ),
)
async def add_api_watch(
    owner: Owner, caller: Caller, new: NewWatch, project: ProjectName = ""
) -> WatchAnswer:
    """Add a watch, which is due at once; `dossier watch loop` or cron must be running."""
    schedule = await asyncio.to_thread(parse_schedule, new.every, new.zone)
    receivers = list(dict.fromkeys(map(check_receiver, new.notify)))
    chosen = build_context({**new.context, "project": project})
    limited = _has_limits(caller)
    if limited:
        await asyncio.to_thread(_check_limits, caller, chosen, receivers, schedule)
    most = settings().caller_watches if limited else None
    kept = {**non_default_choices(chosen), "user": caller.name}
    asked = check_question(new.question)
    watch = await add_watch(
        owner, new.name, asked, schedule, kept, receivers, always=new.always, most=most
    )
    return _describe(watch)


@router.get("/{name}", summary="A watch", responses=_UNKNOWN)
async def get_api_watch(name: WatchName, owner: Owner) -> WatchAnswer:
    """Return a watch."""
    return _describe(await find_watch(owner, name))


@router.patch(
    "/{name}",
    summary="Pause or resume a watch",
    responses=tell_problems("watch_not_found", "choice_refused"),
)
async def change_api_watch(
    name: WatchName, owner: Owner, caller: Caller, change: ChangedWatch
) -> WatchAnswer:
    """Pause or resume a watch."""
    watch = await find_watch(owner, name)
    if change.status == "active" and watch.status != "active" and _has_limits(caller):
        # One that was imported has never been looked at.
        chosen = build_context(watch.context)
        await asyncio.to_thread(_check_limits, caller, chosen, watch.notify, watch.schedule)
        _check_count([one for one in await list_watches(owner) if one.status == "active"])
    return _describe(await set_watch_status(watch, change.status))


@router.post("/{name}/run", status_code=202, summary="Ask a watch soon", responses=_UNKNOWN)
async def run_api_watch(name: WatchName, owner: Owner) -> WatchAnswer:
    """Make a watch due now, for whichever process runs due watches."""
    watch = await find_watch(owner, name)
    await make_watch_due(watch)
    return _describe(await find_watch(owner, watch.id))


@router.get("/{name}/checks", summary="What a watch has found", responses=_UNKNOWN)
async def list_api_checks(
    name: WatchName,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=200, description="The most that are listed.")] = 20,
) -> list[WatchCheckAnswer]:
    """Return the checks of a watch, the newest first."""
    return [_describe_check(one) for one in await list_checks(await find_watch(owner, name), limit)]


@router.delete("/{name}", status_code=204, summary="Remove a watch", responses=_UNKNOWN)
async def remove_api_watch(name: WatchName, owner: Owner) -> None:
    """Remove a watch and its history; its runs and reports stay."""
    await remove_watch(await find_watch(owner, name))


def _has_limits(caller: User) -> bool:
    return settings().has_users and not caller.is_operator


def _check_limits(
    caller: User, chosen: Context, receivers: Sequence[str], schedule: Schedule
) -> None:
    """Make sure that a watch is inside of what the operator allows.

    Raises:
        Problem: `choice_refused`.
    """
    check_caller_choices(chosen, caller.name)
    for receiver in receivers:
        check_caller_receiver(receiver)
    _check_frequency(schedule)


def _check_frequency(schedule: Schedule) -> None:
    at = schedule.find_next_time(time.time())
    for _ in range(_COMPARED_TIMES):
        following = schedule.find_next_time(at)
        if following - at < _HOUR:
            raise _refusal("every", "it is due more often than once an hour")
        at = following


def _check_count(known: Sequence[Watch]) -> None:
    if len(known) >= settings().caller_watches:
        raise _refusal("watches", f"there are {len(known)} watches already")


def _refusal(where: str, what: str) -> Problem:
    hint = "the operator of the server decides"
    return Problem(ErrorCode.CHOICE_REFUSED, what, where=where, hint=hint)


def _describe(watch: Watch) -> WatchAnswer:
    cron, zone = watch.schedule
    fields = {**watch._asdict(), "cron": cron, "zone": zone, "thread": watch.thread}
    return WatchAnswer(**{name: fields[name] for name in WatchAnswer.model_fields})


def _describe_check(check: WatchCheck) -> WatchCheckAnswer:
    fields = check._asdict()
    return WatchCheckAnswer(**{name: fields[name] for name in WatchCheckAnswer.model_fields})
