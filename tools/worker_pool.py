"""Run calls in worker processes that may be killed, and that know nothing of the main program."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar, cast

import anyio
from anyio import CapacityLimiter, get_cancelled_exc_class, to_process, to_thread

from config.resources import Resource

_Result = TypeVar("_Result")

_MAIN = Path(__file__).with_name("worker_main.py")


class WorkerLost(Exception):
    """A worker process ended before it had answered."""


class _Worker:
    """One process, which answers one call at a time."""

    def __init__(self) -> None:
        # Without -P the folder of the file would be searched for modules first.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-u", "-P", str(_MAIN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._calls = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)
        self._calls.write(pickle.dumps(sys.path))

    def ask(self, call: bytes) -> tuple[bool, object]:
        """Send a pickled call and wait for its result, or for what it raised."""
        try:
            self._calls.write(call)
            self._calls.flush()
            return cast(tuple[bool, object], pickle.load(self._answers))  # noqa: S301
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            self.close()
            raise WorkerLost from error

    def alive(self) -> bool:
        """Tell whether the process still runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the process and wait until it is gone."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes; only the thread that reads from them may do so."""
        self._answers.close()
        try:
            self._calls.close()
        except OSError:
            # What was not sent yet can no longer be sent.
            return


def end_workers(workers: list[_Worker]) -> None:
    """End processes, and forget them."""
    for worker in workers:
        worker.end()
        worker.close()
    workers.clear()


idle_workers = Resource(list[_Worker], end_workers)
"""The workers that wait for a call."""

_lock = threading.Lock()


async def run_in_worker(call: Callable[[], _Result], seconds: float) -> _Result:
    """Return what a call returns in a worker process; it must be possible to pickle it.

    Waiting for a free worker does not count as time. A call that is cancelled or takes too long
    is killed with its process.

    Raises:
        TimeoutError: If it takes more than `seconds`, the start of a process included.
        WorkerLost: If the process ended before it had answered.
    """
    request = pickle.dumps(call)
    async with to_process.current_default_process_limiter():
        worker = _take_idle_worker()
        if worker is None:
            worker = await to_thread.run_sync(_Worker)
        try:
            with anyio.fail_after(seconds):
                done, result = await to_thread.run_sync(
                    worker.ask, request, abandon_on_cancel=True, limiter=CapacityLimiter(1)
                )
        except (TimeoutError, WorkerLost, get_cancelled_exc_class()):
            worker.end()
            raise
        idle_workers.get().append(worker)
    if not done:
        raise cast(BaseException, result)
    return cast(_Result, result)


def _take_idle_worker() -> _Worker | None:
    """Return a worker that waits for a call, if there is one."""
    with _lock:
        idle = idle_workers.get()
        while idle:
            worker = idle.pop()
            if worker.alive():
                return worker
            worker.close()
    return None


def _forked() -> None:
    """Leave the workers to the process that has started them."""
    idle_workers.get().clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
