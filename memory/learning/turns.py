"""What people said, kept in the outbox until it has been read for what is to be known of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from config.settings import settings
from storage import outbox
from storage.engine import write
from storage.outbox import LEASE as LEASE
from storage.outbox import LONGEST, Job, is_due
from storage.tables import heard
from storage.tables import outbox as rows
from storage.upsert import insert_new

JOB = "learn"

MOST = 20
"""How many messages are read at once."""


class Said(NamedTuple):
    """Something a person said."""

    thread: str
    run: str
    message: str
    """The id of the message."""
    text: str
    answer: str = ""
    """What they had been answered before, cut short; it is context and never learnt from."""


class Turn(NamedTuple):
    """Something a person said, and the row of the outbox that holds it."""

    job: Job
    said: Said


async def observe(owner: str, said: Said) -> None:
    """Keep what a person said for later; the same message is kept only once, however often told.

    All that waits of the thread then waits until it has been quiet for a while.
    """
    thread = said.thread
    named = {"owner": owner, "thread": thread, "message": said.message, "at": time.time()}

    def work(connection: Connection) -> None:
        new = insert_new(heard).on_conflict_do_nothing().returning(heard.c.message)
        if connection.execute(new, named).first() is None:
            return
        wait = settings().learn_seconds
        outbox.put(connection, owner, JOB, said._asdict(), wait)
        waiting = [one.id for one, _ in _waiting(connection, owner) if one.data["thread"] == thread]
        later = update(rows).where(rows.c.id.in_(waiting), rows.c.due < time.time() + wait)
        connection.execute(later.values(due=time.time() + wait))

    await write(work)


async def take(owner: str, thread: str = "", but: str = "") -> list[Turn]:
    """Take what an owner said; nobody else gets it before its lease ends.

    Args:
        owner: Who said it.
        thread: Where all is taken that was said; of other threads, what is due.
        but: The run that is still at work; what was said in it is left.
    """

    def work(connection: Connection) -> list[Turn]:
        now = time.time()
        taken: list[Turn] = []
        for one, due in _waiting(connection, owner):
            free = is_due(one.data.get("until", 0), now) and one.data["run"] != but
            its_time = is_due(due, now, max(LONGEST, settings().learn_seconds))
            if free and (its_time or one.data["thread"] == thread) and len(taken) < MOST:
                taken.append(_turn(one))
                kept = json.dumps({**one.data, "until": now + LEASE})
                held = update(rows).where(rows.c.id == one.id)
                connection.execute(held.values(data=kept, due=max(due, now + LEASE)))
        return taken

    return await write(work)


async def finish(turns: Sequence[Turn]) -> None:
    """Remove what has been read."""
    await _each(turns, outbox.done)


async def put_off(turns: Sequence[Turn]) -> None:
    """Leave what could not be read for later, longer with every time."""

    def later(connection: Connection, job: Job) -> None:
        outbox.put_off(connection, job, job.data)

    await _each(turns, later)


async def _each(turns: Sequence[Turn], act: Callable[[Connection, Job], None]) -> None:
    def work(connection: Connection) -> None:
        for turn in turns:
            act(connection, turn.job)

    await write(work)


WAITING = (
    select(rows.c.id, rows.c.owner, rows.c.data, rows.c.tries, rows.c.due)
    .where(rows.c.owner == bindparam("its_owner"), rows.c.job == JOB)
    .order_by(rows.c.id)
    .with_for_update()
)


def _waiting(connection: Connection, owner: str) -> list[tuple[Job, float]]:
    """Return what waits, each with the time at which it is due."""
    found = connection.execute(WAITING, {"its_owner": owner}).all()
    return [(Job(row.id, row.owner, json.loads(row.data), row.tries), row.due) for row in found]


def _turn(job: Job) -> Turn:
    return Turn(job, Said(**{name: job.data[name] for name in Said._fields}))
