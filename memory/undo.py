"""Undo what an event did, or everything that a run has written to any memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from config.errors import ErrorCode, Problem
from library.indexing import retire_pages
from library.page_rows import RETIRED
from library.tables import pages
from memory.protocol import Memory
from memory.registry import MEMORIES
from storage.engine import run_write
from storage.events import (
    FEEDBACK_STEP,
    Event,
    LoggedEvent,
    Reversal,
    Reverse,
    find_event,
    find_undone_events,
    list_events,
    list_events_since,
    lock_owner,
    log_event,
    undoing,
    undone_by_in,
)
from storage.tables import outbox

UNDO_RUN_EVENT = "run.undo"
"""The event that lists the events by which a run was undone."""

RETIRE_EVENT = "pages.retire"
"""The event of pages that are found no more."""

UNDONE_ELSEWHERE = ("feedback", "report", "run")
"""The first words of the names of events that undoing a run leaves: other events cover them."""


class UndoneRun(NamedTuple):
    """The result of undoing a run."""

    event: int
    """The number of the event that covers all of it, and can be undone; 0 if nothing was undone."""
    events: Sequence[LoggedEvent]
    """The events that undid something, in their order."""
    conflicts: Sequence[tuple[LoggedEvent, Problem]]
    """What could not be undone, and why."""
    dropped_messages: int
    """How many messages of the run were queued to be learnt from, and no longer are."""


async def undo_event(owner: str, number: int) -> list[LoggedEvent]:
    """Undo what one event did; return the events that did so.

    Raises:
        Problem: `event_not_found`, `undo_done`, `undo_impossible`, or why a memory refuses, such as
            `undo_conflict`.
    """
    logged = await get_event(owner, number)
    _check_not_undone(number, await find_undone_events(owner))
    before = (await list_events(owner, limit=1))[0].id
    await revert(logged)
    # The log may have changes of others since.
    return [one for one in await list_events_since(owner, before) if one.event.undoes]


async def revert(logged: LoggedEvent) -> None:
    """Undo an event by its memory, and log that, in one transaction.

    Raises:
        Problem: `undo_done`, `undo_impossible`, or why the memory refuses.
    """
    if logged.event.name == UNDO_RUN_EVENT:
        reverse = await _redo_run(logged)
    else:
        kind = logged.event.name.partition(".")[0]
        memory = next((one for one in MEMORIES if kind in one.event_names), Memory())
        reverse = await memory.undo(logged)
    await run_write(partial(_revert_in, logged=logged, reverse=reverse))


def _revert_in(connection: Connection, logged: LoggedEvent, reverse: Reverse) -> None:
    lock_owner(connection, logged.event.owner)
    _check_not_undone(logged.id, undone_by_in(connection, logged.event.owner))
    reversal = reverse(connection)
    if reversal is not None:
        reversal.write(log_event(connection, reversal.event))


def _check_not_undone(number: int, undone: Mapping[int, int]) -> None:
    if by := undone.get(number):
        what, hint = "it is taken back already", f"dossier memory undo {by} brings it back"
        raise Problem(ErrorCode.UNDO_DONE, what, where=f"event {by}", hint=hint)


async def get_event(owner: str, number: int) -> LoggedEvent:
    """Return an event of an owner.

    Raises:
        Problem: `event_not_found`.
    """
    logged = await find_event(owner, number)
    if logged is None:
        hint = "see `dossier memory log`"
        raise Problem(ErrorCode.EVENT_NOT_FOUND, f"there is no event {number}", hint=hint)
    return logged


async def undo_run(owner: str, run: str) -> UndoneRun:
    """Undo what a run has written to any memory, the newest first.

    What a person or a later run has changed since stays, and is reported. The pages that the run
    stored are found no more; where they are cited, they can still be read.
    """
    undone = await find_undone_events(owner)
    written = [one for one in await list_events(owner, run=run, limit=None) if _is_work(one)]
    newest = await list_events(owner, limit=1)
    before, conflicts = newest[0].id if newest else 0, []
    for logged in written:
        if logged.id not in undone:
            try:
                await revert(logged)
            except Problem as problem:
                conflicts.append((logged, problem))
    dropped = await run_write(partial(_retire_run, owner=owner, run=run))
    numbers = {one.id for one in written}
    events = [
        one
        for one in await list_events_since(owner, before)
        if one.event.undoes in numbers or (one.event.name == RETIRE_EVENT and one.event.item == run)
    ]
    number = 0
    if events:
        after = {
            "events": [one.id for one in events],
            "left": [{"event": one.id, "code": problem.code} for one, problem in conflicts],
        }
        summary = Event(owner, UNDO_RUN_EVENT, run, None, after, "user", _reason(run))
        number = await run_write(partial(log_event, event=summary))
    return UndoneRun(number, events, conflicts, dropped)


async def _redo_run(logged: LoggedEvent) -> Reverse:
    """Undo the undo of a run, as far as nothing was changed since."""
    owner = logged.event.owner
    undone = await find_undone_events(owner)
    for number in reversed((logged.event.after or {})["events"]):
        if number not in undone:
            await revert(await get_event(owner, number))
    return lambda _: Reversal(undoing(logged, UNDO_RUN_EVENT))


def _is_work(logged: LoggedEvent) -> bool:
    """Tell whether an event is a change that a run made itself, and no undo."""
    event = logged.event
    # What a person says about a run is theirs; a model's words never have this provenance.
    feedback = event.provenance == "user" and event.step == FEEDBACK_STEP
    return not (event.undoes or feedback or event.name.partition(".")[0] in UNDONE_ELSEWHERE)


def _reason(run: str) -> str:
    return f"undo of run {run}"


def _retire_run(connection: Connection, owner: str, run: str) -> int:
    """Retire the run's pages, and unqueue its messages; return how many messages these were."""
    lock_owner(connection, owner)
    findable = select(pages.c.number, pages.c.id).where(
        pages.c.owner == owner,
        pages.c.run == run,
        pages.c.kind != "file",
        pages.c.indexed > RETIRED,
    )
    rows = connection.execute(findable.order_by(pages.c.number)).all()
    if rows:
        retire_pages(connection, [row.number for row in rows])
        after = {"kind": "", "origin": run, "pages": [row.id for row in rows]}
        log_event(connection, Event(owner, RETIRE_EVENT, run, None, after, "user", _reason(run)))
    jobs = connection.execute(select(outbox.c.id, outbox.c.data).filter_by(owner=owner))
    ids = [row.id for row in jobs if json.loads(row.data).get("run") == run]
    connection.execute(delete(outbox).where(outbox.c.id.in_(ids)))
    return len(ids)
