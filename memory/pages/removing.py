"""Stop searching pages, and change nothing else; it can be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from config.errors import Problem
from memory.base import Reversal
from memory.pages.documents import AT_ONCE, FILE, content, is_held, leave, listed_below
from memory.pages.indexing import join, namespace
from memory.pages.keeping import put_back, retire
from memory.pages.rows import GONE
from storage.engine import write
from storage.events import Event, Logged, hold, log, undoing
from storage.tables import documents, pages
from storage.upsert import insert_new

REMOVE, RESTORE = "pages.remove", "pages.restore"


class Removed(NamedTuple):
    """What is not searched any more, and the event that can be undone; 0 where nothing was."""

    event: int
    pages: int
    files: int


async def remove(owner: str, ids: Sequence[str], origin: str = "", why: str = "") -> Removed:
    """Let pages be found no more, and files be in their folders' lists no more.

    The pages stay where they are cited, and are read by their ids; reports stay as they are. A file
    that is read again is searched again.

    Args:
        owner: Whose.
        ids: The pages; those that other folders hold too must not be among them.
        origin: The file or folder whose list they leave, if any.
        why: Why, for the log.
    """
    return await write(partial(_remove, owner=owner, ids=ids, origin=origin, why=why))


def turn(connection: Connection, logged: Logged) -> Reversal | None:
    """Take back that pages were removed, or that this was taken back.

    Raises:
        Problem: `undo_conflict` where one of the pages was forgotten meanwhile.
    """
    event, data = logged.event, logged.event.after or {}
    ids, rows = data["pages"], data["documents"]
    if event.name == RESTORE:
        removed = _gone(connection, undoing(logged, REMOVE), ids, rows)
        return Reversal(removed) if removed else None
    _put_back(connection, logged, ids, _list_again(connection, event.owner, rows))
    return Reversal(undoing(logged, RESTORE)._replace(before=None, after=data))


def _remove(
    connection: Connection, owner: str, ids: Sequence[str], origin: str, why: str
) -> Removed:
    hold(connection, owner)
    rows = listed_below(connection, owner, origin) if origin else []
    event = _gone(connection, Event(owner, REMOVE, origin, why=why), ids, rows)
    if event is None:
        return Removed(0, 0, 0)
    return Removed(log(connection, event), len((event.after or {})["pages"]), len(rows))


def _gone(
    connection: Connection, event: Event, ids: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Event | None:
    """Stop searching pages and listing files; return an event with which these were, if any."""
    owner = event.owner
    for row in rows:
        leave(connection, owner, row["root"], row["path"])
    found: dict[str, int] = {}
    for some in batched(ids):
        new = _numbers(connection, owner, some, found=True)
        if new:
            retire(connection, list(new.values()))
        found |= new
    if not (found or rows):
        return None
    after = {"pages": list(found), "documents": list(rows)}
    item = (event.item or next(iter(found)))[-200:]
    return event._replace(item=item, before=None, after=after)


def _put_back(
    connection: Connection, logged: Logged, ids: Sequence[str], changed: Collection[str]
) -> None:
    """Let pages be found again, apart from those of files that hold something else by now."""
    owner = logged.event.owner
    for some in batched(ids):
        every = select(pages.c.id).where(pages.c.owner == owner, pages.c.id.in_(some))
        if len(connection.execute(every).all()) < len(some):
            what = "some of its pages were forgotten since"
            raise Problem("undo_conflict", what, where=str(logged.id))
        gone = _numbers(connection, owner, some, found=False, but=changed)
        put_back(connection, list(gone.values()))


def batched(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield ids by as many as one statement may name; a folder may have any number of pages."""
    for at in range(0, len(ids), AT_ONCE):
        yield ids[at : at + AT_ONCE]


def _list_again(connection: Connection, owner: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Put files back into the lists of their folders, with the pages that they have.

    Returns:
        The hashes of what files held that were read again since and hold something else.
    """
    changed: list[str] = []
    for row in rows:
        again = insert_new(documents).on_conflict_do_nothing()
        connection.execute(again, {"owner": owner, **row})
        if content(connection, owner, row["root"], row["path"]) != row["sha256"]:
            changed.append(row["sha256"])
            continue
        its = select(pages.c.number).where(
            pages.c.owner == owner, pages.c.kind == FILE, pages.c.origin == row["sha256"]
        )
        numbers = list(connection.execute(its.order_by(pages.c.number)).scalars())
        join(connection, numbers, [namespace(connection, owner, FILE, row["root"])])
    return [one for one in changed if not is_held(connection, owner, one)]


def _numbers(
    connection: Connection,
    owner: str,
    ids: Sequence[str],
    *,
    found: bool,
    but: Collection[str] = (),
) -> dict[str, int]:
    """Return the numbers of those pages that can be found, or of those that cannot, by ids.

    Pages of the files whose hashes are in `but` are left out.
    """
    stands = pages.c.indexed > GONE if found else pages.c.indexed == GONE
    wanted = select(pages.c.id, pages.c.number, pages.c.kind, pages.c.origin).where(
        pages.c.owner == owner, pages.c.id.in_(ids), stands
    )
    rows = connection.execute(wanted.order_by(pages.c.number))
    return {row.id: row.number for row in rows if row.kind != FILE or row.origin not in but}
