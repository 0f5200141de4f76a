"""Read and write whole tables, whatever is in them, on either database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import (
    Connection,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    insert,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.sql.expression import TableClause

from storage.backup_archive import ColumnEntry, RowDigest, RowValues, encode_row

_BATCH = 500
"""How many rows are in memory at once."""


def list_columns(connection: Connection, name: str) -> list[ColumnEntry]:
    """Return the columns of a table as the database has them."""
    found = inspect(connection).get_columns(name)
    return [ColumnEntry(name=one["name"], type=str(one["type"])) for one in found]


def read_table(
    connection: Connection, known: TableClause, columns: Sequence[ColumnEntry]
) -> Iterator[RowValues]:
    """Yield all rows of a table, in any order; JSON of PostgreSQL as text."""
    wanted = [
        cast(known.c[one.name], Text) if _is_json(one) else known.c[one.name] for one in columns
    ]
    options = {"stream_results": True, "yield_per": _BATCH}
    found = connection.execute(select(*wanted), execution_options=options)
    for part in found.partitions():
        yield from (tuple(row) for row in part)


def write_table(
    connection: Connection,
    known: TableClause,
    columns: Sequence[ColumnEntry],
    rows: Iterable[RowValues],
) -> None:
    """Add rows to a table."""
    names = [one.name for one in columns]
    statement = insert(known).values({one.name: _given(connection, one) for one in columns})
    every = iter(rows)
    while part := [*islice(every, _BATCH)]:
        connection.execute(statement, [dict(zip(names, row, strict=True)) for row in part])


def _given(connection: Connection, one: ColumnEntry) -> Any:
    if _is_json(one) and connection.dialect.name == "postgresql":
        # The name stands for a type that only this dialect has.
        from sqlalchemy.dialects.postgresql import JSONB  # noqa: PLC0415

        return cast(bindparam(one.name, type_=Text), JSONB)
    return bindparam(one.name)


def _is_json(one: ColumnEntry) -> bool:
    return one.type.upper() in ("JSON", "JSONB")


def digest_table(
    connection: Connection, known: TableClause, columns: Sequence[ColumnEntry]
) -> RowDigest:
    """Return the count and the hash of all rows of a table."""
    digest = RowDigest()
    for row in read_table(connection, known, columns):
        digest.add(encode_row(row))
    return digest


def is_filled(connection: Connection, name: str) -> bool:
    """Tell whether a table has a row."""
    first = select(text("1")).select_from(table(name)).limit(1)
    return connection.execute(first).first() is not None


def untyped_table(name: str, columns: Sequence[ColumnEntry]) -> TableClause:
    """Return a table that is not one of this program's: its values are left as they are."""
    return table(name, *(column(one.name) for one in columns))


def find_last_number(connection: Connection, counted: Table) -> int | None:
    """Return the last number that a table gave to a row; `None` where it counts none."""
    if connection.dialect.name == "postgresql":
        sequence = _sequence_of(connection, counted)
        if sequence is None:
            return None
        given = text(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608 - a name of its own
        last, called = connection.execute(given).one()
        return int(last) if called else 0
    if not counted.dialect_options["sqlite"]["autoincrement"]:
        return None
    last = connection.execute(
        text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": counted.name}
    ).scalar()
    return int(last or 0)


def set_last_number(connection: Connection, counted: Table, last: int | None) -> None:
    """Let a table give higher numbers to rows than to all that it has or had."""
    keys = [*counted.primary_key.columns]
    if connection.dialect.name == "postgresql":
        sequence = _sequence_of(connection, counted)
        if sequence is not None:
            highest = connection.execute(select(func.max(keys[0]))).scalar() or 0
            value = max(last or 0, highest)
            statement = text("SELECT setval(CAST(:sequence AS regclass), :value, :called)")
            given = {"sequence": sequence, "value": max(value, 1), "called": value > 0}
            connection.execute(statement, given)
    elif last and counted.dialect_options["sqlite"]["autoincrement"]:
        given = {"name": counted.name, "last": last}
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), given)
        connection.execute(text("INSERT INTO sqlite_sequence VALUES (:name, :last)"), given)


def _sequence_of(connection: Connection, counted: Table) -> str | None:
    keys = [*counted.primary_key.columns]
    if len(keys) != 1:
        return None
    named = select(func.pg_get_serial_sequence(counted.name, keys[0].name))
    return connection.execute(named).scalar()
