"""Erase pages, or words of pages, from the store: their texts, index entries and vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, true, update

from library import indexing
from library.page_rows import join_search_words
from library.tables import documents, former_documents, members, pages
from library.vector_rows import delete_vectors
from storage.batches import split_batches
from storage.engine import read_rows, write_in_group
from storage.events import Event, log_event
from text.title_mentions import title_key


async def forget_pages(owner: str, ids: Sequence[str]) -> int:
    """Erase an owner's pages by id, and return how many there were."""
    count = 0
    for batch in split_batches(ids, indexing.UPKEEP_BATCH):
        wanted = select(pages.c.number).where(pages.c.owner == owner, pages.c.id.in_(batch))
        numbers = list((await read_rows(wanted.order_by(pages.c.number))).scalars())
        if numbers:
            await write_in_group(partial(erase_pages, owner=owner, numbers=numbers))
        count += len(numbers)
    return count


def erase_pages(
    connection: Connection, owner: str, numbers: Sequence[int], *, why: str = ""
) -> None:
    """Erase pages by number, in the transaction of the caller."""
    erased = select(pages.c.id, pages.c.origin).where(pages.c.number.in_(numbers))
    rows = connection.execute(erased).all()
    origins = {row.origin for row in rows}
    indexing.retire_pages(connection, numbers)
    delete_vectors(connection, numbers)
    indexing.delete_page_rows(connection, numbers)
    # Without its row, a file is read again when its folder is next ingested.
    for table, readable in ((documents, documents.c.code == ""), (former_documents, true())):
        remaining = select(pages.c.id).where(
            pages.c.owner == owner, pages.c.origin == table.c.sha256
        )
        its = (table.c.owner == owner, table.c.sha256.in_(origins), readable)
        connection.execute(delete(table).where(*its, ~remaining.exists()))
    before = {"pages": [row.id for row in rows]}
    log_event(connection, Event(owner, "pages.forget", before=before, why=why))


class PageWording(NamedTuple):
    """The texts of a page."""

    title: str
    abstract: str
    text: str
    author: str = ""


def rewrite_pages(connection: Connection, wordings: Mapping[int, PageWording]) -> None:
    """Replace the texts of pages, by number; their ids and origins stay.

    The keyword index is updated, and new vectors are queued.
    """
    numbers = sorted(wordings)
    indexed = indexing.lock_indexed(connection, numbers)
    indexing.unindex_pages(connection, indexed)
    delete_vectors(connection, numbers)
    for number, new in sorted(wordings.items()):
        row = {
            **new._asdict(),
            "sha256": hashlib.sha256(new.text.encode()).hexdigest(),
            "words": join_search_words(new.text),
            "title_words": join_search_words(new.title),
        }
        connection.execute(update(pages).where(pages.c.number == number).values(row))
        key = title_key(new.title)[: indexing.LONGEST_TITLE_KEY]
        connection.execute(update(members).where(members.c.page == number).values(key=key))
    indexing.index_pages(connection, indexed)
    indexing.queue_vectors(connection, numbers)
