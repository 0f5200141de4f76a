"""Leases: locks on threads in the shared database, which expire unless their process renews them.

A background thread of each process renews its leases; those of a killed process expire. Only the
clock of the database counts.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, Extract, delete, func, select, text, update
from sqlalchemy.exc import OperationalError

from config.errors import Problem
from config.resources import Resource, process_cached
from config.settings import settings
from storage.engine import lend_connection, run_write_sync
from storage.fencing import Lease, forget_lease, list_held_leases, remember_lease
from storage.tables import leases
from storage.upsert import dialect_insert

_POLL = 0.1
"""The seconds between two tries to take a lease."""

_RENEWALS = 3
"""How often a lease is renewed within its lifetime, so that one failure does no harm."""

_LOCK_TIMEOUT = text("SET LOCAL lock_timeout = '1s'")
"""How long to wait for a writer that has locked the row."""

_PROCESS = Path("/proc/self")

log = logging.getLogger(__name__)


class HeldThread:
    """A thread that this process holds until it releases it or dies."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease

    def release(self) -> None:
        """Release the thread; if the database cannot be reached, the lease expires."""
        forget_lease(self.lease)
        mine = (leases.c.name == self.lease.name, leases.c.holder == self.lease.holder)
        given_back = update(leases).where(*mine).values(holder="", expires=0.0)
        with suppress(Problem):
            run_write_sync(lambda connection: connection.execute(given_back))


def take_lease(name: str, seconds: float) -> HeldThread | None:
    """Take a thread; return `None` if another holder keeps it for longer than these seconds.

    Raises:
        Problem: What the database raises.
    """
    until = time.monotonic() + seconds
    while True:
        lease = run_write_sync(lambda connection: _take(connection, name))
        if lease:
            remember_lease(lease)
            _heartbeat.get().start()
            return HeldThread(lease)
        if time.monotonic() >= until:
            return None
        time.sleep(min(_POLL, max(0.0, until - time.monotonic())))


def is_leased(name: str) -> bool:
    """Say whether a living process holds a thread."""
    held = select(leases.c.process).where(leases.c.name == name, leases.c.expires > _now())
    with lend_connection() as connection:
        process = connection.execute(held).scalar()
    return process is not None and not _is_dead(process)


def count_leases(connection: Connection) -> tuple[int, int]:
    """Return how many threads living processes hold, and how many dead ones do."""
    held = connection.execute(select(leases).where(leases.c.holder != "")).all()
    now = connection.execute(select(_now())).scalar_one()
    alive = sum(row.expires > now and not _is_dead(row.process) for row in held)
    return alive, len(held) - alive


def delete_dead_leases(seconds: float) -> int:
    """Delete the leases that expired at least so many seconds ago; return how many."""
    dead = delete(leases).where(leases.c.expires <= _now() - seconds)
    return run_write_sync(lambda connection: connection.execute(dead).rowcount)


def delete_lease(connection: Connection, name: str) -> None:
    """Delete the lease of a thread; a process that still holds it can no longer write."""
    connection.execute(delete(leases).where(leases.c.name == name))


def _now() -> Extract:
    """Return the time of the database, in seconds since 1970."""
    return func.extract("epoch", func.clock_timestamp())


def _take(connection: Connection, name: str) -> Lease | None:
    connection.execute(_LOCK_TIMEOUT)
    known = connection.execute(select(leases).where(leases.c.name == name)).first()
    dead = known.holder if known and _is_dead(known.process) else None
    holder, expires = uuid4().hex, _now() + settings().lease_seconds
    row = {"holder": holder, "expires": expires, "process": _process_mark()}
    free = (leases.c.expires <= _now()) | (leases.c.holder == (dead or ""))
    taken = (
        dialect_insert(leases)
        .values(name=name, token=1, **row)
        .on_conflict_do_update(
            index_elements=["name"], set_={**row, "token": leases.c.token + 1}, where=free
        )
        .returning(leases.c.token)
    )
    try:
        with connection.begin_nested():
            token = connection.execute(taken).scalar()
    except OperationalError:
        # The row is locked by its holder, who is writing and so alive.
        return None
    return Lease(name, holder, token) if token else None


@process_cached
def _process_mark() -> str:
    """Return a mark that no other process on any machine has."""
    return _mark_of(os.getpid()) or uuid4().hex


def _mark_of(pid: int) -> str:
    """Return the mark of a process on this machine; empty if it is gone, or without `/proc`."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        # Processes of different containers may have the same number.
        space = os.readlink(_PROCESS / "ns/pid")
        # The name of the command, in parentheses, may contain anything.
        started = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return ""
    return f"{boot} {space} {pid} {started}"


def _is_dead(mark: str) -> bool:
    """Say whether a mark belongs to a process of this machine that is gone."""
    mine, parts = _process_mark().split(), mark.split()
    if len(parts) != len(mine) or len(mine) == 1 or parts[:2] != mine[:2]:
        return False
    return _mark_of(int(parts[2])) != mark


class _Heartbeat:
    """A background thread that renews the leases of this process."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.stopped = threading.Event()

    def start(self) -> None:
        """Start the thread unless it runs; a forked process has to start its own."""
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._work, name="leases", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """End it."""
        self.stopped.set()

    def _work(self) -> None:
        while not self.stopped.wait(settings().lease_seconds / _RENEWALS):
            if held := list_held_leases():
                try:
                    renew_leases(held)
                except Problem as problem:
                    log.warning("leases could not be renewed: %s", problem)


_heartbeat = Resource(_Heartbeat, _Heartbeat.stop)


def renew_leases(held: Sequence[Lease]) -> None:
    """Renew the leases that this process still holds; those taken over stay lost.

    Raises:
        Problem: What the database raises.
    """
    mine = leases.c.holder.in_([one.holder for one in held])
    renewed = update(leases).where(mine).values(expires=_now() + settings().lease_seconds)
    run_write_sync(lambda connection: connection.execute(renewed))
