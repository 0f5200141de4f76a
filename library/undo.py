"""Take pages out of every search, and undo that or that they were stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from config.errors import ErrorCode, Problem
from library.documents import (
    FILE_KIND,
    delete_document_row,
    is_content_listed,
    list_documents_below,
    read_document_hash,
)
from library.indexing import ensure_namespace, join_namespaces, restore_pages, retire_pages
from library.page_rows import RETIRED, WORDS_VERSION
from library.tables import documents, pages
from storage.batches import split_batches
from storage.engine import run_write
from storage.events import Event, LoggedEvent, Reversal, lock_owner, log_event, undoing
from storage.upsert import dialect_insert

REMOVE_EVENT, RESTORE_EVENT = "pages.remove", "pages.restore"


class RemovedPages(NamedTuple):
    """What is not searched any more, and the event that can be undone; 0 where nothing was."""

    event: int
    pages: int
    files: int


async def remove_pages(
    owner: str, ids: Sequence[str], origin: str = "", why: str = ""
) -> RemovedPages:
    """Let pages be found no more, and files be in their folders' lists no more.

    The pages stay where they are cited, and are read by their ids; reports stay as they are. A file
    that is read again is searched again.

    Args:
        owner: Whose.
        ids: The pages; those that other folders hold too must not be among them.
        origin: The file or folder whose list they leave, if any.
        why: Why, for the log.
    """

    def remove(connection: Connection) -> RemovedPages:
        lock_owner(connection, owner)
        rows = list_documents_below(connection, owner, origin) if origin else []
        event = _remove_known(connection, Event(owner, REMOVE_EVENT, origin, why=why), ids, rows)
        if event is None:
            return RemovedPages(0, 0, 0)
        gone = len((event.after or {})["pages"])
        return RemovedPages(log_event(connection, event), gone, len(rows))

    return await run_write(remove)


def _undo_removal(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Take back that pages were removed, or that this was taken back.

    Raises:
        Problem: `undo_conflict` where one of the pages was forgotten meanwhile.
    """
    event, data = logged.event, logged.event.after or {}
    ids, rows = data["pages"], data["documents"]
    if event.name == RESTORE_EVENT:
        removed = _remove_known(connection, undoing(logged, REMOVE_EVENT), ids, rows)
        return Reversal(removed) if removed else None
    _put_back(connection, logged, ids, _list_again(connection, event.owner, rows))
    return Reversal(undoing(logged, RESTORE_EVENT)._replace(before=None, after=data))


def _remove_known(
    connection: Connection, event: Event, ids: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Event | None:
    """Stop searching pages and listing files; return an event with which these were, if any."""
    owner = event.owner
    for row in rows:
        delete_document_row(connection, owner, row["root"], row["path"])
    found: dict[str, int] = {}
    for some in split_batches(ids):
        if new := _numbers(connection, owner, some, found=True):
            retire_pages(connection, list(new.values()))
            found |= new
    if not (found or rows):
        return None
    after = {"pages": list(found), "documents": list(rows)}
    item = (event.item or next(iter(found)))[-200:]
    return event._replace(item=item, before=None, after=after)


def _put_back(
    connection: Connection, logged: LoggedEvent, ids: Sequence[str], changed: Collection[str]
) -> None:
    """Let pages be found again, apart from those of files that hold something else by now."""
    owner = logged.event.owner
    for some in split_batches(ids):
        every = select(pages.c.id).where(pages.c.owner == owner, pages.c.id.in_(some))
        if len(connection.execute(every).all()) < len(some):
            what = "some of its pages were forgotten since"
            raise Problem(ErrorCode.UNDO_CONFLICT, what, where=str(logged.id))
        gone = _numbers(connection, owner, some, found=False, but=changed)
        restore_pages(connection, list(gone.values()))


def _list_again(connection: Connection, owner: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Put files back into the lists of their folders, with the pages that they have.

    Returns:
        The hashes of what files held that were read again since and hold something else.
    """
    changed: list[str] = []
    for row in rows:
        again = dialect_insert(documents).on_conflict_do_nothing()
        connection.execute(again, {"owner": owner, **row})
        if read_document_hash(connection, owner, row["root"], row["path"]) != row["sha256"]:
            changed.append(row["sha256"])
            continue
        its = select(pages.c.number).where(
            pages.c.owner == owner, pages.c.kind == FILE_KIND, pages.c.origin == row["sha256"]
        )
        numbers = list(connection.execute(its.order_by(pages.c.number)).scalars())
        namespace = ensure_namespace(connection, owner, FILE_KIND, row["root"])
        join_namespaces(connection, numbers, [namespace])
    return [one for one in changed if not is_content_listed(connection, owner, one)]


def _numbers(
    connection: Connection, owner: str, ids: Sequence[str], found: bool, but: Collection[str] = ()
) -> dict[str, int]:
    """Return the numbers of those pages that can be found, or of those that cannot, by ids.

    Pages of the files whose hashes are in `but` are left out.
    """
    stands = pages.c.indexed > RETIRED if found else pages.c.indexed == RETIRED
    wanted = select(pages.c.id, pages.c.number, pages.c.kind, pages.c.origin).where(
        pages.c.owner == owner, pages.c.id.in_(ids), stands
    )
    rows = connection.execute(wanted.order_by(pages.c.number))
    return {row.id: row.number for row in rows if row.kind != FILE_KIND or row.origin not in but}


_OPPOSITE = {"pages.keep": "pages.retire", "pages.retire": "pages.keep"}


def undo_page_event(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Let pages that an event brought be found no more, or those it took away be found again.

    They stay where they are cited, and are read by their ids.

    Raises:
        Problem: `undo_conflict` when more was done to them since, `undo_impossible` when they were
            forgotten, for then nothing is left of them.
    """
    if logged.event.name in (REMOVE_EVENT, RESTORE_EVENT):
        return _undo_removal(connection, logged)
    if logged.event.name not in _OPPOSITE:
        what = f"{logged.event.name} cannot be taken back: nothing is left of it"
        raise Problem(ErrorCode.UNDO_IMPOSSIBLE, what, where=str(logged.id))
    event = logged.event
    data = event.after or {}
    ids, was = list(data["pages"]), WORDS_VERSION if event.name == "pages.keep" else RETIRED
    those = (pages.c.owner == event.owner, pages.c.id.in_(ids), pages.c.indexed == was)
    wanted = select(pages.c.number).where(*those).order_by(pages.c.number)
    numbers = list(connection.execute(wanted).scalars())
    if len(numbers) < len(ids):
        what = "its pages were changed since"
        raise Problem(ErrorCode.UNDO_CONFLICT, what, where=str(logged.id))
    (retire_pages if was == WORDS_VERSION else restore_pages)(connection, numbers)
    undone = undoing(logged, _OPPOSITE[event.name])
    return Reversal(undone._replace(item=ids[0], before=None, after=data))
