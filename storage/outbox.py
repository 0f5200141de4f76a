"""Queue work in the database until it is done, even if the process that does it dies."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from storage.tables import outbox

JOB_LEASE = 120.0
"""Seconds after which work that was claimed and not finished is due again."""

WAIT, LONGEST_WAIT = 10.0, 3_600.0
"""Seconds before failed work is due again: the first wait, doubled each time, and the longest."""


_NEW_JOB = insert(outbox)


class OutboxJob(NamedTuple):
    """A row of the outbox."""

    id: int
    owner: str
    data: Mapping[str, Any]
    tries: int


def enqueue_job(
    connection: Connection, owner: str, job: str, data: Mapping[str, Any], wait: float = 0
) -> None:
    """Queue work, which is due in `wait` seconds."""
    due = time.time() + wait
    row = {"owner": owner, "job": job, "data": json.dumps(data), "due": due, "tries": 0}
    connection.execute(_NEW_JOB, row)


def claim_jobs(
    connection: Connection, job: str, enough: Callable[[list[OutboxJob]], bool]
) -> list[OutboxJob]:
    """Claim work that is due, the oldest first; nobody else gets it before its lease ends.

    Args:
        connection: The connection of a transaction that writes.
        job: The kind of work.
        enough: Says whether the jobs claimed so far are enough.
    """
    now = time.time()
    wanted = select(outbox.c.id, outbox.c.owner, outbox.c.data, outbox.c.tries).where(
        outbox.c.job == job, (outbox.c.due <= now) | (outbox.c.due > now + LONGEST_WAIT)
    )
    free = wanted.order_by(outbox.c.id).limit(100).with_for_update(skip_locked=True)
    taken: list[OutboxJob] = []
    for row in connection.execute(free):
        if taken and enough(taken):
            break
        taken.append(OutboxJob(row.id, row.owner, json.loads(row.data), row.tries))
    ours = update(outbox).where(outbox.c.id.in_([one.id for one in taken]))
    connection.execute(ours.values(due=time.time() + JOB_LEASE))
    return taken


def is_due(due: float, now: float, longest: float = LONGEST_WAIT) -> bool:
    """Say whether work is due, even if the clock was set back after it was scheduled.

    Args:
        due: When it is due, in seconds since 1970.
        now: The current time.
        longest: The longest wait; a due time further ahead counts as due.
    """
    return due <= now or due > now + longest


_WAITING = (
    select(outbox.c.data)
    .where(outbox.c.owner == bindparam("its_owner"), outbox.c.job == bindparam("its_job"))
    .order_by(outbox.c.id.desc())
    .limit(bindparam("most"))
)


def list_waiting_jobs(
    connection: Connection, owner: str, job: str, limit: int
) -> list[Mapping[str, Any]]:
    """Return the data of an owner's pending work, the newest first."""
    values = {"its_owner": owner, "its_job": job, "most": limit}
    return [json.loads(data) for data in connection.execute(_WAITING, values).scalars()]


def lock_job(connection: Connection, one: OutboxJob) -> Mapping[str, Any] | None:
    """Lock work until the commit and return its current data; `None` if it is done."""
    held = select(outbox.c.data).where(outbox.c.id == one.id).with_for_update()
    data = connection.execute(held).scalar()
    return None if data is None else json.loads(data)


def continue_job(connection: Connection, one: OutboxJob, data: Mapping[str, Any]) -> None:
    """Give work new data; it is due at once."""
    row = {"data": json.dumps(data), "due": time.time(), "tries": 0}
    connection.execute(update(outbox).where(outbox.c.id == one.id).values(row))


def postpone_job(connection: Connection, one: OutboxJob, data: Mapping[str, Any]) -> None:
    """Let failed work wait, longer after each failure."""
    due = time.time() + min(WAIT * 2.0**one.tries, LONGEST_WAIT)
    row = {"data": json.dumps(data), "due": due, "tries": one.tries + 1}
    connection.execute(update(outbox).where(outbox.c.id == one.id).values(row))


def finish_job(connection: Connection, one: OutboxJob) -> None:
    """Remove work that is done."""
    connection.execute(delete(outbox).where(outbox.c.id == one.id))


def list_job_owners(connection: Connection, job: str) -> set[str]:
    """Return the owners of pending work of a kind."""
    wanted = select(outbox.c.owner).where(outbox.c.job == job).distinct()
    return set(connection.execute(wanted).scalars())
