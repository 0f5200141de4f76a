"""What people said, queued in the outbox until it has been read for what is to be known of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from config.settings import settings
from memory.learning.tables import heard
from storage import outbox
from storage.engine import run_write
from storage.outbox import JOB_LEASE, LONGEST_WAIT, OutboxJob, is_due
from storage.tables import outbox as rows
from storage.upsert import dialect_insert

LEARN_JOB = "learn"

MAX_BATCH_MESSAGES = 20
"""How many messages are read at once."""


class PersonMessage(NamedTuple):
    """Something a person said."""

    thread: str
    run: str
    message: str
    """The id of the message."""
    text: str
    answer: str = ""
    """What they had been answered before, cut short; it is context and never learnt from."""


class QueuedMessage(NamedTuple):
    """Something a person said, and the row of the outbox that holds it."""

    job: OutboxJob
    content: PersonMessage


async def enqueue_message(owner: str, said: PersonMessage) -> None:
    """Keep what a person said for later; the same message is kept only once, however often told.

    All that waits of the thread then waits until it has been quiet for a while.
    """
    thread = said.thread
    named = {"owner": owner, "thread": thread, "message": said.message, "at": time.time()}

    def work(connection: Connection) -> None:
        new = dialect_insert(heard).on_conflict_do_nothing().returning(heard.c.message)
        if connection.execute(new, named).first() is None:
            return
        wait = settings().learn_seconds
        outbox.enqueue_job(connection, owner, LEARN_JOB, said._asdict(), wait)
        waiting = [one.id for one, _ in _waiting(connection, owner) if one.data["thread"] == thread]
        later = update(rows).where(rows.c.id.in_(waiting), rows.c.due < time.time() + wait)
        connection.execute(later.values(due=time.time() + wait))

    await run_write(work)


async def lease_messages(
    owner: str, thread: str = "", excluded_run: str = ""
) -> list[QueuedMessage]:
    """Take what an owner said; nobody else gets it before its lease ends.

    Args:
        owner: Who said it.
        thread: Where all is taken that was said; of other threads, what is due.
        excluded_run: The run that is still at work; what was said in it is left.
    """

    def work(connection: Connection) -> list[QueuedMessage]:
        now = time.time()
        taken: list[QueuedMessage] = []
        for one, due in _waiting(connection, owner):
            free = is_due(one.data.get("until", 0), now) and one.data["run"] != excluded_run
            its_time = is_due(due, now, max(LONGEST_WAIT, settings().learn_seconds))
            if (
                free
                and (its_time or one.data["thread"] == thread)
                and len(taken) < MAX_BATCH_MESSAGES
            ):
                taken.append(_queued_message(one))
                kept = json.dumps({**one.data, "until": now + JOB_LEASE})
                held = update(rows).where(rows.c.id == one.id)
                connection.execute(held.values(data=kept, due=max(due, now + JOB_LEASE)))
        return taken

    return await run_write(work)


async def complete_messages(turns: Sequence[QueuedMessage]) -> None:
    """Remove what has been read."""
    await _each(turns, outbox.finish_job)


async def postpone_messages(turns: Sequence[QueuedMessage]) -> None:
    """Leave what could not be read for later, longer with every time."""

    def later(connection: Connection, job: OutboxJob) -> None:
        outbox.postpone_job(connection, job, job.data)

    await _each(turns, later)


async def _each(
    turns: Sequence[QueuedMessage], act: Callable[[Connection, OutboxJob], None]
) -> None:
    def work(connection: Connection) -> None:
        for turn in turns:
            act(connection, turn.job)

    await run_write(work)


_WAITING = (
    select(rows.c.id, rows.c.owner, rows.c.data, rows.c.tries, rows.c.due)
    .where(rows.c.owner == bindparam("its_owner"), rows.c.job == LEARN_JOB)
    .order_by(rows.c.id)
    .with_for_update()
)


def _waiting(connection: Connection, owner: str) -> list[tuple[OutboxJob, float]]:
    """Return what waits, each with the time at which it is due."""
    found = connection.execute(_WAITING, {"its_owner": owner}).all()
    return [
        (OutboxJob(row.id, row.owner, json.loads(row.data), row.tries), row.due) for row in found
    ]


def _queued_message(job: OutboxJob) -> QueuedMessage:
    return QueuedMessage(
        job, PersonMessage(**{name: job.data[name] for name in PersonMessage._fields})
    )
