"""Open the one database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Result,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, SQLAlchemyError
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_fixed

from config.errors import Problem
from config.settings import settings
from storage.keywords import keywords
from storage.tables import metadata, schema
from storage.upgrades import SCHEMA, upgrade

Answer = TypeVar("Answer")

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}

CONNECTIONS = 16
"""How many connections a process keeps open; opening one costs more than most statements."""

MAKING = 946_597
"""The number of the lock that a process holds on PostgreSQL while it makes the tables."""

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
        work: Executes its statements on the connection it is given; it runs in a thread.

    Raises:
        Problem: What `plain` tells of.
    """
    with _told():
        engine = await database()
        async with _writer():
            # The transaction ends as it should even if nobody waits for it any more.
            return await asyncio.shield(asyncio.to_thread(_write, engine, work))


def _look(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    with engine.connect() as connection:
        return work(connection)


def _write(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
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
    where = make_url(settings().database).render_as_string(hide_password=True)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Problem("storage_busy", "another process holds the database", where=where)
    if name == "SQLITE_FULL":
        hint = "make room and resume the run"
        return Problem("storage_full", "the disk is full", where=where, hint=hint)
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
            _open[url] = _prepared(_engine(url))
        return _open[url]


def _prepared(engine: Engine) -> Engine:
    """Make the tables that are missing, and bring older ones up to date."""
    try:
        version = _write(engine, _make)
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


def _make(connection: Connection) -> int:
    if connection.dialect.name == "postgresql":
        # Two processes that make one table at the same time would both fail.
        connection.execute(select(func.pg_advisory_xact_lock(MAKING)))
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


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise Problem("config_value", "no database URL", where="DOSSIER_DATABASE_URL") from error
    driver = DRIVERS.get(parsed.get_backend_name())
    if driver is None:
        hint = "use sqlite:///file or postgresql://user@host/name"
        raise Problem("storage_unavailable", f"no driver for {parsed.drivername}", hint=hint)
    if parsed.get_backend_name() == "sqlite":
        _folder(Path(parsed.database or ""))
    try:
        engine = create_engine(parsed.set(drivername=driver), pool_size=CONNECTIONS)
    except ImportError as error:
        hint = "install dossier[postgres]"
        raise Problem("storage_unavailable", f"{error.name} is missing", hint=hint) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _settle)
        event.listen(engine, "begin", _begin)
    return engine


def _folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "set DOSSIER_HOME to a folder you may write"
        what = f"cannot make {file.parent}: {error.strerror}"
        raise Problem("storage_unavailable", what, hint=hint) from error


def _settle(connection: Any, _: Any) -> None:
    """Make SQLite durable, and let several processes read and write."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=5000")
    _log_ahead(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


# SQLite does not wait by itself when two processes make a new file log ahead at the same time.
@retry(
    retry=retry_if_exception_message(match=".*locked"),
    stop=stop_after_delay(5),
    wait=wait_fixed(0.05),
    reraise=True,
)
def _log_ahead(cursor: Any) -> None:
    cursor.execute("PRAGMA journal_mode=WAL")


def _begin(connection: Connection) -> None:
    """Take the write lock at once, since SQLite refuses to take it in mid-transaction."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
