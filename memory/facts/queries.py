"""Read facts from the database; this loads nothing that compares facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, or_, select

from memory.facts.fact import Fact, fact_key
from memory.tables import facts
from storage.batches import split_batches
from storage.engine import read_rows, run_read


def select_fact(connection: Connection, owner: str, id: str) -> Fact | None:
    """Return a fact by its id, whether it is still known or not."""
    return next(iter(select_facts(connection, owner, [id])), None)


def select_facts(connection: Connection, owner: str, ids: Sequence[str]) -> list[Fact]:
    """Return the facts that have these ids, in that order."""
    found: dict[str, Fact] = {}
    for batch in split_batches(ids):
        wanted = facts.c.id.in_(batch)
        rows = connection.execute(select(facts).where(facts.c.owner == owner, wanted))
        found |= {row.id: _fact_from_row(row) for row in rows}
    return [found[id] for id in ids if id in found]


def select_same_fact(connection: Connection, owner: str, content: str) -> Fact | None:
    """Return the live fact that says the same, whatever its case and white space."""
    wanted = select(facts).filter_by(owner=owner, key=fact_key(content), live=1)
    row = connection.execute(wanted).first()
    return _fact_from_row(row) if row else None


def _fact_from_row(row: Row[Any]) -> Fact:
    fields = {name: getattr(row, name) for name in Fact._fields}
    return Fact(**fields | {"live": row.live == 1})


async def list_facts(owner: str, include_ended: bool = False) -> list[Fact]:
    """Return an owner's facts, the oldest first.

    Args:
        owner: Whose.
        include_ended: Also those that were replaced or removed, or have ended; never those that
            were forgotten.
    """
    wanted = select(facts).where(facts.c.owner == owner, facts.c.content != "")
    if not include_ended:
        lasting = or_(facts.c.valid_to.is_(None), facts.c.valid_to > time.time())
        wanted = wanted.where(facts.c.live == 1, lasting)
    found = await read_rows(wanted.order_by(facts.c.created, facts.c.id))
    return [_fact_from_row(row) for row in found]


async def find_fact(owner: str, id: str) -> Fact | None:
    """Return a fact by its id, known or history; its content is empty if it was forgotten."""
    return await run_read(lambda connection: select_fact(connection, owner, id))


async def list_facts_of_message(owner: str, message: str) -> list[Fact]:
    """Return the facts that rest on a message, known or history."""
    wanted = select(facts).filter_by(owner=owner, message=message)
    return [_fact_from_row(row) for row in await read_rows(wanted)]
