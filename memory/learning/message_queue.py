"""Queue people's messages in the outbox until they have been learnt from."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from config.settings import settings
from memory.tables import heard
from storage import outbox
from storage.engine import run_write
from storage.outbox import JOB_LEASE, LONGEST_WAIT, OutboxJob, is_due
from storage.tables import outbox as rows
from storage.upsert import dialect_insert

LEARN_JOB = "learn"

MAX_BATCH_MESSAGES = 20
"""How many messages are read at once."""


class PersonMessage(NamedTuple):
    """A message of a person."""

    thread: str
    run: str
    message: str
    """The id of the message."""
    text: str
    answer: str = ""
    """The shortened answer before it: context, and never learnt from."""


class QueuedMessage(NamedTuple):
    """A message of a person, with its job in the outbox."""

    job: OutboxJob
    content: PersonMessage


async def enqueue_message(owner: str, said: PersonMessage) -> None:
    """Queue a message, at most once.

    All queued messages of its thread then wait until the thread has been quiet for a while.
    """
    thread = said.thread
    row = {"owner": owner, "thread": thread, "message": said.message, "at": time.time()}

    def work(connection: Connection) -> None:
        """Queue a new message; what waits in its thread then waits as long as it."""
        new = dialect_insert(heard).on_conflict_do_nothing().returning(heard.c.message)
        if connection.execute(new, row).first() is None:
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
    """Take queued messages of an owner; nobody else gets them before the lease ends.

    Args:
        owner: Whose messages.
        thread: The thread whose messages are all taken; of other threads, those that are due.
        excluded_run: A run that is still at work, whose messages stay in the queue.
    """

    def work(connection: Connection) -> list[QueuedMessage]:
        """Claim one batch, and write down until when it is taken."""
        now, longest = time.time(), max(LONGEST_WAIT, settings().learn_seconds)
        ready = [
            (job, due)
            for job, due in _waiting(connection, owner)
            if is_due(job.data.get("until", 0), now)
            and job.data["run"] != excluded_run
            and (job.data["thread"] == thread or is_due(due, now, longest))
        ][:MAX_BATCH_MESSAGES]
        until = now + JOB_LEASE
        for job, due in ready:
            data = json.dumps({**job.data, "until": until})
            leased = update(rows).filter_by(id=job.id)
            connection.execute(leased.values(data=data, due=max(due, until)))
        return [_queued_message(job) for job, _ in ready]

    return await run_write(work)


async def complete_messages(turns: Sequence[QueuedMessage]) -> None:
    """Remove messages that have been read from the queue."""

    def work(connection: Connection) -> None:
        for turn in turns:
            outbox.finish_job(connection, turn.job)

    await run_write(work)


async def postpone_messages(turns: Sequence[QueuedMessage]) -> None:
    """Leave messages that could not be read for later, longer each time."""

    def work(connection: Connection) -> None:
        for turn in turns:
            outbox.postpone_job(connection, turn.job, turn.job.data)

    await run_write(work)


_WAITING = (
    select(rows.c.id, rows.c.owner, rows.c.data, rows.c.tries, rows.c.due)
    .filter_by(owner=bindparam("its_owner"), job=LEARN_JOB)
    .order_by(rows.c.id)
    .with_for_update()
)


def _waiting(connection: Connection, owner: str) -> list[tuple[OutboxJob, float]]:
    """Return the queued jobs, each with the time at which it is due."""
    found = connection.execute(_WAITING, {"its_owner": owner}).all()
    return [
        (OutboxJob(row.id, row.owner, json.loads(row.data), row.tries), row.due) for row in found
    ]


def _queued_message(job: OutboxJob) -> QueuedMessage:
    return QueuedMessage(
        job, PersonMessage(**{name: job.data[name] for name in PersonMessage._fields})
    )
