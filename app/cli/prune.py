"""dossier runs prune: delete old runs, after asking; what was learnt and reported stays."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from app.cli.dispatch import Invocation
from app.cli.durations import parse_duration
from app.cli.event_loop import run_and_close
from app.cli.output import confirm, one_line
from app.cli.table import local_time, make_table
from config.errors import ErrorCode
from config.settings import settings
from library.uploaded_files import discard_uploads
from privacy.retention import (
    ExpiredThread,
    list_expired_threads,
    measure_threads,
    prune_threads,
)
from privacy.saved_states import save_report_state
from runs.call_site import split_owner
from text.pluralization import pluralize


def prune(
    *,
    keep: str,
    keep_last: int,
    everybody: bool,
    dry_run: bool,
    yes: bool,
    invocation: Invocation,
) -> None:
    """Delete runs that ended long ago; what was learnt and reported stays.

    Raises:
        Problem: `usage`, `prune_unconfirmed`, or what the storage tells of.
    """
    seconds = parse_duration(keep, "--keep")
    owner = None if everybody else invocation.owner
    old = run_and_close(list_expired_threads(owner, seconds, keep_last))
    if dry_run:
        _print_expired(old, invocation)
        return
    if not old or not (yes or _confirm_pruning(old)):
        message = "Every run is kept." if old else f"No run ended more than {keep} ago."
        invocation.print_result({"runs": 0, "threads": 0, "freed": 0, "kept": 0}, message)
        return
    before = _size(settings().home)
    kept = run_and_close(prune_threads(old, save_what_stays))
    freed = max(0, before - _size(settings().home))
    gone = [one for one in old if one not in kept]
    numbers = {"runs": _runs(gone), "threads": len(gone), "freed": freed, "kept": len(kept)}
    left = f" {pluralize(len(kept), 'thread')} kept: at work, or asked further." if kept else ""
    what = f"{pluralize(len(gone), 'thread')} deleted, {freed / 1e6:.1f} MB freed.{left}"
    invocation.print_result(numbers, what)


async def save_what_stays(thread: ExpiredThread) -> None:
    """Save how the reports of a thread ended before it goes, with what was uploaded into it."""
    await save_report_state(thread.owner, thread)
    await discard_uploads(thread.owner, thread.thread)


def _print_expired(old: list[ExpiredThread], invocation: Invocation) -> None:
    """Print what would be deleted, and about how much that is."""
    size = run_and_close(measure_threads(old))
    rows = make_table("thread", "user", "runs", "last run")
    for one in old:
        user = split_owner(one.owner)[0]
        ended = f"{local_time(one.updated):%Y-%m-%d}"
        rows.add_row(one_line(one.thread), one_line(user), str(len(one.runs)), ended)
    threads = [
        {"thread": one.thread, "owner": one.owner, "runs": [*one.runs], "updated": one.updated}
        for one in old
    ]
    counted = f"{pluralize(_runs(old), 'run')} in {pluralize(len(old), 'thread')}"
    line = f"Would be deleted: {counted}, about {size / 1e6:.1f} MB."
    numbers = {"runs": _runs(old), "threads": len(old), "bytes": size}
    invocation.print_result({**numbers, "expired": threads}, *([rows, line] if old else [line]))


def _confirm_pruning(old: list[ExpiredThread]) -> bool:
    runs = f"{pluralize(_runs(old), 'run')} in {pluralize(len(old), 'thread')}"
    asked = f"Delete {runs}? They can then be neither resumed nor asked further."
    return confirm(asked, ErrorCode.PRUNE_UNCONFIRMED)


def _runs(threads: list[ExpiredThread]) -> int:
    return sum(len(one.runs) for one in threads)


def _size(home: Path) -> int:
    """Return the bytes below a folder; a file may go while they are counted."""
    size = 0
    for file in home.rglob("*"):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size
