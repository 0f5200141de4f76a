"""All memories, and what people ask of all of them: list, search, find, edit, explain and undo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select

from config.errors import ErrorCode, Problem
from library.indexing import retire_pages
from library.page_rows import RETIRED
from library.tables import pages
from memory.agents_md.memory import INSTRUCTIONS
from memory.experience.memory import EXPERIENCE
from memory.facts.memory import FACTS
from memory.page_memory import PAGES
from memory.profile.memory import PROFILE
from memory.protocol import Memory, MemoryItem
from memory.reports import REPORTS
from runs.trace import read_trace
from storage import events as log
from storage.engine import run_write
from storage.tables import outbox
from text.normalization import is_blank

MEMORIES: tuple[Memory, ...] = (INSTRUCTIONS, PROFILE, FACTS, EXPERIENCE, REPORTS, PAGES)
"""All memories in the order of their notes in a call: what changes least comes first."""

MIN_ID_CHARS = 4
"""The fewest characters by which an id is named."""


async def list_items(
    owner: str, limit: int, memory: str = "", *, every: bool = False
) -> dict[str, list[MemoryItem]]:
    """Return the newest items of each memory, the newest first.

    Args:
        owner: Whose.
        limit: How many of each at most.
        memory: The only memory to list, by its name; all of them without a name.
        every: Also what is only history.

    Raises:
        Problem: `memory_unknown`.
    """
    chosen = _memories_named(memory)
    found = await asyncio.gather(*(one.list_items(owner, limit, every=every) for one in chosen))
    return dict(zip((one.name for one in chosen), found, strict=True))


async def search_items(
    owner: str, query: str, limit: int, memory: str = ""
) -> dict[str, list[MemoryItem]]:
    """Return the items of each memory that match some words, best first.

    Raises:
        Problem: `memory_unknown`, or `usage` without words.
    """
    if is_blank(query):
        what, hint = "there is nothing to search for", 'dossier memory search "tea"'
        raise Problem(ErrorCode.USAGE, what, hint=hint)
    chosen = _memories_named(memory)
    found = await asyncio.gather(*(one.search(owner, query, limit) for one in chosen))
    return dict(zip((one.name for one in chosen), found, strict=True))


async def find_items(owner: str, id: str) -> list[MemoryItem]:
    """Return the item that an id names, or all pages that a run has reported.

    Raises:
        Problem: `memory_not_found`, or `memory_ambiguous` when several ids begin so.
    """
    items = [item for one in MEMORIES for item in await one.find_by_id(owner, id)] if id else []
    reported = [item for item in items if item.run == id and item.kind == "report"]
    exact = [item for item in items if item.id == id]
    if reported or exact:
        return reported or exact[:1]
    if len(id) < MIN_ID_CHARS or not items:
        hint = "see `dossier memory list` or `dossier memory search`"
        raise Problem(ErrorCode.MEMORY_NOT_FOUND, f"nothing here has the id {id!r}", hint=hint)
    if len(items) > 1:
        hint = f"write more of it: {', '.join(item.id for item in items[:3])}"
        raise Problem(ErrorCode.MEMORY_AMBIGUOUS, f"{len(items)} ids begin with {id!r}", hint=hint)
    return items


async def edit_item(owner: str, id: str, text: str) -> MemoryItem:
    """Replace the text of one item.

    Raises:
        Problem: What `find_items` raises, `not_editable`, or why the text is refused.
    """
    item = (await find_items(owner, id))[0]
    return await _get_memory(item.memory).edit(owner, item.id, text)


def _memories_named(name: str) -> list[Memory]:
    return [_get_memory(name)] if name else list(MEMORIES)


def _get_memory(name: str) -> Memory:
    by_name = {one.name: one for one in MEMORIES}
    if name in by_name:
        return by_name[name]
    hint = ", ".join(by_name)
    raise Problem(ErrorCode.MEMORY_UNKNOWN, f"there is no memory {name!r}", hint=hint)


class RecalledItem(NamedTuple):
    """A note that calls of a run were given."""

    memory: str
    id: str
    revision: int
    score: Mapping[str, float]
    """The parts of its score, in the first call."""
    where: Mapping[str, int]
    """How many calls were given it, by role and step, in their order."""
    said: str | None
    """What it said then; `None` if that is no longer known."""
    item: MemoryItem | None
    """What it says now, of a file without its comments; `None` if it is gone."""
    cut: tuple[int, int] = (0, 0)
    """Where not all of it fitted: the fewest lines that a call was given, and how many it had."""


class RecallExplanation(NamedTuple):
    """The notes that a run was given, and how many of its calls were given any."""

    items: list[RecalledItem]
    calls: int
    tokens: int
    estimated: bool = False
    """Whether the tokens were estimated instead of counted."""


async def explain_recall(owner: str, run: str) -> RecallExplanation:
    """Return the notes that the calls of an owner's run were given, in the order of the calls.

    Args:
        owner: Whose; nothing of another owner's memories is looked up.
        run: One of their runs.
    """
    lines = [line for line in await read_trace(run) if line["kind"] == "memory"]
    notes: dict[tuple[str, str, int], dict[str, Any]] = {}
    for line in lines:
        place = f"{line['role']} {line['step']}".strip()
        for note in line["notes"]:
            key = (note["memory"], note["id"], note["revision"])
            known = notes.setdefault(key, {"score": note["score"], "where": {}})
            known["where"][place] = known["where"].get(place, 0) + 1
            if "cut" in note:
                known["cut"] = min(known.get("cut", note["cut"]), note["cut"])
    items, memories = [], {one.name: one for one in MEMORIES}
    for (name, id, revision), known in notes.items():
        memory = memories.get(name, Memory())
        said, item = await memory.find_revision(owner, id, revision)
        cut = tuple(known.get("cut", (0, 0)))
        given = (name, id, revision, known["score"], known["where"])
        items.append(RecalledItem(*given, said, item, cut))
    estimated = any(line.get("estimated") for line in lines)
    return RecallExplanation(items, len(lines), sum(line["tokens"] for line in lines), estimated)


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
    events: Sequence[log.LoggedEvent]
    """The events that undid something, in their order."""
    conflicts: Sequence[tuple[log.LoggedEvent, Problem]]
    """What could not be undone, and why."""
    dropped_messages: int
    """How many messages of the run were queued to be learnt from, and no longer are."""


async def undo_event(owner: str, number: int) -> list[log.LoggedEvent]:
    """Undo what one event did; return the events that did so.

    Raises:
        Problem: `event_not_found`, `undo_done`, `undo_impossible`, or why a memory refuses, such as
            `undo_conflict`.
    """
    logged = await get_event(owner, number)
    _check_not_undone(number, await log.find_undone_events(owner))
    before = (await log.list_events(owner, limit=1))[0].id
    await revert(logged)
    # The log may have changes of others since.
    return [one for one in await log.list_events_since(owner, before) if one.event.undoes]


async def revert(logged: log.LoggedEvent) -> None:
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


def _revert_in(connection: Connection, logged: log.LoggedEvent, reverse: log.Reverse) -> None:
    log.lock_owner(connection, logged.event.owner)
    _check_not_undone(logged.id, log.undone_by_in(connection, logged.event.owner))
    reversal = reverse(connection)
    if reversal is not None:
        reversal.write(log.log_event(connection, reversal.event))


def _check_not_undone(number: int, undone: Mapping[int, int]) -> None:
    if by := undone.get(number):
        what, hint = "it is taken back already", f"dossier memory undo {by} brings it back"
        raise Problem(ErrorCode.UNDO_DONE, what, where=f"event {by}", hint=hint)


async def get_event(owner: str, number: int) -> log.LoggedEvent:
    """Return an event of an owner.

    Raises:
        Problem: `event_not_found`.
    """
    logged = await log.find_event(owner, number)
    if logged is None:
        hint = "see `dossier memory log`"
        raise Problem(ErrorCode.EVENT_NOT_FOUND, f"there is no event {number}", hint=hint)
    return logged


async def undo_run(owner: str, run: str) -> UndoneRun:
    """Undo what a run has written to any memory, the newest first.

    What a person or a later run has changed since stays, and is reported. The pages that the run
    stored are found no more; where they are cited, they can still be read.
    """
    undone = await log.find_undone_events(owner)
    written = [one for one in await log.list_events(owner, run=run, limit=None) if _is_work(one)]
    newest = await log.list_events(owner, limit=1)
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
        for one in await log.list_events_since(owner, before)
        if one.event.undoes in numbers or (one.event.name == RETIRE_EVENT and one.event.item == run)
    ]
    number = 0
    if events:
        left = [{"event": one.id, "code": problem.code} for one, problem in conflicts]
        after = {"events": [one.id for one in events], "left": left}
        summary = log.Event(owner, UNDO_RUN_EVENT, run, None, after, "user", _reason(run))
        number = await run_write(partial(log.log_event, event=summary))
    return UndoneRun(number, events, conflicts, dropped)


async def _redo_run(logged: log.LoggedEvent) -> log.Reverse:
    """Undo the undo of a run, as far as nothing was changed since."""
    owner = logged.event.owner
    undone = await log.find_undone_events(owner)
    for number in reversed((logged.event.after or {})["events"]):
        if number not in undone:
            await revert(await get_event(owner, number))
    return lambda _: log.Reversal(log.undoing(logged, UNDO_RUN_EVENT))


def _is_work(logged: log.LoggedEvent) -> bool:
    """Tell whether an event is a change that a run made itself, and no undo."""
    event = logged.event
    # What a person says about a run is theirs; a model's words never have this provenance.
    feedback = event.provenance == "user" and event.step == log.FEEDBACK_STEP
    return not (event.undoes or feedback or event.name.partition(".")[0] in UNDONE_ELSEWHERE)


def _reason(run: str) -> str:
    return f"undo of run {run}"


def _retire_run(connection: Connection, owner: str, run: str) -> int:
    """Retire the run's pages, and unqueue its messages; return how many messages these were."""
    log.lock_owner(connection, owner)
    written = select(pages.c.number, pages.c.id).filter_by(owner=owner, run=run)
    findable = written.where(pages.c.kind != "file", pages.c.indexed > RETIRED)
    rows = connection.execute(findable.order_by(pages.c.number)).all()
    if rows:
        retire_pages(connection, [row.number for row in rows])
        after = {"kind": "", "origin": run, "pages": [row.id for row in rows]}
        event = log.Event(owner, RETIRE_EVENT, run, None, after, "user", _reason(run))
        log.log_event(connection, event)
    jobs = connection.execute(select(outbox.c.id, outbox.c.data).filter_by(owner=owner))
    ids = [row.id for row in jobs if json.loads(row.data).get("run") == run]
    connection.execute(delete(outbox).where(outbox.c.id.in_(ids)))
    return len(ids)
