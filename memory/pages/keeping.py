"""Keep pages: what one transaction does to the page store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from memory.pages.indexing import enroll, in_index, join, namespace, put, queue, take
from memory.pages.rows import CUT, GONE, Origin
from storage.tables import pages
from storage.upsert import insert_new

AT_ONCE = 1_000
"""How many pages a statement names; SQLite as it usually comes takes 32,766."""


_HELD = (
    select(pages.c.id, pages.c.number, pages.c.indexed)
    .where(pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.number)
    .with_for_update()
)


def store(
    connection: Connection, origin: Origin, rows: Sequence[Mapping[str, Any]]
) -> Sequence[int]:
    """Write pages that are not there yet, and let all of them be found.

    Returns:
        The numbers of those that could not be found before.
    """
    given = {row["id"]: row for row in rows}
    known = {row.id for row in _held(connection, list(given))}
    new = insert(connection, [row for one, row in given.items() if one not in known])
    held = _held(connection, list(given))
    stale = {row.number: given[row.id] for row in held if row.indexed != CUT}
    _write_again(connection, stale)
    wanted = _namespaces(connection, origin)
    fresh = sorted({*new, *stale})
    enroll(connection, fresh, wanted)
    put(connection, fresh)
    queue(connection, fresh)
    join(connection, [row.number for row in held if row.number not in {*fresh}], wanted)
    if known:
        longer = update(pages).where(pages.c.id.in_(known), pages.c.expires != origin.expires)
        connection.execute(longer.values(expires=origin.expires))
    return fresh


def insert(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Write new pages and return their numbers, without those that another process was first to."""
    if not rows:
        return []
    once = insert_new(pages).on_conflict_do_nothing(index_elements=["id"])
    return list(connection.execute(once.returning(pages.c.number), rows).scalars())


def _namespaces(connection: Connection, origin: Origin) -> list[int]:
    groups = dict.fromkeys(["", origin.group])
    return [namespace(connection, origin.owner, origin.kind, group) for group in groups]


def _write_again(connection: Connection, rows: Mapping[int, Mapping[str, Any]]) -> None:
    """Write the words of pages that were cut otherwise, or are said again after they were gone."""
    if rows:
        take(connection, in_index(connection, list(rows)))
        again = update(pages).where(pages.c.number == bindparam("one"))
        words: dict[str, Any] = {
            "words": bindparam("new_words"),
            "title_words": bindparam("new_title_words"),
            "superseded_by": "",
            "indexed": CUT,
        }
        values = [
            {"one": one, "new_words": row["words"], "new_title_words": row["title_words"]}
            for one, row in rows.items()
        ]
        connection.execute(again.values(words), values)


def supersede(connection: Connection, owner: str, origin: str, said: Mapping[str, int]) -> None:
    """Let the pages of an origin that it does not have any more be found no more.

    Each is told which page says now what it said: the one in its place, or the first.

    Args:
        connection: Of a transaction that writes.
        owner: Whose pages.
        origin: The id of the origin.
        said: The places of the pages it has now, by their ids.
    """
    every = select(pages.c.id, pages.c.number, pages.c.position).where(
        pages.c.owner == owner, pages.c.origin_id == origin, pages.c.indexed > GONE
    )
    old = [row for row in connection.execute(every) if row.id not in said]
    if old and said:
        places = {place: one for one, place in said.items()}
        first = places[min(places)]
        values = [{"old": row.number, "new": places.get(row.position, first)} for row in old]
        marked = update(pages).where(pages.c.number == bindparam("old"))
        connection.execute(marked.values(superseded_by=bindparam("new")), values)
        for at in range(0, len(old), AT_ONCE):
            retire(connection, [row.number for row in old[at : at + AT_ONCE]])


def retire(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found no more; they can still be read by their ids."""
    take(connection, in_index(connection, numbers))
    gone = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(gone.values(indexed=GONE))
    queue(connection, numbers)


def put_back(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found again that were found no more."""
    again = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(again.values(indexed=CUT, superseded_by=""))
    put(connection, numbers)
    queue(connection, numbers)


def _held(connection: Connection, ids: Sequence[str]) -> Sequence[Any]:
    """Return what is there of some pages, and keep others from changing it meanwhile."""
    return connection.execute(_HELD, {"ids": ids}).all()
