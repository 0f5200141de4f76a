"""Parse the URL of the database, and make its engine as this program needs it."""

from __future__ import annotations

import atexit
import re
import shutil
import sqlite3
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from config.errors import ErrorCode, Problem
from config.resources import process_cached
from config.settings import settings
from storage.permissions import MAKEABLE_HINT, create_private_file, is_read_only, secure_home
from storage.tables import add_postgresql_conditions

_FILE = r"(sqlite(?:\+\w+)?)://(?:/(.*))?"


def parse_database_url(written: str) -> URL:
    """Return the address of a database.

    The path of a file may hold `?`, `%` and `#`, which have a meaning in other addresses.

    Raises:
        Problem: `config_value` when it is not an address.
    """
    if found := re.fullmatch(_FILE, written, re.DOTALL):
        return URL.create(found[1], database=found[2] or None)
    try:
        return make_url(written)
    except (ArgumentError, ValueError) as error:
        # SQLAlchemy raises ValueError for a port that is not a number.
        hint = "use sqlite:///file or postgresql://user@host:5432/name"
        what, where = "this is not the address of a database", "DOSSIER_DATABASE_URL"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint=hint) from error


def is_database_shared() -> bool:
    """Tell whether the database is a server, which other machines may use, too."""
    return parse_database_url(settings().database).get_backend_name() != "sqlite"


def database_place() -> str:
    """Return the address of the database without its password."""
    return parse_database_url(settings().database).render_as_string(hide_password=True)


def connection_arguments(url: str) -> dict[str, Any]:
    """Return the parts of the address of a PostgreSQL database, named as its library does."""
    parsed = parse_database_url(url).set(drivername=DRIVERS["postgresql"])
    return dict(parsed.get_dialect()().create_connect_args(parsed)[1])


DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}

NO_JIT: Final = "SET jit = off"
"""Keeps PostgreSQL from compiling each search, which takes longer than the search."""

CONNECTIONS = 16
"""How many connections a process keeps open; opening one costs more than most statements."""

PATIENCE = 5.0
"""How many seconds to wait for a new file that another process is creating."""


def create_database_engine(url: str) -> Engine:
    """Return the engine of a database, without connecting to it.

    Raises:
        Problem: `config_value` or `storage_unavailable`.
    """
    parsed = parse_database_url(url)
    backend = parsed.get_backend_name()
    driver = DRIVERS.get(backend)
    if driver is None:
        hint = "use sqlite:///file or postgresql://user@host/name"
        raise Problem(
            ErrorCode.STORAGE_UNAVAILABLE, f"no driver for {parsed.drivername}", hint=hint
        )
    file = Path(parsed.database or "")
    read_only = backend == "sqlite" and is_read_only(file)
    if backend == "sqlite" and not read_only:
        _make_database_folder(file)
    try:
        # A connection that the server has dropped is opened again.
        options: dict[str, Any] = {"pool_size": CONNECTIONS}
        if backend == "postgresql":
            most = settings().database_connections - settings().checkpoint_connections
            options = {"pool_size": most, "max_overflow": 0, "pool_pre_ping": True}
        options |= {"creator": partial(_reader, file)} if read_only else {}
        engine = create_engine(parsed.set(drivername=driver), **options)
    except ImportError as error:
        hint = "install dossier[postgres]"
        raise Problem(
            ErrorCode.STORAGE_UNAVAILABLE, f"{error.name} is missing", hint=hint
        ) from error
    if backend == "sqlite":
        event.listen(engine, "connect", _configure_reader if read_only else _configure_sqlite)
    else:
        add_postgresql_conditions()
        event.listen(engine, "connect", _configure_postgresql)
    return engine


def _make_database_folder(file: Path) -> None:
    secure_home()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if str(file) not in (".", ":memory:"):
            create_private_file(file)
    except OSError as error:
        what = f"cannot make {file.parent}: {error.strerror}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=MAKEABLE_HINT) from error


def _reader(file: Path) -> sqlite3.Connection:
    """Open a read-only database file.

    SQLite needs the index of its write-ahead log, which it cannot create there; if it is missing, a
    copy is read. Without a log no process has the file open, so it is read as immutable.

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


@process_cached
def _copy(file: Path, log: Path) -> Path:
    """Return a private copy of a database and its log, which is deleted at exit."""
    folder = Path(tempfile.mkdtemp(prefix="dossier-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        for one in (file, log):
            shutil.copyfile(one, folder / one.name)
    except OSError as error:
        what = f"the data folder is read-only, and it cannot be copied: {error.strerror}"
        hint = "copy it to a folder that you may write to, and set DOSSIER_HOME to that"
        raise Problem(ErrorCode.HOME_READ_ONLY, what, where=str(folder), hint=hint) from error
    return folder / file.name


def _configure_reader(connection: Any, _: Any) -> None:
    connection.isolation_level = None


def _configure_sqlite(connection: Any, _: Any) -> None:
    """Make SQLite durable, and let several processes read and write."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=5000")
    _enable_write_ahead_log(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _enable_write_ahead_log(cursor: Any) -> None:
    """Enable the write-ahead log; SQLite does not wait by itself if two processes do so at once."""
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


def _configure_postgresql(connection: Any, _: Any) -> None:
    connection.execute(NO_JIT)
    connection.commit()


def begin_transaction(connection: Connection, *, writes: bool) -> None:
    """Begin a transaction on SQLite, whose driver begins none by itself.

    One that writes takes the lock at once, since SQLite refuses to take it in mid-transaction. A
    listener for the event `begin` would let SQLAlchemy look for listeners at every statement.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
