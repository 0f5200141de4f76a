"""Read and write the one database in transactions, alone or committed in groups."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple, TypeVar

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
from sqlalchemy.exc import TimeoutError as PoolTimeout

from config.errors import ErrorCode, Problem
from config.resources import LoopResource, Resource
from config.settings import settings
from storage.connect import begin_transaction, create_database_engine, database_place
from storage.fencing import Lease, check_lease, find_lease
from storage.permissions import read_only_problem, secure_new_files
from storage.tables import load_tables, metadata, schema
from storage.upgrades import SCHEMA_VERSION, upgrade_tables

Answer = TypeVar("Answer")


def _dispose_engines(engines: dict[str, Engine]) -> None:
    while engines:
        engines.popitem()[1].dispose()


_engines = Resource(dict[str, Engine], _dispose_engines)
"""The engines of this process by URL; nearly always one."""

_opening = threading.Lock()

_write_lock = LoopResource(asyncio.Lock)
"""Writers hold it: SQLite has one writer, so others need not try."""


async def get_engine() -> Engine:
    """Return the engine of this process, with all tables created.

    It is synchronous and used in threads: an asynchronous driver changes threads for every step of
    a transaction, which costs more than the transaction.

    Raises:
        Problem: `storage_unavailable`, `storage_corrupt`, `storage_busy` or `schema_newer`.
    """
    url = settings().database
    engine = _engines.get().get(url)
    return engine if engine is not None else await asyncio.to_thread(_opened, url)


async def close_database() -> None:
    """Close what this process has open."""
    if engines := _engines.get():
        await asyncio.to_thread(_dispose_engines, engines)
        await asyncio.to_thread(secure_new_files)


async def read_rows(statement: Executable, values: Any = None) -> Result[Any]:
    """Return all rows of a statement that only reads.

    Raises:
        Problem: Whatever `to_database_problem` returns.
    """
    with _translate_errors():
        return await asyncio.to_thread(_read_rows, await get_engine(), statement, values)


async def run_read(work: Callable[[Connection], Answer]) -> Answer:
    """Let a function read in one transaction; return its result.

    Args:
        work: Executes its statements on the connection it is given; it runs in a thread.

    Raises:
        Problem: Whatever `to_database_problem` returns.
    """
    with _translate_errors():
        return await asyncio.to_thread(_read_once, await get_engine(), work)


async def run_write(work: Callable[[Connection], Answer]) -> Answer:
    """Let a function write in one transaction; return its result.

    Args:
        work: Executes its statements on the connection it is given; it runs in a thread, and is
            repeated after a deadlock.

    Raises:
        Problem: Whatever `to_database_problem` returns.
    """
    with _translate_errors():
        engine = await get_engine()
        async with _write_lock.get():
            # The transaction is completed even if the caller is cancelled.
            return await asyncio.shield(_write_in_thread(engine, work, find_lease()))


def run_write_sync(work: Callable[[Connection], Answer]) -> Answer:
    """Do what `run_write` does in the calling thread, which must not be that of an event loop.

    A thread that waited for the event loop to write might be the last one that could do it.
    """
    with _translate_errors():
        return _write(_opened(settings().database), work, find_lease())


@contextmanager
def lend_connection() -> Iterator[Connection]:
    """Lend a connection to synchronous code, which begins and ends its transactions itself."""
    with _translate_errors(), _opened(settings().database).connect() as connection:
        yield connection


def _read_rows(engine: Engine, statement: Executable, values: Any) -> Result[Any]:
    # A single statement is a transaction of its own.
    with engine.connect() as connection:
        return connection.execute(statement, values).freeze()()


def _read_once(engine: Engine, work: Callable[[Connection], Answer]) -> Answer:
    with engine.connect() as connection:
        begin_transaction(connection, writes=False)
        return work(connection)


def _write_in_thread(
    engine: Engine, work: Callable[[Connection], Answer], lease: Lease | None = None
) -> asyncio.Future[Answer]:
    # Unlike `asyncio.to_thread`, this makes no task that has to be run twice.
    call = partial(copy_context().run, _write, engine, work, lease)
    return asyncio.get_running_loop().run_in_executor(None, call)


def advisory_lock(connection: Connection, name: str) -> None:
    """Lock a name until the end of the transaction; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(name))))


def _deadlocked(error: BaseException) -> bool:
    # PostgreSQL aborts one of two transactions that wait for each other.
    return getattr(getattr(error, "orig", None), "sqlstate", "") == "40P01"


