"""Open the one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from sqlalchemy import Connection, event, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from config.errors import Problem
from config.settings import settings
from storage.tables import SCHEMA, metadata, schema

WORDS = "CREATE VIRTUAL TABLE IF NOT EXISTS page_words USING fts5(title, body)"
"""The keyword index of pages, in rows numbered like the pages; it holds search words only."""

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}

CONNECTIONS = 16
"""How many connections an event loop keeps open; opening one costs more than most statements."""

_open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Any]] = WeakKeyDictionary()
_writers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def database() -> AsyncEngine:
    """Return the engine of this event loop, with all tables made.

    Raises:
        Problem: `storage_unavailable`, `storage_corrupt`, `storage_busy` or `schema_newer`.
    """
    url = settings().database
    here = _open.setdefault(asyncio.get_running_loop(), {})
    if url not in here:
        here[url] = asyncio.ensure_future(_prepare(url))
    try:
        engine: AsyncEngine = await asyncio.shield(here[url])
    except Problem:
        here.pop(url, None)
        raise
    return engine


async def close() -> None:
    """Close what this event loop has open."""
    for opening in _open.pop(asyncio.get_running_loop(), {}).values():
        if opening.done() and not opening.cancelled() and not opening.exception():
            await opening.result().dispose()


@asynccontextmanager
async def writing() -> AsyncIterator[AsyncConnection]:
    """Open one transaction that writes; it commits at the end of the block.

    Raises:
        Problem: What `plain` tells of, also when it happens inside the block.
    """
    engine = await database()
    try:
        async with _writer(), engine.connect() as connection:
            await connection.execution_options(writes=True)
            async with connection.begin():
                yield connection
    except SQLAlchemyError as error:
        raise plain(error) from error.__cause__


@asynccontextmanager
async def reading() -> AsyncIterator[AsyncConnection]:
    """Open one connection that only reads.

    Raises:
        Problem: What `plain` tells of, also when it happens inside the block.
    """
    engine = await database()
    try:
        async with engine.connect() as connection:
            yield connection
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


async def _prepare(url: str) -> AsyncEngine:
    engine = await _engine(url)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(writes=True)
            version = await connection.run_sync(_version)
            if version <= SCHEMA:
                await _make(connection)
    except DatabaseError as error:
        await engine.dispose()
        problem = plain(error)
        if not isinstance(problem, Problem):
            problem = Problem("storage_unavailable", f"the tables cannot be made: {error.orig}")
        raise problem from error
    if version > SCHEMA:
        await engine.dispose()
        what = f"the database has version {version}, this program knows {SCHEMA}"
        raise Problem("schema_newer", what, hint="use a newer dossier")
    return engine


def _version(connection: Connection) -> int:
    """Return the version of the tables that are there; 0 where there are none."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar() or 0


async def _make(connection: AsyncConnection) -> None:
    await connection.run_sync(metadata.create_all)
    if connection.dialect.name == "sqlite":
        await connection.execute(text(WORDS))
    if not (await connection.execute(select(schema))).all():
        await connection.execute(insert(schema).values(version=SCHEMA))
    await connection.commit()


async def _engine(url: str) -> AsyncEngine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise Problem("config_value", "no database URL", where="DOSSIER_DATABASE_URL") from error
    driver = DRIVERS.get(parsed.get_backend_name())
    if driver is None:
        hint = "use sqlite:///file or postgresql://user@host/name"
        raise Problem("storage_unavailable", f"no driver for {parsed.drivername}", hint=hint)
    if parsed.get_backend_name() == "sqlite":
        await _folder(Path(parsed.database or ""))
    engine = create_async_engine(parsed.set(drivername=driver), pool_size=CONNECTIONS)
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _settle)
        event.listen(engine.sync_engine, "begin", _begin)
    return engine


async def _folder(file: Path) -> None:
    try:
        await anyio.Path(file).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "set DOSSIER_HOME to a folder you may write"
        what = f"cannot make {file.parent}: {error.strerror}"
        raise Problem("storage_unavailable", what, hint=hint) from error


def _settle(connection: Any, _: Any) -> None:
    """Make SQLite durable, and let several processes read and write."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    """Take the write lock at once, since SQLite refuses to take it in mid-transaction."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
