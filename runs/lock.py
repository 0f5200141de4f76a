"""Let one process at a time work on a thread.

With SQLite the lock is a file; with a shared database it is a lease, which holds across machines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from config.errors import ErrorCode, Problem
from config.settings import settings
from config.user_files import check_file_name
from storage.connect import is_database_shared
from storage.permissions import FILE, FOLDER, WRITABLE_HINT, check_writable, secure_home

PATIENCE = 0.5
"""The seconds to wait for a locked thread; a process that only reads releases it at once."""


class ThreadLock(Protocol):
    """A lock on a thread."""

    def release(self) -> None:
        """Release the lock."""


@contextmanager
def thread_lock(thread: str, seconds: float = PATIENCE) -> Iterator[None]:
    """Lock a thread against other processes; the lock of a dead process is released.

    Args:
        thread: The id of the thread.
        seconds: How long another process may take to release it.

    Raises:
        Problem: What `acquire` raises.
    """
    lock = acquire(thread, seconds)
    try:
        yield
    finally:
        lock.release()


def is_thread_locked(thread: str) -> bool:
    """Say whether a process works on a thread; `True` also if that cannot be found out."""
    if is_database_shared():
        from storage.leases import is_leased  # noqa: PLC0415

        return is_leased(check_file_name(thread))
    try:
        with thread_lock(thread, seconds=0):
            return False
    except Problem as problem:
        return problem.code in (ErrorCode.RUN_IN_PROGRESS, ErrorCode.HOME_READ_ONLY)


def thread_lock_file(thread: str) -> Path:
    """Return the lock file of a thread, which is used with SQLite.

    Raises:
        Problem: `bad_file_name`.
    """
    return settings().locks / f"{check_file_name(thread)}.lock"


def acquire(thread: str, seconds: float = PATIENCE) -> ThreadLock:
    """Lock a thread and return the lock, which the caller must release.

    Args:
        thread: The id of the thread.
        seconds: How long another process may take to release it.

    Raises:
        Problem: `run_in_progress`, `home_read_only`, `storage_unavailable` or `bad_file_name`.
    """
    lock = _take_lease(thread, seconds) if is_database_shared() else _lock_file(thread, seconds)
    if lock is None:
        what = f"another run is working on {thread}"
        hint = "wait for it, or stop it with Ctrl-C where it runs"
        raise Problem(ErrorCode.RUN_IN_PROGRESS, what, hint=hint)
    return lock


def _take_lease(thread: str, seconds: float) -> ThreadLock | None:
    # Few commands lock a thread.
    from storage.leases import take_lease  # noqa: PLC0415

    return take_lease(check_file_name(thread), seconds)


def _lock_file(thread: str, seconds: float) -> ThreadLock | None:
    from filelock import FileLock, Timeout  # noqa: PLC0415

    folder = settings().locks
    # A server takes and releases a lock in different threads.
    lock = FileLock(thread_lock_file(thread), timeout=seconds, thread_local=False, mode=FILE)
    try:
        check_writable()
        secure_home()
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        return None
    except OSError as error:
        what, where, hint = f"it cannot be written: {error.strerror}", str(folder), WRITABLE_HINT
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=where, hint=hint) from error
    return lock
