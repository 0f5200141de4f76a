"""What `dossier doctor` says of a database that several machines may use."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import NamedTuple

from sqlalchemy import Connection, text

from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.thread_saver import checkpoints_place
from storage.connect import is_database_shared
from storage.engine import run_read
from storage.leases import count_leases
from text.pluralization import pluralize

_CLOCK_TOLERANCE = 5.0
"""The seconds by which the clocks of a machine and of its database may differ."""


class _ServerState(NamedTuple):
    """What a database server says of itself."""

    skew: float
    """The seconds by which the clock of this machine is ahead."""
    most: int
    """How many connections it allows, those kept for administrators left out."""
    used: int
    alive: int
    """How many threads are held by processes that are alive, or may be."""
    dead: int
    saved: int
    """The version of the tables of checkpoints; -1 if there are none."""


async def describe_shared_database() -> str:
    """Return what other machines see of this home, and how its database server stands.

    Raises:
        Problem: `schema_newer`, `clock_wrong` or `storage_busy`.
    """
    if not is_database_shared():
        return "none: everything is in the home, for the processes of one machine"
    state = await run_read(_read_state)
    _check_checkpoints(state.saved)
    _check_clock(state.skew)
    free = state.most - state.used
    ours = settings().database_connections
    if free < ours:
        what = f"{free} of {state.most} connections are free, and a process opens up to {ours}"
        hint = "stop processes, lower DOSSIER_DATABASE_CONNECTIONS or raise max_connections"
        raise Problem(ErrorCode.STORAGE_BUSY, what, where=checkpoints_place(), hint=hint)
    said = [
        f"checkpoints, leases and traces are in it; {free} of {state.most} connections are free, "
        f"{ours} for each process",
        f"the clocks differ by {abs(state.skew):.1f} s",
        _describe_leases(state),
        _describe_files(),
        _describe_vectors(),
    ]
    return "; ".join(said)


def _read_state(connection: Connection) -> _ServerState:
    before = time.time()
    at = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())::float")).scalar()
    middle = (before + time.time()) / 2
    limits = (
        "SELECT current_setting('max_connections')::int"
        " - current_setting('superuser_reserved_connections')::int"
    )
    used = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    alive, dead = count_leases(connection)
    return _ServerState(
        skew=middle - float(at or 0),
        most=connection.execute(text(limits)).scalar() or 0,
        used=connection.execute(text(used)).scalar() or 0,
        alive=alive,
        dead=dead,
        saved=_read_checkpoint_version(connection),
    )


def _read_checkpoint_version(connection: Connection) -> int:
    known = connection.execute(text("SELECT to_regclass('checkpoint_migrations')")).scalar()
    if known is None:
        return -1
    newest = connection.execute(text("SELECT max(v) FROM checkpoint_migrations")).scalar()
    return -1 if newest is None else newest


def _check_checkpoints(saved: int) -> None:
    """Make sure that this program knows the tables of checkpoints.

    Raises:
        Problem: `storage_unavailable` without the package, or `schema_newer`.
    """
    try:
        from langgraph.checkpoint.postgres.base import MIGRATIONS  # noqa: PLC0415
    except ImportError as error:
        what, hint = f"{error.name} is missing", "install dossier[postgres]"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=hint) from error
    if saved >= len(MIGRATIONS):
        mine = version("langgraph-checkpoint-postgres")
        what = f"the checkpoints have version {saved}, and langgraph-checkpoint-postgres {mine} "
        what += f"knows {len(MIGRATIONS) - 1}"
        hint = "install the version that the other machines have"
        raise Problem(ErrorCode.SCHEMA_NEWER, what, where=checkpoints_place(), hint=hint)


def _check_clock(skew: float) -> None:
    """Make sure that the clock of this machine is about right.

    Raises:
        Problem: `clock_wrong`.
    """
    if abs(skew) > _CLOCK_TOLERANCE:
        way = "ahead of" if skew > 0 else "behind"
        what = f"the clock of this machine is {abs(skew):.0f} s {way} that of the database"
        hint = "set it right: times of runs, retries and retention are compared across machines"
        raise Problem(ErrorCode.CLOCK_WRONG, what, hint=hint)


def _describe_leases(state: _ServerState) -> str:
    at_work = pluralize(state.alive, "thread is at work", "threads are at work")
    if not state.dead:
        return at_work
    gone = pluralize(state.dead, "thread", "threads")
    return f"{at_work}, and {gone} of processes that are gone can be resumed"


def _describe_files() -> str:
    if settings().files_url:
        return f"reports, uploads and tables are in {settings().files_url}"
    return (
        "reports, uploads and tables are in the home, where no other machine finds them "
        "(DOSSIER_FILES_URL names a place for all)"
    )


def _describe_vectors() -> str:
    if settings().chroma_url:
        return f"large sets of vectors are in {settings().chroma_url}"
    return "vectors are compared in memory (DOSSIER_CHROMA_URL names a server for large sets)"
