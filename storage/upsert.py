"""Write a row, whether or not it is there already."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


async def upsert(
    connection: AsyncConnection, table: Table, named: dict[str, Any], row: dict[str, Any]
) -> None:
    """Insert a row under its primary key `named`, or give the one that is there new values.

    Args:
        connection: An open transaction.
        table: Where it goes.
        named: The columns of the primary key.
        row: The other columns.
    """
    statement = INSERTS[connection.dialect.name](table).values({**named, **row})
    await connection.execute(statement.on_conflict_do_update(index_elements=list(named), set_=row))
