"""Take pages, or words of pages, out of the store.

Their text, what they are found by, and their vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from library.indexing import (
    LONGEST_TITLE_KEY,
    UPKEEP_BATCH,
    delete_page_rows,
    index_pages,
    lock_indexed,
    queue_vectors,
    retire_pages,
    unindex_pages,
)
from library.page_rows import join_search_words
from library.tables import documents, former_documents, members, pages
from library.vector_rows import delete_vectors
from storage.engine import read_rows, write_in_group
from storage.events import Event, log_event
from text.title_mentions import title_key


async def forget_pages(owner: str, ids: Sequence[str]) -> int:
    """Forget an owner's pages by their ids; return how many there were."""
    count = 0
    for first in range(0, len(ids), UPKEEP_BATCH):
        some = pages.c.id.in_(ids[first : first + UPKEEP_BATCH])
        wanted = select(pages.c.number).where(pages.c.owner == owner, some)
        numbers = list((await read_rows(wanted.order_by(pages.c.number))).scalars())
        if numbers:
            await write_in_group(partial(erase_pages, owner=owner, numbers=numbers))
        count += len(numbers)
    return count


def erase_pages(
    connection: Connection, owner: str, numbers: Sequence[int], *, why: str = ""
) -> None:
    """Forget pages by their numbers, in a transaction of the caller's."""
    named = select(pages.c.id, pages.c.origin).where(pages.c.number.in_(numbers))
    rows = connection.execute(named).all()
    retire_pages(connection, numbers)
    delete_vectors(connection, numbers)
    delete_page_rows(connection, numbers)
    # A file whose pages are forgotten is read again when its folder is named again.
    read_from = (documents.c.owner == owner, documents.c.sha256.in_({row.origin for row in rows}))
    left = select(pages.c.id).where(pages.c.owner == owner, pages.c.origin == documents.c.sha256)
    connection.execute(delete(documents).where(*read_from, documents.c.code == "", ~left.exists()))
    _drop_former(connection, owner, {row.origin for row in rows})
    log_event(
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


class PageWording(NamedTuple):
    """What a page says."""

    title: str
    abstract: str
    text: str


def rewrite_pages(connection: Connection, wordings: Mapping[int, PageWording]) -> None:
    """Give pages other words, by their numbers; their ids and where they are from stay.

    They are found by the new words, and their vectors are made again.
    """
    numbers = sorted(wordings)
    found = lock_indexed(connection, numbers)
    unindex_pages(connection, found)
    delete_vectors(connection, numbers)
    for number, new in sorted(wordings.items()):
        row = {
            **new._asdict(),
            "sha256": hashlib.sha256(new.text.encode()).hexdigest(),
            "words": join_search_words(new.text),
            "title_words": join_search_words(new.title),
        }
        connection.execute(update(pages).where(pages.c.number == number).values(row))
        key = title_key(new.title)[:LONGEST_TITLE_KEY]
        connection.execute(update(members).where(members.c.page == number).values(key=key))
    index_pages(connection, found)
    queue_vectors(connection, numbers)
