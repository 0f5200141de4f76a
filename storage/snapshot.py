"""Read the database and the checkpoints as they were at one moment, while others write on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import (
    Connection,
    Engine,
    column,
    create_engine,
    func,
    inspect,
    literal_column,
    select,
    table,
    text,
)
from sqlalchemy.pool import NullPool

from config.settings import settings
from storage.permissions import is_read_only

CHECKPOINT_TABLES = {
    "sqlite": ("checkpoints", "writes", "blobs"),
    "postgresql": ("checkpoints", "checkpoint_blobs", "checkpoint_writes"),
}
"""The tables of checkpoints by the kind of database."""

_PATIENCE = 30.0
"""How many seconds to wait for the one who writes."""


class Snapshot(NamedTuple):
    """Two connections that see the same moment; on PostgreSQL they are one."""

    tables: Connection
    checkpoints: Connection | None
    """`None` where no checkpoint was ever saved."""


@contextmanager
def open_snapshot(engine: Engine) -> Iterator[Snapshot]:
    """Lend connections that read one moment of the database and of the checkpoints.

    Nobody waits for longer than it takes to begin: SQLite keeps what was there in its log, and
    PostgreSQL in its rows.
    """
    with ExitStack() as stack:
        if engine.dialect.name == "postgresql":
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            connection = stack.enter_context(engine.connect().execution_options(**options))
            connection.execute(text("SELECT 1"))
            yield Snapshot(connection, connection)
            return
        tables = stack.enter_context(engine.connect())
        saved = settings().checkpoints
        checkpoints = stack.enter_context(_open_checkpoints(saved)) if saved.exists() else None
        with _writers_kept_out([_file_of(engine), saved]):
            for one in filter(None, (tables, checkpoints)):
                one.exec_driver_sql("BEGIN")
                # The moment is that of the first statement that reads.
                one.exec_driver_sql("SELECT count(*) FROM sqlite_master").all()
        yield Snapshot(tables, checkpoints)


@contextmanager
def _open_checkpoints(file: Path) -> Iterator[Connection]:
    engine = open_checkpoint_file(file)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def open_checkpoint_file(file: Path) -> Engine:
    """Return an engine for the checkpoints of SQLite, which begins no transaction by itself."""

    def connect() -> sqlite3.Connection:
        place = f"{file.absolute().as_uri()}?mode={'ro' if is_read_only(file) else 'rw'}"
        return sqlite3.connect(
            place, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _file_of(engine: Engine) -> Path:
    return Path(engine.url.database or "")


@contextmanager
def _writers_kept_out(files: Sequence[Path]) -> Iterator[None]:
    """Hold the lock of every writer, so that nothing is written between two beginnings."""
    with ExitStack() as stack:
        for file in files:
            if file.is_file() and not is_read_only(file):
                opened = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
                stack.enter_context(closing(opened))
                opened.execute("BEGIN IMMEDIATE")
        yield


_MEASURED = {
    "sqlite": {"checkpoints": "checkpoint", "writes": "value", "blobs": "value"},
    "postgresql": {
        "checkpoints": "CAST(checkpoint AS text)",
        "checkpoint_blobs": "blob",
        "checkpoint_writes": "blob",
    },
}
"""The large column of each of these tables."""


def measure_checkpoints(connection: Connection, threads: Sequence[str]) -> int:
    """Return about how many bytes the checkpoints of threads take."""
    large = _MEASURED[connection.dialect.name]
    size = 0
    for name in list_checkpoint_tables(connection):
        length = func.sum(func.length(literal_column(large[name])))
        of = select(length).select_from(table(name)).where(column("thread_id").in_([*threads]))
        size += connection.execute(of).scalar() or 0
    return size


def list_checkpoint_tables(connection: Connection) -> list[str]:
    """Return the names of the tables of checkpoints that are there."""
    there = {*inspect(connection).get_table_names()}
    return [one for one in CHECKPOINT_TABLES[connection.dialect.name] if one in there]
