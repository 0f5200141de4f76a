"""Log every change of a memory: the data before and after it, its source, and its reason."""

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
    """One change of one item of a memory."""

    owner: str
    name: str
    """The memory and the change, such as `fact.add`."""
    item: str = ""
    """The id of the changed item."""
    before: Data | None = None
    """The former data; `None` if there were none."""
    after: Data | None = None
    """The new data; `None` if there are none."""
    provenance: str = "user"
    """The source of the change: `user`, `model`, `tool` or `web`."""
    why: str = ""
    """The reason, for people; that of a model is free text."""
    run: str = ""
    step: str = ""
    """The step of the run; `FEEDBACK_STEP` for a person's feedback on the run."""
    undoes: int = 0
    """The number of the event that this one undoes; 0 if none."""


class Reversal(NamedTuple):
    """The effect of undoing an event in one memory."""

    event: Event
    """The event to log (`storage.events.undoing`)."""
    write: Callable[[int], object] = lambda _: None
    """Writes the data that contain the number of that event."""


Reverse = Callable[[Connection], Reversal | None]
"""Undoes an event in a transaction, without logging that; `None` if there is nothing to undo.

It raises `undo_conflict` if there are later changes.
"""


class LoggedEvent(NamedTuple):
    """A logged event, with its number and its time in seconds since 1970."""

    id: int
    event: Event
    at: float


def log_event(connection: Connection, event: Event, *, at: float | None = None) -> int:
    """Write an event in the transaction of the change itself; return its number.

    An owner's events are committed in the order of their numbers, so that a reader of one has
    missed none before it.

    Args:
        connection: The connection of that transaction.
        event: The change.
        at: Its time, in seconds since 1970; now if it is `None`.
    """
    lock_owner(connection, event.owner)
    row = {**event._asdict(), "at": time.time() if at is None else at}
    row |= {"before": _json(event.before), "after": _json(event.after)}
    number: int = connection.execute(insert(events).returning(events.c.id), row).scalar_one()
    return number


def lock_owner(connection: Connection, owner: str) -> None:
    """Let one transaction at a time change the data of an owner; repeating it does no harm."""
    advisory_lock(connection, f"events {owner}")


async def read_revision(owner: str) -> int:
    """Return the number of an owner's newest event; 0 if there is none."""
    return await run_read(lambda connection: current_revision(connection, owner))


def current_revision(connection: Connection, owner: str) -> int:
    """Return the same, in a transaction of the caller's."""
    return connection.execute(NEWEST_EVENT, {"its_owner": owner}).scalar() or 0


async def list_events(
    owner: str,
    *,
    item: str = "",
    run: str = "",
    name: str = "",
    limit: int | None = 100,
    before: int | None = None,
) -> list[LoggedEvent]:
    """Return an owner's events, the newest first.

    Args:
        owner: The owner.
        item: Only those of one item.
        run: Only those of one run.
        name: Only those of one memory, such as `fact`, or of one change, such as `fact.add`.
        limit: How many at most; all if it is `None`.
        before: Only those before the event of this number.
    """
    wanted = select(events).where(events.c.owner == owner).order_by(events.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(events.c.id < before)
    for column, value in ((events.c.item, item), (events.c.run, run)):
        wanted = wanted.where(column == value) if value else wanted
    if name:
        wanted = wanted.where((events.c.name == name) | events.c.name.startswith(f"{name}."))
    return [parse_event(row) for row in await read_rows(wanted)]


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
    """Return the events of an owner that are undone now, each with the event that undid it."""
    return await run_read(lambda connection: undone_by_in(connection, owner))


def undone_by_in(connection: Connection, owner: str) -> dict[int, int]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(events.c.id, events.c.undoes).where(
        events.c.owner == owner, events.c.undoes > 0
    )
    undone_by: dict[int, int] = {}
    for row in connection.execute(wanted.order_by(events.c.id.desc())):
        # An event that undoes an undo has a higher number, so it comes before that undo.
        if row.id not in undone_by:
            undone_by.setdefault(row.undoes, row.id)
    return undone_by


def undoing(logged: LoggedEvent, name: str, *, run: str = "") -> Event:
    """Return the event of a person who undoes another event.

    Args:
        logged: The event that is undone.
        name: The name of the new event.
        run: The run that the new event belongs to, if any.
    """
    undone, why = logged.event, undo_reason(logged.id)
    before, after = undone.after, undone.before
    return Event(undone.owner, name, undone.item, before, after, "user", why, run, undoes=logged.id)


def empty_events(connection: Connection, owner: str, items: Sequence[str]) -> None:
    """Remove the data and reasons from the events of some items; the rest of each stays."""
    its = (events.c.owner == owner, events.c.item.in_(items))
    connection.execute(update(events).where(*its).values(before="", after="", why=""))


def undo_reason(number: int) -> str:
    """Return the reason, for people, of an event that undoes another one."""
    return f"undo of event {number}"


FEEDBACK_STEP = "feedback"
"""The step of the events that come from a person's feedback on a finished run."""


def parse_event(row: Row[Any]) -> LoggedEvent:
    """Return the event in a row of the log."""
    fields = {name: getattr(row, name) for name in Event._fields}
    both = {"before": _data(row.before), "after": _data(row.after)}
    return LoggedEvent(row.id, Event(**(fields | both)), row.at)


def _json(data: Data | None) -> str:
    return "" if data is None else json.dumps(data, ensure_ascii=False)


def _data(text: str) -> Data | None:
    found: Data | None = json.loads(text) if text else None
    return found
