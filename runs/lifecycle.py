"""Know every run: what was asked, how it stands, where its report lies."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from filelock import BaseFileLock, FileLock, Timeout
from sqlalchemy import select, update

from config.errors import Problem
from config.settings import settings
from graph.context import Context, chosen
from graph.state import RunStatus
from runs.place import Here
from storage.engine import read_rows
from storage.journal import commit
from storage.tables import runs
from storage.upsert import upsert

NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")

PATIENCE = 0.5
"""The seconds a held thread is waited for; whoever only looks at one lets it go at once."""


class Run(NamedTuple):
    """One question of a thread and how it stands."""

    id: str
    thread: str
    turn: int
    owner: str
    question: str
    status: RunStatus
    code: str
    context: dict[str, Any]
    folder: str
    created: float
    updated: float


async def opened(here: Here, turn: int, question: str, context: Context) -> None:
    """Write down that a run has begun."""
    now = time.time()
    row = {
        "thread": here.thread,
        "turn": turn,
        "owner": here.owner,
        "question": question,
        "status": "running",
        "code": "",
        "context": json.dumps(chosen(context), ensure_ascii=False),
        "folder": "",
        "created": now,
        "updated": now,
    }
    await commit((upsert(runs, {"id": here.run}, row), None))


async def mark(run: str, status: RunStatus, *, code: str = "") -> None:
    """Write down how a run stands now."""
    values = {"status": status, "code": code, "updated": time.time()}
    await commit((update(runs).where(runs.c.id == run).values(values), None))


async def filed(run: str, folder: str) -> None:
    """Write down where the report of a run lies."""
    values = {"folder": folder, "updated": time.time()}
    await commit((update(runs).where(runs.c.id == run).values(values), None))


async def listed(owner: str, limit: int = 50) -> list[Run]:
    """Return the newest runs of an owner, newest first."""
    mine = select(runs).where(runs.c.owner == owner).order_by(runs.c.created.desc()).limit(limit)
    return [_run(row) for row in await read_rows(mine)]


async def found(owner: str, name: str) -> Run:
    """Return a run by its id, or the newest run of the thread of that id.

    Raises:
        Problem: `run_not_found`; another owner's run is not found either.
    """
    mine = select(runs).where(runs.c.owner == owner)
    named = mine.where((runs.c.id == name) | (runs.c.thread == name))
    order = ((runs.c.id == name).desc(), runs.c.turn.desc())
    row = (await read_rows(named.order_by(*order))).first()
    if row is None:
        raise Problem("run_not_found", f"there is no run {name!r}", hint="see `dossier runs`")
    return _run(row)


async def newest(owner: str, thread: str) -> Run | None:
    """Return the newest run of a thread, if the thread is this owner's."""
    mine = select(runs).where(runs.c.owner == owner, runs.c.thread == thread)
    row = (await read_rows(mine.order_by(runs.c.turn.desc()))).first()
    return None if row is None else _run(row)


def check_thread(thread: str) -> str:
    """Return the id of a thread if it may be one.

    Raises:
        Problem: `bad_thread_id`.
    """
    if not NAME.fullmatch(thread):
        hint = "1 to 64 letters, digits, - or _"
        raise Problem("bad_thread_id", f"{thread!r} is no thread id", hint=hint)
    return thread


@contextmanager
def held(thread: str, seconds: float = PATIENCE) -> Iterator[None]:
    """Hold a thread, so that no second process works on it; a dead process lets go by itself.

    Args:
        thread: The id of the thread.
        seconds: How long another process may take to let go.

    Raises:
        Problem: `run_in_progress` or `storage_unavailable`.
    """
    lock = _lock(thread, seconds)
    try:
        yield
    finally:
        lock.release()


def is_held(thread: str) -> bool:
    """Say whether some process works on a thread now."""
    try:
        with held(thread, seconds=0):
            return False
    except Problem:
        return True


def _lock(thread: str, seconds: float) -> BaseFileLock:
    folder = settings().locks
    lock = FileLock(folder / f"{thread}.lock", timeout=seconds)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        hint = "wait for it, or stop it with Ctrl-C where it runs"
        raise Problem("run_in_progress", f"{thread} is at work already", hint=hint) from error
    except OSError as error:
        hint = "set DOSSIER_HOME to a folder you may write"
        what = f"it cannot be written: {error.strerror}"
        raise Problem("storage_unavailable", what, where=str(folder), hint=hint) from error
    return lock


def _run(row: Any) -> Run:
    return Run(**{**row._mapping, "context": json.loads(row.context)})
