"""Which threads this process holds, and the check that it still does before it changes anything.

A process that was stopped for longer than its lease may wake up when another one has taken over
its thread. So each transaction that writes for a thread first reads who holds it, and locks that
row: the thread cannot be taken over before the transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from sqlalchemy import Connection, text

from config.errors import ErrorCode, Problem
from config.resources import Resource
from config.settings import settings

FENCE_QUERY = (
    "SELECT holder, set_config('idle_in_transaction_session_timeout', %(idle)s, true) "
    "FROM leases WHERE name = %(name)s FOR SHARE"
)
"""Who holds a thread; nobody can take it over until the transaction ends.

PostgreSQL ends it when the process is stopped in the middle of it.
"""

_QUERY = text(FENCE_QUERY.replace("%(name)s", ":name").replace("%(idle)s", ":idle"))

LONGEST_IDLE = 10.0
"""The seconds after which such a transaction is ended, or a lease if that is longer."""


class Lease(NamedTuple):
    """The right of this process to work on a thread until its lease ends."""

    name: str
    """The thread."""
    holder: str
    """A name that no other lease has."""
    token: int
    """How often the thread was taken, this time included."""


_held = Resource(dict[str, Lease])
"""The leases that this process has taken and not given back, lost ones too."""

_thread_at_work: ContextVar[str] = ContextVar("thread_at_work", default="")


def remember_lease(lease: Lease) -> None:
    """Have the writes for a thread checked from now on."""
    _held.get()[lease.name] = lease


def forget_lease(lease: Lease) -> None:
    """Have the writes for a thread checked no longer, unless it was taken again meanwhile."""
    if _held.get().get(lease.name) == lease:
        del _held.get()[lease.name]


def list_held_leases() -> list[Lease]:
    """Return the leases of this process."""
    return [*_held.get().values()]


def find_lease(thread: str = "") -> Lease | None:
    """Return the lease of a thread, by default of the one that is worked on here."""
    return _held.get().get(thread or _thread_at_work.get())


def begin_work(thread: str) -> None:
    """Have the writes that follow in this context checked for a thread, as `working_on` does.

    An asynchronous generator may be ended in another context, where nothing can be undone.
    """
    _thread_at_work.set(thread)


@contextmanager
def working_on(thread: str) -> Iterator[None]:
    """Have the writes of this context, and of the tasks that it begins, checked for a thread."""
    mark = _thread_at_work.set(thread)
    try:
        yield
    finally:
        _thread_at_work.reset(mark)


def check_lease(connection: Connection, lease: Lease | None) -> None:
    """Make sure, until the end of a transaction, that this process still holds a thread.

    Raises:
        Problem: `run_taken_over`.
    """
    if lease is not None:
        check_holder(lease, connection.execute(_QUERY, fence_values(lease)).scalar())


def fence_values(lease: Lease) -> dict[str, str]:
    """Return the values for `FENCE_QUERY`."""
    idle = max(LONGEST_IDLE, settings().lease_seconds)
    return {"name": lease.name, "idle": f"{round(1_000 * idle)}ms"}


def check_holder(lease: Lease, holder: str | None) -> None:
    """Make sure that a lease is that of the holder of its thread.

    Raises:
        Problem: `run_taken_over`.
    """
    if holder != lease.holder:
        what = f"another process has taken over {lease.name}"
        hint = "it goes on there; this process was away for too long"
        raise Problem(ErrorCode.RUN_TAKEN_OVER, what, hint=hint)
