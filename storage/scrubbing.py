"""Leave no trace in the database of what was deleted: no free page, no dead word, no log."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from config.errors import Problem
from storage.engine import database, plain, write
from storage.tables import metadata

BEYOND = "what PostgreSQL has archived of its log, and backups, are beyond reach"
"""What a person is told where nothing better can be promised."""


async def scrub() -> str:
    """Rewrite the database without what was deleted; return what cannot be promised, if anything.

    Raises:
        Problem: `storage_busy` while another process reads, or what `storage.engine.plain` tells.
    """
    await write(_merge_words)
    try:
        return await asyncio.to_thread(_scrub, await database())
    except SQLAlchemyError as error:
        raise plain(error) from error


def _merge_words(connection: Connection) -> None:
    """Write the keyword index anew: a word that is taken out of FTS5 is only marked so."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO page_words (page_words) VALUES ('optimize')")


def _scrub(engine: Engine) -> str:
    sqlite = engine.dialect.name == "sqlite"
    connection = engine.raw_connection()
    try:
        # Neither database vacuums inside of a transaction.
        plain_one = connection.driver_connection
        if sqlite:
            _rewrite(plain_one)
            return ""
        plain_one.rollback()  # type: ignore[union-attr]
        plain_one.autocommit = True  # type: ignore[union-attr]
        for table in [*(one.name for one in metadata.sorted_tables), "page_words"]:
            plain_one.execute(f'VACUUM FULL "{table}"')  # type: ignore[union-attr]
        plain_one.autocommit = False  # type: ignore[union-attr]
        return BEYOND
    finally:
        connection.close()


def _rewrite(connection: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("VACUUM")
    busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    cursor.close()
    if busy:
        hint = (
            "stop other Dossier processes and run the command again; nothing can be found any more"
        )
        raise Problem("storage_busy", "another process keeps the old log alive", hint=hint)
