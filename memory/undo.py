"""Undo what an event did, or everything that a run has written to any memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
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

RUN = "run.undo"
"""The event that says which events took back what a run wrote."""

RETIRE = "pages.retire"
"""The event that says which pages are found no more."""

BRIEF = ("feedback", "report", "run")
"""What events of these memories did is said elsewhere, or is no memory."""


class UndoneRun(NamedTuple):
    """What taking back a run came to."""

    event: int
    """The one event that says it all, and that can be undone; 0 where there was nothing."""
    events: Sequence[LoggedEvent]
    """The events that took something back, in their order."""
    conflicts: Sequence[tuple[LoggedEvent, Problem]]
    """What could not be taken back, and why."""
    dropped_messages: int
    """How many messages of the run will not be learnt from any more."""


async def undo_event(owner: str, number: int) -> list[LoggedEvent]:
    """Take back what one event did; return the events that did so.

    Raises:
        Problem: `event_not_found`, `undo_done`, `undo_impossible`, or what a memory says against
            it, such as `undo_conflict`.
    """
    logged = await get_event(owner, number)
    _check_not_undone(number, await find_undone_events(owner))
    before = (await list_events(owner, limit=1))[0].id
    await revert(logged)
    # What others have changed meanwhile is in the log, too.
    return [one for one in await list_events_since(owner, before) if one.event.undoes]


async def revert(logged: LoggedEvent) -> None:
    """Undo an event by its memory, and log that it was, in one transaction.

    Raises:
        Problem: `undo_done`, `undo_impossible`, or what the memory says against it.
    """
    reverse = await _prepare(logged)
    await run_write(partial(_revert_in, logged=logged, reverse=reverse))


async def _prepare(logged: LoggedEvent) -> Reverse:
    if logged.event.name == RUN:
        return await _reverse_run(logged)
    kind = logged.event.name.partition(".")[0]
    memory = next((one for one in MEMORIES if kind in one.event_names), Memory())
    return await memory.undo(logged)


def _revert_in(connection: Connection, logged: LoggedEvent, reverse: Reverse) -> None:
    lock_owner(connection, logged.event.owner)
    _check_not_undone(logged.id, undone_by_in(connection, logged.event.owner))
    reversal = reverse(connection)
    if reversal is not None:
        reversal.write(log_event(connection, reversal.event))


def _check_not_undone(number: int, undone: Mapping[int, int]) -> None:
    """Raise `undo_done` for an event that is among those that are undone."""
    if by := undone.get(number):
        hint = f"dossier memory undo {by} brings it back"
        raise Problem(
            ErrorCode.UNDO_DONE, "it is taken back already", where=f"event {by}", hint=hint
        )


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
    """Take back what a run has written to any memory, the newest first.

    What a person or a later run has changed since is left, and said. The pages that the run has
    kept are found no more; they can still be read where they are cited.
    """
    by = await find_undone_events(owner)
    written = [one for one in await list_events(owner, run=run, limit=None) if _writes(one)]
    newest = await list_events(owner, limit=1)
    before, left = newest[0].id if newest else 0, []
    for logged in written:
        if logged.id not in by:
            try:
                await revert(logged)
            except Problem as problem:
                left.append((logged, problem))
    unread = await run_write(partial(_retired, owner=owner, run=run))
    numbers = {one.id for one in written}
    did = [one for one in await list_events_since(owner, before) if _undoes(one, numbers, run)]
    summed = await run_write(partial(_sum, owner=owner, run=run, did=did, left=left)) if did else 0
    return UndoneRun(summed, did, left, unread)


async def _reverse_run(logged: LoggedEvent) -> Reverse:
    """Take back that a run was taken back, as far as nothing was changed since."""
    owner, by = logged.event.owner, await find_undone_events(logged.event.owner)
    for number in reversed((logged.event.after or {})["events"]):
        if number not in by:
            await revert(await get_event(owner, number))
    return lambda _: Reversal(undoing(logged, RUN))


def _writes(logged: LoggedEvent) -> bool:
    """Say whether an event is a change that a run made, and not one that took another back."""
    its = logged.event
    # What a person says about a run is theirs; a model's words never have this provenance.
    feedback = its.provenance == "user" and its.step == FEEDBACK_STEP
    return not (its.undoes or feedback or its.name.partition(".")[0] in BRIEF)


def _undoes(logged: LoggedEvent, written: Collection[int], run: str) -> bool:
    """Say whether an event undoes what a run wrote, or is that its pages are found no more."""
    retired = logged.event.name == RETIRE and logged.event.item == run
    return retired or logged.event.undoes in written


def _why(run: str) -> str:
    return f"undo of run {run}"


def _retired(connection: Connection, owner: str, run: str) -> int:
    """Let the run's pages be found no more, and its messages not be learnt from any more."""
    lock_owner(connection, owner)
    kept = select(pages.c.number, pages.c.id).where(
        pages.c.owner == owner,
        pages.c.run == run,
        pages.c.kind != "file",
        pages.c.indexed > RETIRED,
    )
    rows = connection.execute(kept.order_by(pages.c.number)).all()
    if rows:
        retire_pages(connection, [row.number for row in rows])
        after = {"kind": "", "origin": run, "pages": [row.id for row in rows]}
        log_event(connection, Event(owner, RETIRE, run, None, after, "user", _why(run)))
    mine = select(outbox.c.id, outbox.c.data).where(outbox.c.owner == owner)
    said = [row.id for row in connection.execute(mine) if _of(json.loads(row.data), run)]
    connection.execute(delete(outbox).where(outbox.c.id.in_(said)))
    return len(said)


def _of(data: Mapping[str, object], run: str) -> bool:
    return data.get("run") == run


def _sum(
    connection: Connection,
    owner: str,
    run: str,
    did: Sequence[LoggedEvent],
    left: Sequence[tuple[LoggedEvent, Problem]],
) -> int:
    after = {
        "events": [one.id for one in did],
        "left": [{"event": one.id, "code": problem.code} for one, problem in left],
    }
    return log_event(connection, Event(owner, RUN, run, None, after, "user", _why(run)))
