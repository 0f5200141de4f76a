"""Open the one database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Result,
    delete,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DatabaseError, OperationalError, SQLAlchemyError

from config.errors import Problem
from config.settings import settings
from storage.address import address
from storage.connect import connect
from storage.keywords import keywords
from storage.private import only_read, secure_made
from storage.tables import metadata, schema
from storage.upgrades import SCHEMA, upgrade

Answer = TypeVar("Answer")

_open: dict[str, Engine] = {}
_opening = threading.Lock()
_writers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def database() -> Engine:
    """Return the engine of this process, with all tables made.

    It is a synchronous one, used in threads: a driver that is asynchronous itself changes threads
    for every single step of a transaction, which costs more than the transaction.

    Raises:
        Problem: `storage_unavailable`, `storage_corrupt`, `storage_busy` or `schema_newer`.
    """
    url = settings().database
    engine = _open.get(url)
    return engine if engine is not None else await asyncio.to_thread(_opened, url)


async def close() -> None:
    """Close what this process has open."""
    while _open:
        _, engine = _open.popitem()
        await asyncio.to_thread(engine.dispose)
        await asyncio.to_thread(secure_made)


async def read_rows(statement: Executable, values: Any = None) -> Result[Any]:
    """Return all rows that a statement which only reads gives.

    Raises:
        Problem: What `plain` tells of.
    """
    return await read(lambda connection: connection.execute(statement, values).freeze()())


async def read(work: Callable[[Connection], Answer]) -> Answer:
    """Let a function read, in one transaction, and return what it returns.

    Args:
        work: Executes its statements on the connection it is given; it runs in a thread.

    Raises:
        Problem: What `plain` tells of.
    """
    with _told():
        return await asyncio.to_thread(_look, await database(), work)


async def write(work: Callable[[Connection], Answer]) -> Answer:
    """Let a function write in one transaction, and return what it returns.

    Args:
        work: Executes its statements on the connection it is given; it runs in a thread, and again
            when two transactions have waited for each other.

    Raises:
        Problem: What `plain` tells of.
    """
    with _told():
        engine = await database()
        async with _writer():
            # The transaction ends as it should even if nobody waits for it any more.
            return await asyncio.shield(asyncio.to_thread(_write, engine, work))


def write_here(work: Callable[[Connection], Answer]) -> Answer:
    """Do what `write` does in the thread that calls, which must not be that of an event loop.

    A thread that waits for the event loop to write may hold the last thread that could do it.
    """
    with _told():
        return _write(_opened(settings().database), work)


def _look(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    with engine.connect() as connection:
        return work(connection)


def alone(connection: Connection, name: str) -> None:
    """Let one transaction at a time go on that names this; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(name))))


def _deadlocked(error: BaseException) -> bool:
    # PostgreSQL ends one of two transactions that wait for each other; the other one goes on.
    return getattr(getattr(error, "orig", None), "sqlstate", "") == "40P01"


def _write(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    try:
        return _write_once(engine, work)
    except DatabaseError as error:
        if not _deadlocked(error):
            raise
    # This is seldom, and the library takes longer to load than most commands read.
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random  # noqa: PLC0415

    again = Retrying(
        retry=retry_if_exception(_deadlocked),
        stop=stop_after_attempt(4),
        wait=wait_random(0, 0.1),
        reraise=True,
    )
    answer: Answer = again(_write_once, engine, work)
    return answer


def _write_once(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        return work(connection)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise plain(error) from error.__cause__


def plain(error: SQLAlchemyError) -> Problem | SQLAlchemyError:
    """Return the problem of a database that fails; a mistake in a statement stays what it is."""
    orig = getattr(error, "orig", None)
    name = getattr(orig, "sqlite_errorname", "")
    where = address(settings().database).render_as_string(hide_password=True)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Problem("storage_busy", "another process holds the database", where=where)
    if name == "SQLITE_FULL":
        hint = "make room and resume the run"
        return Problem("storage_full", "the disk is full", where=where, hint=hint)
    if name.startswith("SQLITE_READONLY"):
        return only_read(where)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        hint = "move the file away, or restore it from a backup"
        return Problem("storage_corrupt", f"not a database: {orig}", where=where, hint=hint)
    if isinstance(error, OperationalError) and name != "SQLITE_ERROR":
        hint = "is the place writable, and the server up?"
        return Problem("storage_unavailable", f"it fails: {orig}", where=where, hint=hint)
    return error


def _writer() -> asyncio.Lock:
    """Return the lock of this event loop: SQLite has one writer, so others need not ask it."""
    return _writers.setdefault(asyncio.get_running_loop(), asyncio.Lock())


def _opened(url: str) -> Engine:
    with _opening:
        if url not in _open:
            _open[url] = _prepared(connect(url))
        return _open[url]


def _prepared(engine: Engine) -> Engine:
    """Make the tables that are missing, and bring older ones up to date."""
    try:
        version = SCHEMA if _look(engine, _made) else _write(engine, _make)
    except DatabaseError as error:
        engine.dispose()
        problem = plain(error)
        if not isinstance(problem, Problem):
            problem = Problem("storage_unavailable", f"the tables cannot be made: {error.orig}")
        raise problem from error
    if version > SCHEMA:
        engine.dispose()
        what = f"the database has version {version}, this program knows {SCHEMA}"
        raise Problem("schema_newer", what, hint="use a newer dossier")
    return engine


def _version(connection: Connection) -> int:
    """Return the version of the tables that are there; 0 where there are none."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar() or 0


def _made(connection: Connection) -> bool:
    """Tell whether all tables are there as this program knows them; who only reads never waits."""
    there = inspect(connection).get_table_names()
    return metadata.tables.keys() <= {*there} and _version(connection) == SCHEMA


def _make(connection: Connection) -> int:
    alone(connection, "schema")
    version = _version(connection)
    if version > SCHEMA:
        return version
    if version:
        upgrade(connection, version)
    metadata.create_all(connection)
    keywords(connection).make(connection)
    if version < SCHEMA:
        connection.execute(delete(schema))
        connection.execute(insert(schema).values(version=SCHEMA))
    return SCHEMA
