"""Write a row, whether or not it is there already."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Executable, Table

from config.settings import settings
from storage.connect import parse_database_url


def upsert(
    table: Table, named: dict[str, Any], row: dict[str, Any], first: dict[str, Any] | None = None
) -> Executable:
    """Return the statement that inserts a row, or gives the one that is there new values.

    Args:
        table: Where it goes.
        named: The columns of the primary key.
        row: The other columns.
        first: The columns that a row which is there keeps as they are.
    """
    statement = dialect_insert(table).values({**named, **row, **(first or {})})
    changed: Executable = statement.on_conflict_do_update(index_elements=list(named), set_=row)
    return changed


def upsert_rows(table: Table, named: Sequence[str]) -> Executable:
    """Return the statement that writes whole rows, there already or not; it is executed with them.

    Args:
        table: Where they go.
        named: The columns of the primary key.
    """
    statement = dialect_insert(table)
    others = {one.name: statement.excluded[one.name] for one in table.c if one.name not in named}
    changed: Executable = statement.on_conflict_do_update(index_elements=list(named), set_=others)
    return changed


def dialect_insert(table: Table, dialect: str = "") -> Any:
    """Return an insert that can be told what to do when the row is there already.

    Args:
        table: Where the row goes.
        dialect: That of the database; by default it is looked up in the settings.
    """
    # Only the dialect that is used is imported.
    name = dialect or parse_database_url(settings().database).get_backend_name()
    return import_module(f"sqlalchemy.dialects.{name}").insert(table)
