"""A fact that was removed: no command does so any more, but logs of earlier versions have it."""

from __future__ import annotations

import time

from sqlalchemy import Connection

from memory.facts.fact import fact_event_data
from memory.facts.queries import select_fact
from memory.facts.store import put_fact
from storage.engine import run_write
from storage.events import Event, lock_owner, log_event


async def remove_fact(owner: str, id: str) -> None:
    """End a fact; it stays in the history."""

    def work(connection: Connection) -> None:
        lock_owner(connection, owner)
        fact = select_fact(connection, owner, id)
        assert fact is not None
        event = Event(owner, "fact.remove", id, fact_event_data(fact), None, "user")
        ended = fact._replace(live=False, valid_to=time.time())
        put_fact(connection, owner, ended._replace(revision=log_event(connection, event)))

    await run_write(work)
