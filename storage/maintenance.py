"""Maintain the files of the database: erase deleted data, and find damage."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from config.errors import ErrorCode, Problem
from config.settings import settings
from storage.connect import parse_database_url
from storage.engine import get_engine, run_write, to_database_problem
from storage.tables import metadata

BEYOND = "what PostgreSQL has archived of its log, and backups, are beyond reach"
"""What stays on PostgreSQL."""


async def purge_deleted_data() -> str:
    """Rewrite the database without deleted data; return what is not erased, if anything.

    Raises:
        Problem: `storage_busy` while another process reads, or whatever
            `storage.engine.to_database_problem` returns.
    """
    await run_write(_merge_words)
    try:
        return await asyncio.to_thread(_scrub, await get_engine())
    except SQLAlchemyError as error:
        raise to_database_problem(error) from error


def _merge_words(connection: Connection) -> None:
    """Rewrite the keyword index: FTS5 only marks a deleted word."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO page_words (page_words) VALUES ('optimize')")


def _scrub(engine: Engine) -> str:
    sqlite = engine.dialect.name == "sqlite"
    connection = engine.raw_connection()
    try:
        # Neither database can vacuum within a transaction.
        raw = connection.driver_connection
        if sqlite:
            _rewrite(raw)
            return ""
        raw.rollback()  # type: ignore[union-attr]
        raw.autocommit = True  # type: ignore[union-attr]
        for table in [*(one.name for one in metadata.sorted_tables), "page_words"]:
            raw.execute(f'VACUUM FULL "{table}"')  # type: ignore[union-attr]
        raw.autocommit = False  # type: ignore[union-attr]
        return BEYOND
    finally:
        connection.close()


def _rewrite(connection: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("VACUUM")
    busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    cursor.close()
    if busy:
        stop = "stop other Dossier processes and run the command again"
        hint = f"{stop}; nothing can be found any more"
        raise Problem(ErrorCode.STORAGE_BUSY, "another process keeps the old log alive", hint=hint)


def find_database_damage() -> Problem | None:
    """Return the problem of the first damaged database; `None` if there is none."""
    for file in _files():
        message = _check_file(file)
        if message != "ok":
            hint = "restore it from a backup, or move it away"
            what = f"the database is damaged: {message}"
            return Problem(ErrorCode.STORAGE_CORRUPT, what, where=str(file), hint=hint)
    return None


def _files() -> list[Path]:
    try:
        url = parse_database_url(settings().database)
    except Problem:
        return []
    own = [Path(url.database)] if url.get_backend_name() == "sqlite" and url.database else []
    return [file for file in (*own, settings().checkpoints) if file.is_file()]


def _check_file(file: Path) -> str:
    """Return SQLite's result of a check of a file: `ok`, or the first error."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            return " ".join(str(opened.execute("PRAGMA quick_check(1)").fetchone()[0]).split())
    except sqlite3.OperationalError:
        return "ok"  # A file that is busy or unreadable is not damaged.
    except sqlite3.DatabaseError as error:
        return str(error)
