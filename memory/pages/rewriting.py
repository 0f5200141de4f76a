"""Let pages say less than they said, in every index too."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, update

from memory.pages.indexing import KEY, in_index, put, queue, take
from memory.pages.rows import cut
from retrieval.names import title_key
from storage.tables import members, pages
from storage.vectors import remove


class Wording(NamedTuple):
    """What a page says."""

    title: str
    abstract: str
    text: str


def rewrite(connection: Connection, wordings: Mapping[int, Wording]) -> None:
    """Give pages other words, by their numbers; their ids and where they are from stay.

    They are found by the new words, and their vectors are made again.
    """
    numbers = sorted(wordings)
    found = in_index(connection, numbers)
    take(connection, found)
    remove(connection, numbers)
    for number, new in sorted(wordings.items()):
        row = {
            **new._asdict(),
            "sha256": hashlib.sha256(new.text.encode()).hexdigest(),
            "words": cut(new.text),
            "title_words": cut(new.title),
        }
        connection.execute(update(pages).where(pages.c.number == number).values(row))
        key = title_key(new.title)[:KEY]
        connection.execute(update(members).where(members.c.page == number).values(key=key))
    put(connection, found)
    queue(connection, numbers)
