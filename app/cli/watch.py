"""dossier watch: questions that are asked again on a schedule."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from rich.table import Column

from app.cli.choices import read_choices
from app.cli.dispatch import Invocation
from app.cli.output import one_line, print_json, print_notice, read_question
from app.cli.table import describe_fields, local_time, make_table, truncate_cell
from app.watching.check import run_check
from app.watching.delivery import check_receiver, send_notices
from app.watching.rounds import run_round, run_rounds
from config.errors import ErrorCode, ErrorKind, Problem
from config.settings import settings
from graph.context import build_context
from runs.lifecycle import check_question
from runs.schedules import parse_schedule
from runs.watches import (
    MAX_SENDS,
    Watch,
    WatchCheck,
    add_watch,
    find_watch,
    list_checks,
    list_watches,
    remove_watch,
    set_watch_status,
)
from text.pluralization import pluralize
from tools.folder_ingestion import ingest_folder

_WORKS = "Something has to ask it: `dossier watch run` from cron, or `dossier watch loop`."


async def add_question_watch(
    *,
    question: str,
    every: str,
    zone: str,
    name: str,
    notify: list[str] | None,
    always: bool,
    docs: list[Path] | None,
    web: bool | None,
    depth: str,
    length: str,
    choice: list[str] | None,
    invocation: Invocation,
) -> None:
    """Add a watch, whose folders are read now, so that a wrong path is told at once."""
    schedule = parse_schedule(every, zone)
    asked = check_question(read_question(question))
    receivers = list(dict.fromkeys(map(check_receiver, notify or [])))
    use_of_web = "" if web is None else "on" if web else "off"
    named = {"depth": depth, "length": length, "project": invocation.project, "web": use_of_web}
    chosen = read_choices(choice or [], yes=False, review=False, quick=False, named=named)
    files = [
        (await ingest_folder(invocation.owner, one, lambda _: None)).root for one in docs or []
    ]
    chosen = {**chosen, "files": files} if files else chosen
    build_context(chosen)
    watch = await add_watch(
        invocation.owner, name, asked, schedule, chosen, receivers, always=always
    )
    invocation.print_result(_as_dict(watch), f"{watch.name} is due now. {_WORKS}")
    if not settings().smtp_url and any(one.startswith("mail:") for one in receivers):
        print_notice("No mail can be sent yet: set DOSSIER_SMTP_URL and DOSSIER_SMTP_FROM.")


async def print_watches(*, invocation: Invocation) -> None:
    """List the watches of a project."""
    found = await list_watches(invocation.owner)
    rows = make_table("name", "status", "schedule", "next", Column("question"))
    for one in found:
        schedule = f"{one.schedule.cron} {one.schedule.zone}"
        rows.add_row(one.name, one.status, schedule, _next(one), truncate_cell(one.question))
    none = 'No watches yet: dossier watch add "QUESTION" --every weekly'
    invocation.print_result([_as_dict(one) for one in found], rows if found else none)


async def print_watch(*, name: str, limit: int, invocation: Invocation) -> None:
    """Show a watch and its history."""
    watch = await find_watch(invocation.owner, name)
    checks = await list_checks(watch, limit)
    data = {**_as_dict(watch), "checks": [_check_as_dict(one) for one in checks]}
    rows = make_table("when", "found", "run", Column("notice"))
    for one in checks:
        rows.add_row(_moment(one.started), one.status, one.run, truncate_cell(_summary(one)))
    unsent = [f"Not told of {one.run}: {line}" for one in checks if (line := _unsent(one))]
    about = describe_fields(_describe(watch), ("",))
    invocation.print_result(data, about, "", rows if checks else "Not asked yet.", *unsent)


async def run_watches(*, name: str, everybody: bool, invocation: Invocation) -> int:
    """Ask a watch, or what is due; the exit status is 1 if a check failed or nobody was told."""
    if name and everybody:
        raise Problem(ErrorCode.USAGE, "--everybody is for what is due, and not for one watch")
    owner = "" if everybody else invocation.owner
    if name:
        watch = await find_watch(owner, name)
        check = await run_check(watch, print_notice)
        checks = [(watch, check)] if check else []
        unsent = await send_notices(owner, print_notice)
    else:
        checks, unsent = await run_round(owner, print_notice)
    data = [{"name": watch.name, **_check_as_dict(check)} for watch, check in checks]
    lines = [f"{watch.name}: {_summary(check)}" for watch, check in checks]
    if invocation.as_json:
        print_json(data)
    else:
        print("\n".join(map(one_line, lines)) or "Nothing is due.")
    failed = unsent or any(check.status == "failed" for _, check in checks)
    return ErrorKind.FAILED.exit_status if failed else 0


async def run_loop(*, invocation: Invocation) -> None:
    """Ask what is due, for everybody, until Ctrl-C or a signal."""

    def tell(line: str) -> None:
        """Tell one line, with its time."""
        if invocation.as_json:
            print_json({"at": time.time(), "line": line})
            sys.stdout.flush()
        else:
            print_notice(f"{_moment(time.time())} {line}")

    tell("watching")
    await run_rounds(tell)


async def pause_watch(*, name: str, invocation: Invocation) -> None:
    """Ask a watch no more."""
    watch = await set_watch_status(await find_watch(invocation.owner, name), "paused")
    invocation.print_result(_as_dict(watch), f"{watch.name} is paused.")


async def resume_watch(*, name: str, invocation: Invocation) -> None:
    """Ask a paused watch again."""
    watch = await set_watch_status(await find_watch(invocation.owner, name), "active")
    invocation.print_result(_as_dict(watch), f"{watch.name} is asked at {_next(watch)}.")


async def remove_question_watch(*, name: str, invocation: Invocation) -> None:
    """Remove a watch."""
    watch = await find_watch(invocation.owner, name)
    await remove_watch(watch)
    message = f"{watch.name} is removed. Its reports stay: dossier runs show {watch.thread}"
    invocation.print_result(_as_dict(watch), message)


def _moment(at: float) -> str:
    return f"{local_time(at):%Y-%m-%d %H:%M}"


def _next(watch: Watch) -> str:
    """Return when a watch is asked next, by the clocks of its time zone."""
    if watch.status != "active":
        return ""
    if watch.due <= time.time():
        return "now"
    at = datetime.fromtimestamp(watch.due, ZoneInfo(watch.schedule.zone))
    return f"{at:%a %Y-%m-%d %H:%M %Z}"


def _describe(watch: Watch) -> dict[str, str]:
    """Return what a watch is, in words by the names of lines."""
    chosen = {name: one for name, one in watch.context.items() if name not in ("files", "user")}
    told = ", ".join(watch.notify)
    return {
        "name": watch.name,
        "question": watch.question,
        "status": watch.status,
        "schedule": " ".join(watch.schedule),
        "next": _next(watch),
        "told": f"{told}, also when nothing is new" if told and watch.always else told,
        "files": ", ".join(watch.context.get("files", [])),
        "choices": ", ".join(f"{name}={one}" for name, one in chosen.items()),
        "thread": watch.thread,
    }


def _unsent(check: WatchCheck) -> str:
    """Return who has not been told of a check, and what becomes of that."""
    if not check.unsent:
        return ""
    more = "given up" if check.send_tries >= MAX_SENDS else "is tried again"
    tried = f"tried {pluralize(check.send_tries, 'time')}, " if check.send_tries else ""
    return f"{', '.join(check.unsent)} ({tried}{more})"


def _as_dict(watch: Watch) -> dict[str, Any]:
    cron, zone = watch.schedule
    kept = ("name", "question", "status", "due", "always", "notify", "context", "thread")
    return {**{name: getattr(watch, name) for name in kept}, "cron": cron, "zone": zone}


def _check_as_dict(check: WatchCheck) -> dict[str, Any]:
    kept = ("id", "run", "status", "code", "notice", "unsent", "started", "ended")
    return {name: getattr(check, name) for name in kept}


_COUNTED = {
    "added": ("sentence added", "sentences added"),
    "changed": ("sentence changed", "sentences changed"),
    "removed": ("sentence removed", "sentences removed"),
    "sources_gained": ("new source", "new sources"),
    "sources_lost": ("source no longer cited", "sources no longer cited"),
}
"""How the differences of two reports are called, one and several."""


def _summary(check: WatchCheck) -> str:
    """Return in one line what was found."""
    if check.status == "failed":
        return str(Problem.from_dict(check.notice["error"]))
    notice = check.notice
    totals = notice.get("counts") or {}
    counts = [pluralize(totals[name], *_COUNTED[name]) for name in _COUNTED if totals.get(name)]
    found = {"first": "first report", "news": "news", "unchanged": "nothing new"}[check.status]
    told = f"{found}: {', '.join(counts)}" if counts else found
    if (status := notice.get("run_status", "succeeded")) != "succeeded":
        told += f", but the report is {status.replace('_', ' ')}"
    if notice.get("unsearched"):
        told += ", but the web could not be searched with all queries"
    return f"{told} ({notice['report']})"
