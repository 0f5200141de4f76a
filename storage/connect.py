"""Connect to a database as this program needs it."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError

from config.errors import Problem
from storage.address import address
from storage.private import MAKEABLE, is_read_only, make_file, secure
from storage.tables import for_postgresql

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}

CONNECTIONS = 16
"""How many connections a process keeps open; opening one costs more than most statements."""

PATIENCE = 5.0
"""How many seconds a new file is waited for that another process makes."""


def connect(url: str) -> Engine:
    """Return the engine of a database; it is not asked for anything yet.

    Raises:
        Problem: `config_value` or `storage_unavailable`.
    """
    try:
        parsed = address(url)
    except ArgumentError as error:
        hint = "use sqlite:///file or postgresql://user@host:5432/name"
        what, where = "this is not the address of a database", "DOSSIER_DATABASE_URL"
        raise Problem("config_value", what, where=where, hint=hint) from error
    backend = parsed.get_backend_name()
    driver = DRIVERS.get(backend)
    if driver is None:
        hint = "use sqlite:///file or postgresql://user@host/name"
        raise Problem("storage_unavailable", f"no driver for {parsed.drivername}", hint=hint)
    file = Path(parsed.database or "")
    kept = backend == "sqlite" and is_read_only(file)
    if backend == "sqlite" and not kept:
        _folder(file)
    try:
        # A connection that a server has dropped meanwhile is opened again.
        usual: dict[str, Any] = {"pool_size": CONNECTIONS}
        usual["pool_pre_ping"] = backend == "postgresql"
        usual |= {"creator": partial(_reader, file)} if kept else {}
        engine = create_engine(parsed.set(drivername=driver), **usual)
    except ImportError as error:
        hint = "install dossier[postgres]"
        raise Problem("storage_unavailable", f"{error.name} is missing", hint=hint) from error
    if backend == "sqlite":
        event.listen(engine, "connect", _settle_reader if kept else _settle)
        event.listen(engine, "begin", _begin)
    else:
        for_postgresql()
        event.listen(engine, "connect", _hasten)
    return engine


def _folder(file: Path) -> None:
    secure()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if str(file) not in (".", ":memory:"):
            make_file(file)
    except OSError as error:
        what = f"cannot make {file.parent}: {error.strerror}"
        raise Problem("storage_unavailable", what, hint=MAKEABLE) from error


def _reader(file: Path) -> sqlite3.Connection:
    """Open a read-only database file.

    SQLite needs the index of its write-ahead log, which it cannot create there: then a copy is
    read. Without a log no process has the file open, so it can be read as one that never changes.

    Raises:
        Problem: `home_read_only` if there is no room for a copy.
    """
    log, index = (file.with_name(f"{file.name}-{name}") for name in ("wal", "shm"))
    logged = log.exists() and log.stat().st_size
    if logged and not index.exists():
        return sqlite3.connect(_copy(file, log), check_same_thread=False)
    how = "mode=ro" if logged else "mode=ro&immutable=1"
    place = f"{file.absolute().as_uri()}?{how}"
    return sqlite3.connect(place, uri=True, check_same_thread=False)


@cache
def _copy(file: Path, log: Path) -> Path:
    """Return a copy of a database and its log that only this user can read; it goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix="dossier-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        for one in (file, log):
            shutil.copyfile(one, folder / one.name)
    except OSError as error:
        what = f"the data folder is read-only, and it cannot be copied: {error.strerror}"
        hint = "copy it to a folder that you may write to, and set DOSSIER_HOME to that"
        raise Problem("home_read_only", what, where=str(folder), hint=hint) from error
    return folder / file.name


def _settle_reader(connection: Any, _: Any) -> None:
    connection.isolation_level = None


def _settle(connection: Any, _: Any) -> None:
    """Make SQLite durable, and let several processes read and write."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=5000")
    _log_ahead(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _log_ahead(cursor: Any) -> None:
    """Let SQLite log ahead; it does not wait by itself when two processes begin that at once."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _hasten(connection: Any, _: Any) -> None:
    """Keep PostgreSQL from compiling each search, which takes longer than the search."""
    connection.execute("SET jit = off")
    connection.commit()


def _begin(connection: Connection) -> None:
    """Take the write lock at once, since SQLite refuses to take it in mid-transaction."""
    if connection.get_execution_options().get("writes", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.connection.cursor().execute("BEGIN")
