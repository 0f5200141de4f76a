"""Undo what an event did to a fact."""

from __future__ import annotations

import time
from collections.abc import Collection

from sqlalchemy import Connection

from config.errors import ErrorCode, Problem
from memory.facts import queries, store
from memory.facts.fact import Fact, FactData, fact_event_data, facts_in_event
from storage.events import LoggedEvent, Reversal, undoing


def undo_fact(connection: Connection, logged: LoggedEvent) -> Reversal:
    """Make the facts of an event again what they were before it.

    Raises:
        Problem: `undo_conflict` if they were changed since, forgotten, or are known again.
    """
    event = logged.event
    before, after = (facts_in_event(event.item, side) for side in (event.before, event.after))
    ids = list(before | after)
    if not ids:
        raise _conflict(logged, "it was forgotten")
    found = {fact.id: fact for fact in queries.select_facts(connection, event.owner, ids)}
    if any(_state(found.get(id)) != after.get(id) for id in ids):
        raise _conflict(logged, "it was changed since")
    back = [Fact(id=id, revision=0, **was) for id, was in before.items()]
    for fact in back:
        _free(connection, logged, fact, ids)
    ended = [found[id] for id in ids if id not in before]
    gone = [one._replace(live=False, valid_to=time.time(), superseded_by="") for one in ended]

    def write(number: int) -> None:
        for fact in [*gone, *back]:
            store.put_fact(connection, event.owner, fact._replace(revision=number))

    return Reversal(undoing(logged, "fact.undo"), write)


def _state(fact: Fact | None) -> FactData | None:
    if fact is None or not (fact.live or fact.superseded_by):
        return None
    return fact_event_data(fact)


def _free(
    connection: Connection, logged: LoggedEvent, fact: Fact, changed: Collection[str]
) -> None:
    """Make sure that no fact but those that are changed now says by now what this one said."""
    other = (
        queries.select_same_fact(connection, logged.event.owner, fact.content)
        if fact.live
        else None
    )
    if other and other.id not in changed:
        raise _conflict(logged, f"{other.id} says the same by now")


def _conflict(logged: LoggedEvent, what: str) -> Problem:
    where = f"event {logged.id}, fact {logged.event.item}"
    hint = "see `dossier memory log`, and edit it instead"
    return Problem(
        ErrorCode.UNDO_CONFLICT, f"it cannot be taken back: {what}", where=where, hint=hint
    )
