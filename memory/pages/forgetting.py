"""Take pages out of the store: their text, what they are found by, and their vectors.

What says again what they said is forgotten by `memory.forgetting`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from sqlalchemy import Connection, delete, select

from memory.pages.keeping import retire
from memory.pages.upkeep import BATCH, erase
from storage.engine import read_rows
from storage.events import Event, log
from storage.journal import perform
from storage.tables import documents, former_documents, pages
from storage.vectors import remove


async def forget(owner: str, ids: Sequence[str]) -> int:
    """Forget an owner's pages by their ids; return how many there were."""
    count = 0
    for first in range(0, len(ids), BATCH):
        some = pages.c.id.in_(ids[first : first + BATCH])
        wanted = select(pages.c.number).where(pages.c.owner == owner, some)
        numbers = list((await read_rows(wanted.order_by(pages.c.number))).scalars())
        if numbers:
            await perform(partial(erase_pages, owner=owner, numbers=numbers))
        count += len(numbers)
    return count


def erase_pages(
    connection: Connection, owner: str, numbers: Sequence[int], *, why: str = ""
) -> None:
    """Forget pages by their numbers, in a transaction of the caller's."""
    named = select(pages.c.id, pages.c.origin).where(pages.c.number.in_(numbers))
    rows = connection.execute(named).all()
    retire(connection, numbers)
    remove(connection, numbers)
    erase(connection, numbers)
    # A file whose pages are forgotten is read again when its folder is named again.
    read_from = (documents.c.owner == owner, documents.c.sha256.in_({row.origin for row in rows}))
    left = select(pages.c.id).where(pages.c.owner == owner, pages.c.origin == documents.c.sha256)
    connection.execute(delete(documents).where(*read_from, documents.c.code == "", ~left.exists()))
    _drop_former(connection, owner, {row.origin for row in rows})
    log(
        connection,
        Event(owner, "pages.forget", before={"pages": [row.id for row in rows]}, why=why),
    )


def _drop_former(connection: Connection, owner: str, origins: Collection[str]) -> None:
    """Let go of the names of files that held what no page says any more."""
    named = (former_documents.c.owner == owner, former_documents.c.sha256.in_(origins))
    left = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.origin == former_documents.c.sha256
    )
    connection.execute(delete(former_documents).where(*named, ~left.exists()))
