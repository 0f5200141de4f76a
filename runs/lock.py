"""Let one process at a time work on a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from config.errors import ErrorCode, Problem
from config.settings import settings
from config.user_files import check_file_name
from storage.permissions import FILE, FOLDER, WRITABLE_HINT, check_writable, secure_home

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE = 0.5
"""The seconds to wait for a locked thread; a process that only reads it releases it at once."""


@contextmanager
def thread_lock(thread: str, seconds: float = PATIENCE) -> Iterator[None]:
    """Lock a thread against other processes; the lock of a dead process is released.

    Args:
        thread: The id of the thread.
        seconds: How long another process may take to release it.

    Raises:
        Problem: `run_in_progress`, `home_read_only`, `storage_unavailable` or `bad_file_name`.
    """
    lock = acquire(thread, seconds)
    try:
        yield
    finally:
        lock.release()


def is_thread_locked(thread: str) -> bool:
    """Say whether a process may be working on a thread; `True` if that is unknown."""
    try:
        with thread_lock(thread, seconds=0):
            return False
    except Problem as problem:
        return problem.code in (ErrorCode.RUN_IN_PROGRESS, ErrorCode.HOME_READ_ONLY)


def thread_lock_file(thread: str) -> Path:
    """Return the file that is locked while a process works on a thread.

    Raises:
        Problem: `bad_file_name`.
    """
    return settings().locks / f"{check_file_name(thread)}.lock"


def acquire(thread: str, seconds: float = PATIENCE) -> BaseFileLock:
    """Lock a thread like `thread_lock`; return the lock, which the caller releases."""
    # Few commands lock a thread.
    from filelock import FileLock, Timeout  # noqa: PLC0415

    folder = settings().locks
    # A server takes and releases a lock in different threads.
    lock = FileLock(thread_lock_file(thread), timeout=seconds, thread_local=False, mode=FILE)
    try:
        check_writable()
        secure_home()
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        what = f"{thread} is at work already"
        hint = "wait for it, or stop it with Ctrl-C where it runs"
        raise Problem(ErrorCode.RUN_IN_PROGRESS, what, hint=hint) from error
    except OSError as error:
        what, where, hint = f"it cannot be written: {error.strerror}", str(folder), WRITABLE_HINT
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=where, hint=hint) from error
    return lock
