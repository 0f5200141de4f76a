"""Databases that cost a test little: tables are made and statements compiled once."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import pytest
from sqlalchemy import (
    URL,
    CompoundSelect,
    Connection,
    Dialect,
    Engine,
    create_engine,
    inspect,
    literal,
    make_url,
    select,
    table,
    text,
    union_all,
)
from sqlalchemy.pool import QueuePool

from runs.checkpointer import open_checkpointer
from storage import connect
from storage.connect import CONNECTIONS
from storage.engine import _prepared
from tests.places import new_process

POSTGRES = os.environ.get("DOSSIER_TEST_POSTGRES", "")
"""The URL of a PostgreSQL server that tests may make schemas on; else they use SQLite only."""

VERSIONS = ("schema", "checkpoint_migrations")
"""The tables that say which version the others have."""

PATIENCE = 10
"""How many seconds a connection of a test may take to end by itself."""

OTHERS_OF_SCHEMA = (
    "FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
    "AND application_name LIKE current_schema() || '%'"
)
"""The connections of this schema but one's own; a server has those of other tests, too."""

_OPEN = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
_END = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :name")

_dialects: dict[str, Dialect] = {}
_compiled: dict[Any, Any] = {}
_kept: dict[str, Engine] = {}
"""The engine of each schema that many tests share, by the path on which its tables are found."""


class Kept(QueuePool):
    """Connections that outlive the engines of tests: opening one costs more than most tests."""

    def dispose(self) -> None:
        """Close none."""

    def recreate(self) -> Self:
        """Go on with those that are open."""
        return self


def engine_of(url: URL, **usual: Any) -> Engine:
    """Make an engine that knows the statements which the engines of earlier tests have compiled.

    That of a schema which many tests share has the connections of earlier tests, too.
    """
    if kept := _kept.get(_path(url)):
        engine = kept.execution_options()
        # What is cached is cached by URL.
        engine.url = url
        return engine
    engine = create_engine(url, execution_options={"compiled_cache": _compiled}, **usual)
    # What is compiled is kept by dialect.
    engine.dialect = _dialects.setdefault(engine.name, engine.dialect)
    return engine


def _path(url: URL) -> str:
    return str(url.query.get("options", ""))


@contextmanager
def made_once(folder: Path) -> Iterator[None]:
    """Let every new SQLite database of this process begin as a copy of one with all tables."""
    template = folder / "dossier.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "create_engine", engine_of)
        patch.setenv("DOSSIER_HOME", str(folder))
        new_process()
        _prepared(connect.create_database_engine(f"sqlite:///{template}")).dispose()
        patch.setattr(connect, "create_private_file", lambda file: _copy(template, file))
        yield


def _copy(template: Path, file: Path) -> None:
    if not file.exists():
        shutil.copy(template, file)


@contextmanager
def empty_schema() -> Iterator[str]:
    """Make an empty schema on the PostgreSQL server for as long as a block lasts; its URL."""
    name = f"test_{uuid4().hex}"
    url = make_url(POSTGRES).set(drivername="postgresql+psycopg")
    server = create_engine(url, pool_pre_ping=True)
    with server.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    options = f"-csearch_path={name} -csynchronous_commit=off"
    named = {"options": options, "application_name": name}
    yield make_url(POSTGRES).update_query_dict(named).render_as_string(hide_password=False)
    with server.begin() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
    server.dispose()


@contextmanager
def schema_with_tables() -> Iterator[str]:
    """Make a schema with all tables on the PostgreSQL server; its URL."""
    with empty_schema() as url:
        parsed = make_url(url).set(drivername="postgresql+psycopg")
        engine = engine_of(parsed, poolclass=Kept, pool_size=CONNECTIONS, pool_pre_ping=True)
        _kept[_path(parsed)] = engine
        _prepared(connect.create_database_engine(url))
        with ThreadPoolExecutor(1) as thread:
            # Whoever asks for it may be in an event loop already.
            thread.submit(asyncio.run, _make_checkpoint_tables(url)).result()
        yield url
        del _kept[_path(parsed)]
        QueuePool.dispose(engine.pool)


async def _make_checkpoint_tables(url: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOSSIER_DATABASE_URL", url)
        new_process()
        async with open_checkpointer():
            pass
    new_process()


def renamed(url: str) -> str:
    """Return another URL of the same schema, for a test that shall find nothing cached."""
    parsed = make_url(url)
    name = f"{parsed.query['application_name']}_{uuid4().hex[:12]}"
    return parsed.update_query_dict({"application_name": name}).render_as_string(
        hide_password=False
    )


def emptied(url: str) -> None:
    """Take all rows out of all tables of a shared schema but the one that says their version.

    The server may still read what a connection sent before it broke; that is waited for.

    Args:
        url: What `renamed` has made for a test that has closed its connections.
    """
    parsed = make_url(url)
    path = _path(parsed)
    with _kept[path].begin() as connection:
        _wait_for_end(connection, str(parsed.query["application_name"]))
        filled = connection.execute(_filled(path)).scalars().all()
        if filled:
            connection.exec_driver_sql(f"TRUNCATE {', '.join(filled)} RESTART IDENTITY CASCADE")


def _wait_for_end(connection: Connection, application: str) -> None:
    """Wait until the server has ended the connections of a name; after some seconds, end them."""
    ends = time.monotonic() + PATIENCE
    while connection.execute(_OPEN, {"name": application}).scalar():
        if time.monotonic() > ends:
            connection.execute(_END, {"name": application})
        time.sleep(0.01)
        # Else all answers of a transaction are alike.
        connection.exec_driver_sql("SELECT pg_stat_clear_snapshot()")


@cache
def _filled(path: str) -> CompoundSelect[Any]:
    """Return what asks for the names of all tables of a shared schema that have rows."""
    names = [name for name in inspect(_kept[path]).get_table_names() if name not in VERSIONS]
    first = [select(literal(name)).select_from(table(name)).limit(1).subquery() for name in names]
    return union_all(*map(select, first))
