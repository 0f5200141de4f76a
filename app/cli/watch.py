"""dossier watch: questions that are asked again on a schedule."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rich.table import Column

from app.cli.choices import read_choices
from app.cli.dispatch import Invocation
from app.cli.output import one_line, print_json, print_notice, read_question
from app.cli.table import describe_fields, local_time, make_table, truncate_cell
from app.watching.check import run_check
from app.watching.delivery import check_receiver, send_notices
from app.watching.rounds import run_round, run_rounds
from config.errors import ErrorCode, ErrorKind, Problem
from graph.context import build_context
from runs.lifecycle import check_question
from runs.schedules import parse_schedule
from runs.watches import (
    Watch,
    WatchCheck,
    add_watch,
    find_watch,
    list_checks,
    list_watches,
    remove_watch,
    set_watch_status,
)
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


async def print_watches(*, invocation: Invocation) -> None:
    """List the watches of a project."""
    found = await list_watches(invocation.owner)
    rows = make_table("name", "status", "schedule", "next", Column("question"))
    for one in found:
        next_time = _moment(one.due) if one.status == "active" else ""
        schedule = f"{one.schedule.cron} {one.schedule.zone}"
        rows.add_row(one.name, one.status, schedule, next_time, truncate_cell(one.question))
    none = 'No watches yet: dossier watch add "QUESTION" --every weekly'
    invocation.print_result([_as_dict(one) for one in found], rows if found else none)


async def print_watch(*, name: str, limit: int, invocation: Invocation) -> None:
    """Show a watch and its history."""
    watch = await find_watch(invocation.owner, name)
    checks = await list_checks(watch, limit)
    data = {**_as_dict(watch), "checks": [_check_as_dict(one) for one in checks]}
    about = describe_fields({**_as_dict(watch), "due": _moment(watch.due)}, ("", "[]", "{}"))
    rows = make_table("when", "found", "run", Column("notice"))
    for one in checks:
        rows.add_row(_moment(one.started), one.status, one.run, truncate_cell(_summary(one)))
    invocation.print_result(data, about, "", rows)


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
    invocation.print_result(_as_dict(watch), f"{watch.name} is asked at {_moment(watch.due)}.")


async def remove_question_watch(*, name: str, invocation: Invocation) -> None:
    """Remove a watch."""
    watch = await find_watch(invocation.owner, name)
    await remove_watch(watch)
    message = f"{watch.name} is removed. Its reports stay: dossier runs show {watch.thread}"
    invocation.print_result(_as_dict(watch), message)


def _moment(at: float) -> str:
    return f"{local_time(at):%Y-%m-%d %H:%M}"


def _as_dict(watch: Watch) -> dict[str, Any]:
    cron, zone = watch.schedule
    kept = ("name", "question", "status", "due", "always", "notify", "context", "thread")
    return {**{name: getattr(watch, name) for name in kept}, "cron": cron, "zone": zone}


def _check_as_dict(check: WatchCheck) -> dict[str, Any]:
    kept = ("id", "run", "status", "code", "notice", "unsent", "started", "ended")
    return {name: getattr(check, name) for name in kept}


def _summary(check: WatchCheck) -> str:
    """Return in one line what was found."""
    if check.status == "failed":
        return str(Problem.from_dict(check.notice["error"]))
    counts = [
        f"{len(check.notice[name])} {name}"
        for name in ("added", "changed", "removed")
        if check.notice.get(name)
    ]
    found = f"{check.status}: {', '.join(counts)}" if counts else check.status
    return f"{found} ({check.notice['report']})"
