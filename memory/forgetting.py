"""Forget pages: their text, what they are found by, and their vectors."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial

from sqlalchemy import ColumnElement, Connection, Select, delete, insert, select

from memory.keeping import retire
from memory.rows import digest
from memory.upkeep import BATCH, erase
from storage.engine import read
from storage.journal import perform
from storage.tables import documents, events, members, namespaces, pages
from storage.vectors import remove


async def forget(owner: str, ids: Sequence[str]) -> int:
    """Forget an owner's pages by their ids; return how many there were."""
    return await _forget(owner, pages.c.id.in_(ids))


async def forget_origin(owner: str, kind: str, origin: str) -> int:
    """Forget every page an origin has or had; return how many there were."""
    return await _forget(owner, pages.c.origin_id == digest(kind, origin))


async def forget_namespace(owner: str, kind: str, group: str = "") -> int:
    """Forget every page of a kind, or of one group of it; return how many there were."""
    name = digest(owner, kind, group)
    number = select(namespaces.c.number).where(namespaces.c.name == name).scalar_subquery()
    member = select(members.c.page).where(members.c.namespace == number)
    return await _forget(owner, pages.c.number.in_(member))


async def _forget(owner: str, which: ColumnElement[bool]) -> int:
    wanted = select(pages.c.number).where(pages.c.owner == owner, which)
    batch = partial(_numbers, wanted=wanted.order_by(pages.c.number).limit(BATCH))
    count = 0
    while numbers := await read(batch):
        await perform(partial(_erase, owner=owner, numbers=numbers))
        count += len(numbers)
    return count


def _numbers(connection: Connection, wanted: Select[int]) -> list[int]:
    return list(connection.execute(wanted).scalars())


def _erase(connection: Connection, owner: str, numbers: Sequence[int]) -> None:
    named = select(pages.c.id, pages.c.origin).where(pages.c.number.in_(numbers))
    rows = connection.execute(named).all()
    retire(connection, numbers)
    remove(connection, numbers)
    erase(connection, numbers)
    # A file whose pages are forgotten is read again when its folder is named again.
    read_from = (documents.c.owner == owner, documents.c.sha256.in_({row.origin for row in rows}))
    left = select(pages.c.id).where(pages.c.owner == owner, pages.c.origin == documents.c.sha256)
    connection.execute(delete(documents).where(*read_from, documents.c.code == "", ~left.exists()))
    data = json.dumps({"pages": [row.id for row in rows]})
    event = {"owner": owner, "run": "", "name": "pages.forget", "data": data, "at": time.time()}
    connection.execute(insert(events), event)
