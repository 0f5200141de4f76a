"""Serve Dossier to a team on Aegra: API processes answer clients, worker processes run research.

Aegra provides the API of LangGraph's server. Its threads and runs are in a PostgreSQL database of
its own beside Dossier's; its queue and streams are in Redis. It reads its settings from the
environment when it is imported.
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
"""What a process does: answer clients, work on runs, or migrate the databases."""

DEFAULT_ENVIRONMENT = {
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
"""Defaults of variables that Aegra and libraries read; an operator may set others."""


def main(words: Sequence[str] | None = None) -> None:
    """Serve until stopped, or prepare the databases."""
    parser = argparse.ArgumentParser(prog="dossier-server", description=__doc__)
    parser.add_argument(
        "role", choices=ROLES, help="answer clients, work on runs, or migrate the databases"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument(
        "--port", type=int, default=8123, help="the port; of a worker, for health checks"
    )
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
    """Set the environment variables that Aegra reads.

    Raises:
        Problem: `server_missing` without Aegra; `config_value` if the database is not PostgreSQL,
            or also Aegra's: both have a table `runs`.
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
        hint = "name another one; the default is Dossier's with _server appended to its name"
        what = "the server needs a database of its own, not Dossier's"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="DATABASE_URL", hint=hint)
    for name, value in DEFAULT_ENVIRONMENT.items():
        environ.setdefault(name, value)
    environ["AEGRA_CONFIG"] = str(files("app") / "aegra.json")
    environ["REDIS_BROKER_ENABLED"] = "true"
    environ["WORKER_COUNT"] = "1" if role == "worker" else "0"
    environ["N_JOBS_PER_WORKER"] = str(jobs)


def name_server_database(url: URL) -> str:
    """Return the URL of the server's own database, beside Dossier's."""
    plain = url.set(drivername="postgresql", database=f"{url.database}_server")
    return plain.difference_update_query(["options"]).render_as_string(hide_password=False)


def _place(url: URL) -> tuple[object, ...]:
    return url.host, url.port, url.database, url.query.get("options", "")


async def migrate() -> None:
    """Create the tables of both databases, or upgrade them to this version.

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
    # This creates the tables of the store and the assistants; two processes must not do it at once.
    await db_manager.initialize()
    await get_langgraph_service().initialize()
    await db_manager.close()


def _create_server_database(url: str) -> None:
    """Create the server's database if it is missing.

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
        what = f"the database of the server cannot be created: {error}; {missing}"
        hint = f"create it as a superuser: createdb --owner={parsed.username} {parsed.database}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=hint) from error


if __name__ == "__main__":
    main()
