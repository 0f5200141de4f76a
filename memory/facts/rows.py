"""Read and write facts in a transaction of the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from memory.facts.fact import Fact, key
from storage.tables import facts
from storage.upsert import upsert

Data = dict[str, Any]

BATCH = 500
"""How many ids a statement names; SQLite as it usually comes takes 32,766."""

TOLD = [name for name in Fact._fields if name not in ("id", "revision")]
"""What the log says of a fact."""


def one(connection: Connection, owner: str, id: str) -> Fact | None:
    """Return a fact by its id, whether it is still known or not."""
    return next(iter(some(connection, owner, [id])), None)


def some(connection: Connection, owner: str, ids: Sequence[str]) -> list[Fact]:
    """Return the facts that have these ids, in that order."""
    found: dict[str, Fact] = {}
    for first in range(0, len(ids), BATCH):
        wanted = facts.c.id.in_(ids[first : first + BATCH])
        rows = connection.execute(select(facts).where(facts.c.owner == owner, wanted))
        found |= {row.id: fact_of(row) for row in rows}
    return [found[id] for id in ids if id in found]


def known_as(connection: Connection, owner: str, content: str) -> Fact | None:
    """Return the live fact that has a content, however that is written."""
    wanted = select(facts).where(
        facts.c.owner == owner, facts.c.key == key(content), facts.c.live == 1
    )
    row = connection.execute(wanted).first()
    return fact_of(row) if row else None


def put(connection: Connection, owner: str, fact: Fact) -> None:
    """Write a fact as it is now, whether or not it is there."""
    row = fact._asdict() | {"live": int(fact.live), "key": key(fact.content)}
    connection.execute(upsert(facts, {"owner": owner, "id": row.pop("id")}, row))


def data(fact: Fact) -> Data:
    """Return what the log says of a fact."""
    told = fact._asdict()
    return {name: told[name] for name in TOLD}


def both(fact: Fact, successor: Fact | None) -> Data:
    """Return what the log says of a fact and the one that takes its place."""
    if successor is None:
        return data(fact)
    return data(fact) | {"successor": {"id": successor.id} | data(successor)}


def told(item: str, logged: Mapping[str, Any] | None) -> dict[str, Data]:
    """Return what an event says of each fact that it tells of, by their ids."""
    if logged is None:
        return {}
    plain = {name: value for name, value in logged.items() if name != "successor"}
    successor = logged.get("successor")
    if successor is None:
        return {item: plain}
    return {item: plain, successor["id"]: {name: successor[name] for name in TOLD}}


def fact_of(row: Row[Any]) -> Fact:
    """Return the fact of a row of the table."""
    fields = {name: getattr(row, name) for name in Fact._fields}
    return Fact(**fields | {"live": row.live == 1})
