"""Keep the index true: cut pages again when cutting has changed, and end what has its time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from memory.pages.indexing import KEY, in_index, put, queue, take
from memory.pages.keeping import retire
from memory.pages.rows import CUT, cut
from retrieval.names import title_key
from storage.engine import read
from storage.journal import perform
from storage.private import as_far_as_writable
from storage.tables import members, pages, sources

BATCH = 100
"""How many pages are cut again, or ended, in one transaction."""


STALE = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.indexed.between(0, bindparam("older"))
)
"""An owner's pages whose words were cut in an older way."""

ENDED = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.expires <= bindparam("now")
)
"""An owner's pages that have had their time."""

DUE = select(STALE.exists() | ENDED.exists())


def due(connection: Connection, owner: str) -> bool:
    """Say whether something has to be done before an owner's pages are searched."""
    return bool(connection.execute(DUE, _asked(owner)).scalar())


async def refresh(owner: str) -> None:
    """Do what has to be done before an owner's pages are searched, where it can be written."""
    with as_far_as_writable():
        while stale := await read(partial(_some, wanted=STALE, owner=owner)):
            await perform(partial(_recut, numbers=stale))
        while ended := await read(partial(_some, wanted=ENDED, owner=owner)):
            await perform(partial(_end, numbers=ended))


def _asked(owner: str) -> dict[str, object]:
    return {"owner": owner, "older": CUT - 1, "now": time.time()}


def _some(connection: Connection, wanted: Select[Any], owner: str) -> list[int]:
    return list(connection.execute(wanted.limit(BATCH), _asked(owner)).scalars())


def _recut(connection: Connection, numbers: Sequence[int]) -> None:
    wanted = select(pages.c.number, pages.c.title, pages.c.text, pages.c.indexed).where(
        pages.c.number.in_(numbers), pages.c.indexed.between(0, CUT - 1)
    )
    rows = connection.execute(wanted.order_by(pages.c.number).with_for_update()).all()
    if not rows:
        return
    found = [row.number for row in rows]
    take(connection, in_index(connection, found))
    again = update(pages).where(pages.c.number == bindparam("one"))
    words = [{"one": row.number, "t": cut(row.title), "w": cut(row.text)} for row in rows]
    cut_now = {"title_words": bindparam("t"), "words": bindparam("w"), "indexed": CUT}
    connection.execute(again.values(cut_now), words)
    named = update(members).where(members.c.page == bindparam("one"))
    keys = [{"one": row.number, "k": title_key(row.title)[:KEY]} for row in rows]
    connection.execute(named.values(key=bindparam("k")), keys)
    put(connection, found)
    queue(connection, [row.number for row in rows if row.indexed == 0])


def _end(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found no more, and forget those that nobody has cited."""
    held = select(pages.c.number).where(pages.c.number.in_(numbers), pages.c.expires.is_not(None))
    ended = list(connection.execute(held.with_for_update()).scalars())
    retire(connection, ended)
    those = pages.c.number.in_(ended)
    connection.execute(update(pages).where(those).values(expires=None))
    cited = select(sources.c.page).where(sources.c.page == pages.c.id).exists()
    uncited = select(pages.c.number).where(those, ~cited)
    erase(connection, list(connection.execute(uncited).scalars()))


def erase(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove pages that are in no index any more."""
    connection.execute(delete(members).where(members.c.page.in_(numbers)))
    connection.execute(delete(pages).where(pages.c.number.in_(numbers)))
