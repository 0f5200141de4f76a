"""dossier-server: serve Dossier on Aegra, in processes that answer clients and others that work.

Aegra serves the API of LangGraph's server to many people. What its threads and runs are is in a
PostgreSQL database of its own beside Dossier's, its queue and its streams are in Redis. It reads
its settings from the environment when it is imported.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec

import psycopg
import uvicorn
from psycopg import sql
from sqlalchemy import URL

from app.problems import strip_command_hint
from config.errors import ErrorCode, Problem
from config.settings import settings
from storage.connect import parse_database_url
from storage.engine import close_database, get_engine

ROLES = ("api", "worker", "migrate")
"""What a process does: answer clients, work on runs, or prepare the databases for a version."""

USUAL = {
    # Lines of JSON.
    "ENV_MODE": "PRODUCTION",
    "RUN_MIGRATIONS_ON_STARTUP": "false",
    # A process uses few of Aegra's connections: checkpoints and memory have their own.
    "SQLALCHEMY_POOL_SIZE": "5",
    "SQLALCHEMY_MAX_OVERFLOW": "10",
    "LANGGRAPH_MIN_POOL_SIZE": "1",
    "LANGGRAPH_MAX_POOL_SIZE": "4",
    # A run limits its time itself.
    "BG_JOB_TIMEOUT_SECS": "86400",
    "REAPER_INTERVAL_SECONDS": "5",
    "STUCK_PENDING_THRESHOLD_SECONDS": "30",
    "WORKER_DRAIN_TIMEOUT": "10",
    "ANONYMIZED_TELEMETRY": "False",
    "ORT_DISABLE_TELEMETRY": "1",
}
"""What Aegra and libraries read from the environment, unless an operator has set it."""


def main(words: Sequence[str] | None = None) -> None:
    """Serve until stopped, or prepare the databases."""
    parser = argparse.ArgumentParser(prog="dossier-server", description=__doc__)
    parser.add_argument(
        "role", choices=ROLES, help="answer clients, work, or prepare the databases"
    )
    parser.add_argument("--host", default="127.0.0.1", help="where to listen")
    parser.add_argument("--port", type=int, default=8123, help="a worker tells here how it is")
    parser.add_argument("--jobs", type=int, default=10, help="how many runs a worker does at once")
    given = parser.parse_args(words)
    try:
        configure_aegra(given.role, given.jobs)
        if given.role == "migrate":
            asyncio.run(migrate())
            return
    except Problem as problem:
        sys.exit(str(strip_command_hint(problem)))
    # Aegra's own name for it.
    os.environ["HOST"] = given.host
    name = "app" if given.role == "api" else "worker"
    uvicorn.run(f"app.aegra_app:{name}", host=given.host, port=given.port, log_config=None)


def configure_aegra(role: str, jobs: int) -> None:
    """Set in the environment what Aegra reads there.

    Raises:
        Problem: `server_missing` without Aegra; `config_value` if the database is no PostgreSQL, or
            is Aegra's as well: both have a table `runs`.
    """
    if find_spec("aegra_api") is None:
        hint = "pip install 'dossier[aegra]', with Python 3.12 or later"
        raise Problem(ErrorCode.SERVER_MISSING, "Aegra is not installed", hint=hint)
    environ = os.environ
    url = parse_database_url(settings().database)
    if url.get_backend_name() != "postgresql":
        hint = "use postgresql://user@host:5432/name"
        what = "several processes need a PostgreSQL database"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="DOSSIER_DATABASE_URL", hint=hint)
    environ.setdefault("DATABASE_URL", name_server_database(url))
    if _place(parse_database_url(environ["DATABASE_URL"])) == _place(url):
        hint = "name another one; without it, it is Dossier's with _server behind its name"
        what = "the server needs another database than Dossier"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="DATABASE_URL", hint=hint)
    for name, value in USUAL.items():
        environ.setdefault(name, value)
    environ["AEGRA_CONFIG"] = str(files("app") / "aegra.json")
    environ["REDIS_BROKER_ENABLED"] = "true"
    environ["WORKER_COUNT"] = "1" if role == "worker" else "0"
    environ["N_JOBS_PER_WORKER"] = str(jobs)


def name_server_database(url: URL) -> str:
    """Return the URL of the database beside Dossier's that the server has for itself."""
    plain = url.set(drivername="postgresql", database=f"{url.database}_server")
    return plain.difference_update_query(["options"]).render_as_string(hide_password=False)


def _place(url: URL) -> tuple[object, ...]:
    return url.host, url.port, url.database, url.query.get("options", "")


async def migrate() -> None:
    """Make the tables of both databases, or bring them to this version.

    Raises:
        Problem: `storage_unavailable` or `schema_newer`.
    """
    await get_engine()
    await close_database()
    await asyncio.to_thread(_create_server_database, os.environ["DATABASE_URL"])
    # Aegra reads its settings when it is imported.
    from aegra_api.core.database import db_manager  # noqa: PLC0415
    from aegra_api.core.migrations import run_migrations  # noqa: PLC0415
    from aegra_api.services.langgraph_service import get_langgraph_service  # noqa: PLC0415

    await asyncio.to_thread(run_migrations)
    # It makes the tables of LangGraph's store and the assistants, which no two can do at once.
    await db_manager.initialize()
    await get_langgraph_service().initialize()
    await db_manager.close()


def _create_server_database(url: str) -> None:
    """Create the server's database if it is not there.

    Raises:
        Problem: `storage_unavailable`.
    """
    parsed = parse_database_url(url)
    try:
        with psycopg.connect(url):
            return
    except psycopg.OperationalError as error:
        missing = error
    dossiers = parse_database_url(settings().database).set(drivername="postgresql")
    try:
        plain = dossiers.render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {}").format(sql.Identifier(str(parsed.database)))
            )
    except psycopg.Error as error:
        what = f"the database of the server cannot be made: {error}; {missing}"
        hint = f"make it as a superuser: createdb --owner={parsed.username} {parsed.database}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=hint) from error


if __name__ == "__main__":
    main()
