"""Record every run: its question, its status, and the folder of its report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, literal, select, tuple_, update

from config.errors import ErrorCode, Problem
from graph.context import Context, non_default_choices
from graph.records import RunStatus
from runs.call_site import run_id
from runs.lock import is_thread_locked
from runs.tables import runs
from storage.engine import commit_statements, read_rows, write_in_group
from storage.events import Event, list_events, log_event
from storage.fencing import working_on
from storage.upsert import upsert
from text.normalization import is_blank, normalize_text
from text.regex import regex
from text.secret_masking import mask_secrets

NAME = regex(r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$")

MAX_QUESTION_CHARS = 20_000
"""The longest question, in characters."""

REPORT_FILES = {"md": "report.md", "html": "report.html"}
"""The files of a report by their kind."""

FILED = "report.file"
"""The event that records the folder of a report."""

WRITING = "report.write"
"""The event that records which files are about to be written."""

UNFINISHED_STATUSES = ("running", "waiting_review", "paused")
"""The statuses of runs that are not finished."""

BROKEN_OFF = ("cancelled", "failed", "paused")
"""The statuses of runs that may be resumed, and wait for nobody's decision."""

LATEST = (runs.c.turn.desc(), func.length(runs.c.id).desc(), runs.c.id.desc())
"""The order in which the newest run of a thread comes first, the newest fork before the others.

Forks are numbered in the order in which they are asked, so the clock does not matter.
"""


class RunRecord(NamedTuple):
    """One question of a thread, and its status."""

    id: str
    thread: str
    turn: int
    owner: str
    question: str
    status: RunStatus
    code: str
    context: dict[str, Any]
    folder: str
    out: str
    created: float
    updated: float


def check_question(text: str) -> str:
    """Return the question in a clean form, without secrets.

    Raises:
        Problem: `question_empty` or `question_too_long`.
    """
    question = normalize_text(text).strip()
    if is_blank(question):
        raise Problem(ErrorCode.QUESTION_EMPTY, "there is no question", hint="ask one")
    if len(question) > MAX_QUESTION_CHARS:
        what = f"the question has {len(question)} characters, the most is {MAX_QUESTION_CHARS}"
        raise Problem(ErrorCode.QUESTION_TOO_LONG, what, hint="put long texts into a file")
    return mask_secrets(question).text


async def create_run(
    owner: str, thread: str, turn: int, question: str, context: Context, out: str = ""
) -> str:
    """Record the start of a run, and return its id.

    Starting it again with the same question resets its status. A question that is asked by going
    back in a thread cancels the unfinished runs there.

    Args:
        owner: Who asks.
        thread: The thread.
        turn: The number of the question in the thread.
        question: The question.
        context: The choices of the run.
        out: The folder for the report, if one was named.

    Raises:
        Problem: `thread_taken` if the thread is another owner's.
    """
    question = mask_secrets(question).text
    name = await _name(owner, thread, turn, question)
    now = time.time()
    first = {"thread": thread, "turn": turn, "owner": owner, "question": question}
    row = {"status": "running", "code": "", "folder": "", "updated": now}
    row["context"] = _choices(context)
    unfinished = runs.c.status.in_(UNFINISHED_STATUSES)
    dropped = update(runs).where(runs.c.thread == thread, runs.c.id != name, unfinished)
    with working_on(thread):
        await commit_statements(
            (upsert(runs, {"id": name}, row, first={**first, "out": out, "created": now}), None),
            (dropped.values(status="cancelled", updated=now), None),
        )
    return name


def _choices(context: Context) -> str:
    """Return the choices of a run as JSON, their words without secrets, their paths unchanged."""
    choices = non_default_choices(context)
    if "style" in choices:
        choices = {**choices, "style": mask_secrets(context.style).text}
    return json.dumps(choices, ensure_ascii=False)


async def _name(owner: str, thread: str, turn: int, question: str) -> str:
    """Name a run after its thread and turn; a different question there is a fork."""
    await check_thread_owner(owner, thread)
    rows = (await read_rows(select(runs).where(runs.c.thread == thread))).all()
    asked = {row.id: row.question for row in rows if row.turn == turn}
    names = [run_id(thread, turn, fork) for fork in range(1, len(asked) + 2)]
    return next(name for name in names if asked.get(name, question) == question)


async def set_run_status(owner: str, run: str, status: RunStatus, *, code: str = "") -> None:
    """Set the status of a run of an owner."""
    await _change(owner, runs.c.id == run, status=status, code=code)


async def set_run_context(owner: str, run: str, context: Context) -> None:
    """Replace the choices of a run that is resumed with other caps."""
    await _change(owner, runs.c.id == run, context=_choices(context))


async def unlist_report(owner: str, run: str) -> None:
    """Record that a run has no report any more."""
    await _change(owner, runs.c.id == run, folder="", out="")


async def mark_interrupted(owner: str, thread: str, status: RunStatus, *, code: str = "") -> None:
    """Set the status of runs in an owner's thread whose work was interrupted.

    In a damaged thread, this includes runs that wait.
    """
    statuses = UNFINISHED_STATUSES if code == "storage_corrupt" else ("running",)
    interrupted = (runs.c.thread == thread) & runs.c.status.in_(statuses)
    with working_on(thread):
        await _change(owner, interrupted, status=status, code=code)


async def mark_resumed(thread: str) -> None:
    """Set the status of the newest run of a thread that goes on after it was broken off."""
    newest = select(runs.c.id).where(runs.c.thread == thread).order_by(*LATEST).limit(1)
    resumed = (runs.c.id == newest.scalar_subquery()) & runs.c.status.in_(BROKEN_OFF)
    again = update(runs).where(resumed).values(status="running", code="", updated=time.time())
    with working_on(thread):
        await commit_statements((again, None))


