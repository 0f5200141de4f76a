"""Put sets of vectors that have grown large into collections of Chroma, built whole each time.

A new collection is built when half as many vectors have come as the last one holds, so a set that
grows from nothing is written about three times in all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, func, select, update

from config.settings import settings
from retrieval import chroma, vector
from storage.engine import database, read, write
from storage.private import FILE
from storage.tables import vector_sets, vectors
from storage.vectors import BATCH, Part, batch, renumber

LOCK = "vectors.all.lock"
"""Held while a collection is built; no thread has a full stop in its name, so none is this one."""


class Outgrown(NamedTuple):
    """A set, the highest number of its vectors, and how many there are."""

    set: int
    upto: int
    vectors: int


async def cover() -> int:
    """Build a collection for one set that has outgrown the last one; return how many it holds.

    Searches go on all the while. Call it until it returns 0.

    Raises:
        Problem: `chroma_unavailable`.
    """
    # It is taken and released in different threads.
    lock = FileLock(settings().locks / LOCK, thread_local=False, mode=FILE)
    try:
        # One process of a machine is enough for this.
        with await asyncio.to_thread(lock.acquire, blocking=False):
            outgrown = await read(_outgrown)
            return await _cover(outgrown) if outgrown else 0
    except Timeout:
        return 0


async def _cover(outgrown: Outgrown) -> int:
    name = chroma.new_name()
    unfinished = await write(partial(_begin, number=outgrown.set, name=name))
    await asyncio.to_thread(chroma.drop, unfinished)
    parts = partial(_parts, await database(), outgrown)
    built = await asyncio.to_thread(chroma.build, name, outgrown.vectors, parts)
    if built.held != outgrown.vectors:
        return 0  # some were removed meanwhile
    gone = await write(partial(_publish, outgrown=outgrown, name=name, built=built))
    await asyncio.to_thread(chroma.drop, gone)
    return built.held


def _outgrown(connection: Connection) -> Outgrown | None:
    """Return a set with more new vectors than are searched exactly, and than half its collection.

    Those that could not be found in the collection are not new.
    """
    new = func.count() - vector_sets.c.apart
    beside = vectors.c.number > vector_sets.c.covered
    wanted = select(vector_sets.c.number).join(vectors, vectors.c.set == vector_sets.c.number)
    wanted = wanted.where(beside).group_by(vector_sets.c.number)
    grown = wanted.having(new > vector.EXACT, 2 * new > vector_sets.c.held)
    number = connection.execute(grown.order_by(vector_sets.c.number).limit(1)).scalar()
    if number is None:
        return None
    every = select(func.max(vectors.c.number), func.count()).where(vectors.c.set == number)
    return Outgrown(number, *connection.execute(every).one())


def _begin(connection: Connection, number: int, name: str) -> str:
    """Note the name of what is being built; return what was begun before and not finished."""
    mine = vector_sets.c.number == number
    before = connection.execute(select(vector_sets.c.building).where(mine)).scalar()
    connection.execute(update(vector_sets).where(mine).values(building=name))
    return before or ""


def _parts(engine: Engine, outgrown: Outgrown) -> Iterator[Part]:
    """Yield the vectors of a set; each part in a transaction of its own, since all take minutes."""
    last = 0
    for size in chroma.sizes(outgrown.vectors):
        with engine.connect() as connection:
            part = batch(connection, outgrown.set, last, outgrown.upto, size)
        last = part.last
        if len(part.pages):
            yield part


def _publish(connection: Connection, outgrown: Outgrown, name: str, built: chroma.Built) -> str:
    """Let searches use a collection from now on; return the one that is of no use any more."""
    mine = (vector_sets.c.number == outgrown.set, vector_sets.c.building == name)
    row = connection.execute(select(vector_sets).where(*mine).with_for_update()).one_or_none()
    if row is None:
        return name
    for first in range(0, len(built.lost), BATCH):
        renumber(connection, outgrown.set, built.lost[first : first + BATCH])
    apart = len(built.lost)
    new = {"collection": name, "covered": outgrown.upto, "held": built.held - apart}
    connection.execute(update(vector_sets).where(*mine).values(**new, apart=apart, building=""))
    return str(row.collection)