def _write(
    engine: Engine, work: Callable[[Connection], Answer], lease: Lease | None = None
) -> Answer:
    try:
        return _write_once(engine, work, lease)
    except DatabaseError as error:
        if not _deadlocked(error):
            raise
    # This is rare, and the library takes longer to load than most commands need to read.
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random  # noqa: PLC0415

    again = Retrying(
        retry=retry_if_exception(_deadlocked),
        stop=stop_after_attempt(4),
        wait=wait_random(0, 0.1),
        reraise=True,
    )
    answer: Answer = again(_write_once, engine, work, lease)
    return answer


def _write_once(
    engine: Engine, work: Callable[[Connection], Answer], lease: Lease | None
) -> Answer:
    with engine.begin() as connection:
        begin_transaction(connection, writes=True)
        check_lease(connection, lease)
        return work(connection)


_SESSION_ENDED = "25P03"
"""How PostgreSQL ends a transaction in which a process was stopped."""

_FOREIGN_STATEMENT = ("42P05", "26000")
"""A prepared statement is there already, or is not: it is of another session."""


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise to_database_problem(error) from error.__cause__


def to_database_problem(error: SQLAlchemyError) -> Problem | SQLAlchemyError:
    """Return the problem of a failing database; an error in a statement is returned unchanged."""
    orig = getattr(error, "orig", None)
    name = getattr(orig, "sqlite_errorname", "")
    where = database_place()
    if isinstance(error, PoolTimeout):
        what, hint = "no connection to the database is free", "see DOSSIER_DATABASE_CONNECTIONS"
        return Problem(ErrorCode.STORAGE_BUSY, what, where=where, hint=hint)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Problem(ErrorCode.STORAGE_BUSY, "another process holds the database", where=where)
    if name == "SQLITE_FULL":
        hint = "make room and resume the run"
        return Problem(ErrorCode.STORAGE_FULL, "the disk is full", where=where, hint=hint)
    if name.startswith("SQLITE_READONLY"):
        return read_only_problem(where)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        hint = "move the file away, or restore it from a backup"
        return Problem(ErrorCode.STORAGE_CORRUPT, f"not a database: {orig}", where=where, hint=hint)
    state = getattr(orig, "sqlstate", "")
    if state in _FOREIGN_STATEMENT:
        what = "a pooler gives each transaction another session of the server"
        hint = "have it pool by session; PgBouncer: pool_mode = session"
        return Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=where, hint=hint)
    ended = state == _SESSION_ENDED
    if (isinstance(error, OperationalError) and name != "SQLITE_ERROR") or ended:
        hint = "is the place writable, and the server up?"
        return Problem(ErrorCode.STORAGE_UNAVAILABLE, f"it fails: {orig}", where=where, hint=hint)
    return error


def _opened(url: str) -> Engine:
    with _opening:
        engines = _engines.get()
        if url not in engines:
            load_tables()
            engines[url] = _prepared(create_database_engine(url))
        return engines[url]


def _prepared(engine: Engine) -> Engine:
    """Create the missing tables, and upgrade older ones."""
    try:
        version = (
            SCHEMA_VERSION if _read_once(engine, _is_up_to_date) else _write(engine, _create_tables)
        )
    except DatabaseError as error:
        engine.dispose()
        problem = to_database_problem(error)
        if not isinstance(problem, Problem):
            problem = Problem(
                ErrorCode.STORAGE_UNAVAILABLE, f"the tables cannot be made: {error.orig}"
            )
        raise problem from error
    if version > SCHEMA_VERSION:
        engine.dispose()
        what = f"the database has version {version}, this program knows {SCHEMA_VERSION}"
        raise Problem(ErrorCode.SCHEMA_NEWER, what, hint="use a newer dossier")
    return engine


