"""Take back what an event did to a fact."""

from __future__ import annotations

import time

from sqlalchemy import Connection

from config.errors import Problem
from memory.facts import rows
from memory.facts.fact import Fact
from memory.facts.rows import Data
from storage.engine import write
from storage.events import Logged, hold, log, undoing


async def undo(logged: Logged) -> None:
    """Make the facts of an event again what they were before it, and log that as `fact.undo`.

    An undo can be undone like any other event.

    Raises:
        Problem: `undo_conflict` if they were changed since, forgotten, or are known again.
    """
    await write(lambda connection: take_back(connection, logged))


def take_back(connection: Connection, logged: Logged) -> None:
    """Do the same in a transaction of the caller's, which has changed no fact before."""
    event = logged.event
    hold(connection, event.owner)
    before, after = (rows.told(event.item, side) for side in (event.before, event.after))
    ids = list(before | after)
    if not ids:
        raise _conflict(logged, "it was forgotten")
    found = {fact.id: fact for fact in rows.some(connection, event.owner, ids)}
    if any(_state(found.get(id)) != after.get(id) for id in ids):
        raise _conflict(logged, "it was changed since")
    number = log(connection, undoing(logged, "fact.undo"))
    for id in sorted(ids, key=lambda id: id in before):
        was = before.get(id)
        if was is None:
            fact = found[id]._replace(live=False, valid_to=time.time(), superseded_by="")
        else:
            fact = Fact(id=id, revision=number, **was)
            _free(connection, logged, fact)
        rows.put(connection, event.owner, fact._replace(revision=number))


def _state(fact: Fact | None) -> Data | None:
    if fact is None or not (fact.live or fact.superseded_by):
        return None
    return rows.data(fact)


def _free(connection: Connection, logged: Logged, fact: Fact) -> None:
    """Make sure that no other fact says by now what this one said."""
    other = rows.known_as(connection, logged.event.owner, fact.content) if fact.live else None
    if other and other.id != fact.id:
        raise _conflict(logged, f"{other.id} says the same by now")


def _conflict(logged: Logged, what: str) -> Problem:
    where = f"event {logged.id}, fact {logged.event.item}"
    hint = "see `dossier memory log`, and edit it instead"
    return Problem("undo_conflict", f"it cannot be taken back: {what}", where=where, hint=hint)