async def _change(owner: str, which: ColumnElement[bool], **values: str) -> None:
    """Give some runs of an owner new values."""
    changed = update(runs).where(runs.c.owner == owner, which)
    await commit_statements((changed.values(**values, updated=time.time()), None))


async def check_thread_owner(owner: str, thread: str) -> None:
    """Make sure that a thread is no other owner's.

    Raises:
        Problem: `thread_taken`.
    """
    others = select(runs.c.id).where(runs.c.thread == thread, runs.c.owner != owner).limit(1)
    if (await read_rows(others)).first() is not None:
        hint = "choose another name"
        raise Problem(ErrorCode.THREAD_TAKEN, f"{thread!r} is another's thread", hint=hint)


async def record_file_digests(run: str, owner: str, digests: Iterable[str]) -> None:
    """Record the digests of the files that a run is about to write, to recognise them later."""
    event = Event(owner, WRITING, run, None, {"digests": list(digests)}, "tool", run=run)
    await write_in_group(lambda connection: log_event(connection, event))


async def list_file_digests(run: str, owner: str) -> dict[str, str]:
    """Return the digests of all files that a run has written or was about to write.

    The value of each is the day, as an ISO date, on which it was first recorded.
    """
    return {
        digest: datetime.fromtimestamp(logged.at, UTC).date().isoformat()
        for logged in await list_events(owner, item=run, name=WRITING, limit=None)
        for digest in (logged.event.after or {}).get("digests", ())
    }


async def set_report_dir(run: str, folder: str) -> None:
    """Record the folder of the report of a run; the log keeps every such folder."""
    values = {"folder": folder, "updated": time.time()}

    def work(connection: Connection) -> None:
        its = update(runs).where(runs.c.id == run).values(values).returning(runs.c.owner)
        for owner in connection.execute(its).scalars().all():
            event = Event(owner, FILED, run, None, {"folder": folder}, "tool", run=run)
            log_event(connection, event)

    await write_in_group(work)


async def list_report_dirs(run: RunRecord) -> list[str]:
    """Return every folder that the report of a run was written to, less those of later ones."""
    newest: dict[str, str] = {}
    for logged in await list_events(run.owner, name=FILED, limit=None):
        newest.setdefault((logged.event.after or {}).get("folder", ""), logged.event.item)
    # Older programs did not log them.
    for folder in (run.folder, run.out):
        newest.setdefault(folder, run.id)
    return [folder for folder, its in newest.items() if its == run.id and folder]


async def list_recent_runs(
    owner: str,
    limit: int = 50,
    *,
    before: tuple[float, str] | None = None,
    status: str = "",
    search: str = "",
) -> list[RunRecord]:
    """Return the newest runs of an owner, newest first.

    Args:
        owner: Whose.
        limit: How many at most.
        before: Only those behind this one in the list, by its time and id.
        status: Only those that are recorded so.
        search: Only those with this in the question.
    """
    newest = (runs.c.created.desc(), runs.c.id.desc())
    mine = select(runs).where(runs.c.owner == owner).order_by(*newest).limit(limit)
    if before:
        mine = mine.where(tuple_(runs.c.created, runs.c.id) < tuple_(*map(literal, before)))
    if status:
        mine = mine.where(runs.c.status == status)
    if search:
        mine = mine.where(runs.c.question.icontains(search, autoescape=True))
    return [_run(row) for row in await read_rows(mine)]


def with_real_status(run: RunRecord) -> RunRecord:
    """Return a run as it stands: one that nobody works on any more is paused."""
    if run.status == "running" and not is_thread_locked(run.thread):
        return run._replace(status="paused")
    return run


async def find_run(owner: str, name: str) -> RunRecord:
    """Return a run by its id, or the newest run of the thread of that id.

    Raises:
        Problem: `run_not_found`; another owner's run is not found either.
    """
    mine = select(runs).where(runs.c.owner == owner)
    named = mine.where((runs.c.id == name) | (runs.c.thread == name))
    row = (await read_rows(named.order_by((runs.c.id == name).desc(), *LATEST))).first()
    if row is None:
        what = f"there is no run {name!r}"
        raise Problem(ErrorCode.RUN_NOT_FOUND, what, hint="see `dossier runs`")
    return _run(row)


async def find_run_of_report(owner: str, folder: str) -> RunRecord:
    """Return the run of an owner whose report was written to a folder last.

    Raises:
        Problem: `run_not_found`.
    """
    for logged in await list_events(owner, name=FILED, limit=None):
        if (logged.event.after or {}).get("folder", "") == folder:
            return await find_run(owner, logged.event.item)
    what = "no run has written a report there"
    raise Problem(ErrorCode.RUN_NOT_FOUND, what, where=folder, hint="see `dossier runs`")


async def find_newest_run(owner: str, thread: str) -> RunRecord | None:
    """Return the newest run of a thread, if the thread is this owner's."""
    mine = select(runs).where(runs.c.owner == owner, runs.c.thread == thread)
    row = (await read_rows(mine.order_by(*LATEST))).first()
    return None if row is None else _run(row)


def check_thread_id(thread: str) -> str:
    """Return the id of a thread if it may be one.

    Raises:
        Problem: `bad_thread_id`.
    """
    if not NAME.fullmatch(thread):
        hint = "1 to 64 letters, digits, - or _, the first no -"
        raise Problem(ErrorCode.BAD_THREAD_ID, f"{thread!r} is no thread id", hint=hint)
    return thread


def _run(row: Any) -> RunRecord:
    return RunRecord(**{**row._mapping, "context": json.loads(row.context)})
