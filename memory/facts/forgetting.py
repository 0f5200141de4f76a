"""Forget facts for good: nothing of what they said is left in their rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, update

from memory.facts.changing import Change
from memory.facts.rows import one
from storage.events import hold
from storage.tables import facts

EMPTY = {
    "content": "",
    "category": "",
    "confidence": 0.0,
    "quote": "",
    "thread": "",
    "run": "",
    "message": "",
    "provenance": "",
    "created": 0.0,
    "valid_from": 0.0,
    "valid_to": None,
    "superseded_by": "",
    "live": 0,
}
"""What is left of a fact beside its id, its owner and its revision."""


def forget_facts(
    connection: Connection, owner: str, ids: Sequence[str], *, why: str = "", run: str = ""
) -> list[str]:
    """Empty facts, whether they are known still or history, in a transaction of the caller's.

    What the log says of them (`fact.*` events of these items, and those that name one of them as a
    `successor`) is for the caller to scrub; so are free pages and the write-ahead log.

    Returns:
        The ids of those that were there and were not forgotten before.
    """
    hold(connection, owner)
    change = Change(connection, owner, why, run)
    found = [one(connection, owner, id) for id in dict.fromkeys(ids)]
    forgotten = [fact.id for fact in found if fact and fact.content]
    for id in forgotten:
        number = change.logged("fact.forget", id, None, None)
        its = update(facts).where(facts.c.owner == owner, facts.c.id == id)
        # A hash of what was said would tell who guesses it, so the key is the id.
        connection.execute(its.values(EMPTY | {"key": id, "revision": number}))
    return forgotten
