"""The log of every change of a memory: what was, what is, who is behind it, and why."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from storage.engine import advisory_lock, read_rows, run_read
from storage.tables import events

Data = Mapping[str, Any]

NEWEST_EVENT = select(func.max(events.c.id)).where(events.c.owner == bindparam("its_owner"))
"""The number of the newest event of `its_owner`."""


class Event(NamedTuple):
    """One change of one thing that is remembered."""

    owner: str
    name: str
    """Which memory and what was done, such as `fact.add`."""
    item: str = ""
    """The id of what was changed."""
    before: Data | None = None
    """What it was; `None` where there was nothing."""
    after: Data | None = None
    """What it is; `None` where there is nothing any more."""
    provenance: str = "user"
    """Who is behind it: `user`, `model`, `tool` or `web`."""
    why: str = ""
    """The reason in words, for people; that of a model may be any words."""
    run: str = ""
    step: str = ""
    """The step of the run; `FEEDBACK_STEP` for what a person said about the run."""
    undoes: int = 0
    """The number of the event that this one undoes; 0 where it undoes none."""


class Reversal(NamedTuple):
    """What undoing an event comes to in one memory."""

    event: Event
    """What is logged of it (`storage.events.undoing`)."""
    write: Callable[[int], object] = lambda _: None
    """Writes what has to know the number of that event."""


Reverse = Callable[[Connection], Reversal | None]
"""Undoes an event in a transaction, apart from logging that; `None` if there is nothing to undo.

It raises `undo_conflict` if more was done since.
"""


class LoggedEvent(NamedTuple):
    """An event as it was logged, its number and its time in seconds since 1970 beside it."""

    id: int
    event: Event
    at: float


def log_event(connection: Connection, event: Event, *, at: float | None = None) -> int:
    """Write an event in the transaction of the change itself; return its number.

    An owner's events are committed in the order of their numbers, so that who has read up to one
    of them has missed none before it.

    Args:
        connection: Of that transaction.
        event: What was changed.
        at: When, in seconds since 1970; now when it is `None`.
    """
    lock_owner(connection, event.owner)
    row = event._asdict() | {"before": _json(event.before), "after": _json(event.after)}
    made = insert(events).returning(events.c.id)
    number: int = connection.execute(
        made, {**row, "at": time.time() if at is None else at}
    ).scalar_one()
    return number


def lock_owner(connection: Connection, owner: str) -> None:
    """Let one transaction at a time change what an owner has; it may be said more than once."""
    advisory_lock(connection, f"events {owner}")


async def read_revision(owner: str) -> int:
    """Return the number of an owner's newest event; 0 where there is none."""
    return await run_read(lambda connection: current_revision(connection, owner))


def current_revision(connection: Connection, owner: str) -> int:
    """Return the same, in a transaction of the caller's."""
    return connection.execute(NEWEST_EVENT, {"its_owner": owner}).scalar() or 0


async def list_events(
    owner: str, *, item: str = "", run: str = "", name: str = "", limit: int | None = 100
) -> list[LoggedEvent]:
    """Return an owner's events, the newest first.

    Args:
        owner: Whose.
        item: Only those of one thing.
        run: Only those of one run.
        name: Only those of one memory, such as `fact`, or of one kind, such as `fact.add`.
        limit: How many at most; all of them when it is `None`.
    """
    wanted = select(events).where(events.c.owner == owner).order_by(events.c.id.desc()).limit(limit)
    if item:
        wanted = wanted.where(events.c.item == item)
    if run:
        wanted = wanted.where(events.c.run == run)
    if name:
        wanted = wanted.where((events.c.name == name) | events.c.name.startswith(f"{name}."))
    rows = await run_read(lambda connection: connection.execute(wanted).all())
    return [parse_event(row) for row in rows]


async def find_event(owner: str, number: int) -> LoggedEvent | None:
    """Return an owner's event by its number."""
    wanted = select(events).where(events.c.owner == owner, events.c.id == number)
    row = (await read_rows(wanted)).first()
    return parse_event(row) if row else None


async def list_events_since(owner: str, number: int) -> list[LoggedEvent]:
    """Return an owner's events after one, the oldest first."""
    wanted = select(events).where(events.c.owner == owner, events.c.id > number)
    return [parse_event(row) for row in await read_rows(wanted.order_by(events.c.id))]


async def find_undone_events(owner: str) -> dict[int, int]:
    """Return which of an owner's events are taken back now, and by which other event each."""
    return await run_read(lambda connection: undone_by_in(connection, owner))


def undone_by_in(connection: Connection, owner: str) -> dict[int, int]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(events.c.id, events.c.undoes).where(
        events.c.owner == owner, events.c.undoes > 0
    )
    by: dict[int, int] = {}
    for row in connection.execute(wanted.order_by(events.c.id.desc())):
        # Whoever takes back an undo has a higher number, so that is known here.
        if row.id not in by:
            by.setdefault(row.undoes, row.id)
    return by


def undoing(logged: LoggedEvent, name: str, *, run: str = "") -> Event:
    """Return the event that says that a person has undone another one.

    Args:
        logged: The event that is undone.
        name: Of the new event.
        run: The run that the new event belongs to, if any.
    """
    its = logged.event
    why = undo_reason(logged.id)
    return Event(
        its.owner, name, its.item, its.after, its.before, "user", why, run, undoes=logged.id
    )


def empty_events(connection: Connection, owner: str, items: Sequence[str]) -> None:
    """Leave of the events of some items only that they were, when, and by whom."""
    its = (events.c.owner == owner, events.c.item.in_(items))
    connection.execute(update(events).where(*its).values(before="", after="", why=""))


def undo_reason(number: int) -> str:
    """Return the reason, for people, of an event that undoes another one."""
    return f"undo of event {number}"


FEEDBACK_STEP = "feedback"
"""The step of the events by which a person's words about a finished run are remembered."""


def parse_event(row: Row[Any]) -> LoggedEvent:
    """Return an event of a row of the log."""
    fields = {name: getattr(row, name) for name in Event._fields}
    both = {"before": _data(row.before), "after": _data(row.after)}
    return LoggedEvent(row.id, Event(**(fields | both)), row.at)


def _json(data: Data | None) -> str:
    return "" if data is None else json.dumps(data, ensure_ascii=False)


def _data(text: str) -> Data | None:
    found: Data | None = json.loads(text) if text else None
    return found
