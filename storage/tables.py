"""The metadata of all tables, and the tables that several rooms or the lowest ones use."""

from __future__ import annotations

from importlib import import_module

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

schema = Table("schema", metadata, Column("version", Integer, primary_key=True))

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(200), nullable=False),
    Column("run", String(80), nullable=False, index=True),
    Column("step", String(32), nullable=False, default=""),
    Column("name", String(64), nullable=False),
    Column("item", String(200), nullable=False, default=""),
    Column("before", Text, nullable=False, default=""),
    Column("after", Text, nullable=False, default=""),
    Column("provenance", String(8), nullable=False, default=""),
    Column("why", Text, nullable=False, default=""),
    Column("undoes", Integer, nullable=False, default=0),
    Column("at", Float, nullable=False),
    Index("events_owner", "owner", "id"),
    Index("events_item", "owner", "item"),
)
"""An append-only log of every change of a memory (`storage.events.Event`)."""

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(200), nullable=False),
    Column("job", String(32), nullable=False),
    Column("data", Text, nullable=False),
    Column("due", Float, nullable=False, index=True),
    Column("tries", Integer, nullable=False, default=0),
)
"""Work that is done after a run, kept until it is done; `data` is JSON."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("holder", String(32), nullable=False, index=True),
    Column("token", Integer, nullable=False),
    Column("expires", Float, nullable=False),
    Column("process", String(200), nullable=False),
)
"""Which process works on a thread, until when by the clock of the database (`storage.leases`)."""


TABLE_MODULES = (
    *("runs.tables", "library.tables", "memory.tables"),
    *("app.auth.tables", "app.web.tables"),
)
"""The modules of other rooms that define tables: storage itself imports none of them."""


def load_tables() -> None:
    """Import every module that defines tables, so that `metadata` has all of them."""
    for name in TABLE_MODULES:
        import_module(name)


def add_postgresql_conditions() -> None:
    """Make the indexes of a part of a table such on PostgreSQL, too.

    Named beside `sqlite_where` this would import the dialect, which takes as long as all tables.
    """
    load_tables()
    for table in metadata.tables.values():
        for index in table.indexes:
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