def _version(connection: Connection) -> int:
    """Return the version of the existing tables; 0 if there are none."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar() or 0


def _is_up_to_date(connection: Connection) -> bool:
    """Say whether all tables exist in the current version; only reading, it never waits."""
    existing = inspect(connection).get_table_names()
    return metadata.tables.keys() <= {*existing} and _version(connection) == SCHEMA_VERSION


def _create_tables(connection: Connection) -> int:
    advisory_lock(connection, "schema")
    version = _version(connection)
    if version > SCHEMA_VERSION:
        return version
    if version:
        upgrade_tables(connection, version)
    metadata.create_all(connection)
    if version < SCHEMA_VERSION:
        connection.execute(delete(schema))
        connection.execute(insert(schema).values(version=SCHEMA_VERSION))
    return SCHEMA_VERSION


SqlStatement = tuple[Executable, Any]
"""A statement, and the values or the list of values it is executed with, or `None`."""

_Work = Callable[[Connection], object]
"""Executes its statements on the connection it is given; it may be called again."""


DEFERRED_SECONDS = 0.2
"""How long a deferred write waits for others."""


class _PendingWrite(NamedTuple):
    """Work that is done completely or not at all, and the future that waits for it."""

    work: _Work
    done: asyncio.Future[None]
    lease: Lease | None
    """Of the thread for which it is done, if this process holds it."""


class GroupCommit:
    """The writes of one event loop: while one batch is committed, the next one gathers.

    This is the group commit of databases (DeWitt et al. 1984, section 3.2): many transactions
    share one forced write of the log.
    """

    def __init__(self) -> None:
        self.waiting: list[_PendingWrite] = []
        self.worker: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None

    async def submit(self, work: _Work) -> None:
        """Let a function write, all or nothing; it is on the disk when this returns.

        Raises:
            Problem: If the database fails (`to_database_problem`).
            SQLAlchemyError: If a statement fails; then none has an effect.
        """
        future = asyncio.get_running_loop().create_future()
        entry = _PendingWrite(work, future, find_lease())
        self.waiting.append(entry)
        self._start()
        await asyncio.shield(entry.done)

    def defer(self, work: _Work) -> None:
        """Let a function write with the next batch, or soon if there is none; nobody waits for it.

        If the database fails then, whoever waits for that batch is told.
        """
        loop = asyncio.get_running_loop()
        self.waiting.append(_PendingWrite(work, loop.create_future(), find_lease()))
        if self.timer is None:
            self.timer = loop.call_later(DEFERRED_SECONDS, self._start)

    async def finish(self) -> None:
        """Wait until everything that was submitted or deferred is written."""
        if self.waiting:
            self._start()
        while self.worker is not None and not self.worker.done():
            await asyncio.wait([self.worker])

    def _start(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.worker is None or self.worker.done():
            self.worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self.waiting:
            batch, self.waiting = self.waiting, []
            failure = await _try_commit(batch)
            # One bad entry must not fail the others, so each is then tried on its own.
            alone = len(batch) > 1 and failure is not None and _is_of_one_entry(failure)
            for entry in batch:
                _resolve(entry, await _try_commit([entry]) if alone else failure)


_group_commit = LoopResource(GroupCommit, GroupCommit.finish)


async def commit_statements(*statements: SqlStatement) -> None:
    """Execute statements, all or none, in the next batch of this event loop."""

    def execute(connection: Connection) -> None:
        for statement, values in statements:
            connection.execute(statement, values)

    await write_in_group(execute)


async def write_in_group(work: _Work) -> None:
    """Let a function write in the next batch of this event loop (see `GroupCommit.submit`)."""
    await _group_commit.get().submit(work)


def write_with_next_group(work: _Work) -> None:
    """Let a function write with the next batch of this event loop (see `GroupCommit.defer`)."""
    _group_commit.get().defer(work)


async def flush_writes() -> None:
    """Wait until everything that this event loop has deferred is written."""
    await _group_commit.get().finish()


async def _try_commit(batch: Sequence[_PendingWrite]) -> BaseException | None:
    """Execute some entries in one transaction; return any error.

    If it were raised, the callers that wait for the entries would never wake up.
    """

    def execute(connection: Connection) -> None:
        for lease in {entry.lease for entry in batch}:
            check_lease(connection, lease)
        for entry in batch:
            entry.work(connection)

    try:
        engine = await get_engine()
        async with _write_lock.get():
            writing = _write_in_thread(engine, execute)
            await asyncio.wait([writing])
    except Problem as problem:
        return problem
    failure = writing.exception()
    return to_database_problem(failure) if isinstance(failure, SQLAlchemyError) else failure


def _is_of_one_entry(failure: BaseException) -> bool:
    """Tell whether an error is not that of the database, but of one of the entries."""
    return not isinstance(failure, Problem) or failure.error == ErrorCode.RUN_TAKEN_OVER


def _resolve(entry: _PendingWrite, failure: BaseException | None) -> None:
    if entry.done.cancelled():
        return
    if failure:
        entry.done.set_exception(failure)
        # Nobody may be waiting for it, and asyncio would complain of that.
        entry.done.exception()
    else:
        entry.done.set_result(None)
