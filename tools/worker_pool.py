"""Run calls in worker processes that may be killed, and that know nothing of the main program."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar, cast

from anyio import CapacityLimiter, to_process, to_thread

from config.resources import Resource

_Result = TypeVar("_Result")

_MAIN = Path(__file__).with_name("worker_main.py")

PATIENCE = 10
"""How many times its processor seconds a call may last on a machine that has other work."""

IDLE = 0.01
"""A process that computes for less than this share of the time is waiting for nothing."""

_LOOK_SECONDS = 0.5


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

    def processor_seconds(self) -> float:
        """Return how long the process has computed; where no system tells, the time of day."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return time.monotonic()
        # The second field is a name in brackets, in which anything may stand.
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

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


class _Clock:
    """What a call takes, measured by the processor, so that other programs do not shorten it."""

    def __init__(self, worker: _Worker, seconds: float) -> None:
        self._worker, self.seconds = worker, seconds
        self._began = self._looked = time.monotonic()
        self._first = self._before = worker.processor_seconds()

    def is_over(self) -> bool:
        """Tell whether the call has taken too much of the processor, too long, or does nothing."""
        now, computed = time.monotonic(), self._worker.processor_seconds()
        if computed - self._first > self.seconds or now - self._began > PATIENCE * self.seconds:
            return True
        since = now - self._looked
        if since < self.seconds:
            return False
        is_idle = computed - self._before < IDLE * since
        self._looked, self._before = now, computed
        return is_idle


async def run_in_worker(
    call: Callable[[], _Result], seconds: float, *, limiter: CapacityLimiter | None = None
) -> _Result:
    """Return what a call returns in a worker process; it must be possible to pickle it.

    A call that is cancelled or takes too long is killed with its process. Waiting for a free worker
    does not count, nor does waiting for a processor on a busy machine, up to `PATIENCE` times the
    limit. A process that stands still is ended after two times the limit at the most.

    Args:
        call: What to call.
        seconds: How long it may compute, the start of a process included; where the system does
            not tell that, how long it may take.
        limiter: How many calls may run at once that share it; else as many as there are
            processors, of all calls without one.

    Raises:
        TimeoutError: If it takes longer.
        WorkerLost: If the process ended before it had answered.
    """
    request = pickle.dumps(call)
    async with limiter or to_process.current_default_process_limiter():
        worker = _take_idle_worker()
        if worker is None:
            worker = await to_thread.run_sync(_Worker)
        try:
            done, result = await _wait_for_answer(worker, request, _Clock(worker, seconds))
        except (TimeoutError, WorkerLost, asyncio.CancelledError):
            worker.end()
            raise
        idle_workers.get().append(worker)
    if not done:
        raise cast(BaseException, result)
    return cast(_Result, result)


async def _wait_for_answer(worker: _Worker, request: bytes, clock: _Clock) -> tuple[bool, object]:
    asking = to_thread.run_sync(
        worker.ask, request, abandon_on_cancel=True, limiter=CapacityLimiter(1)
    )
    answer = asyncio.ensure_future(asking)
    look = min(_LOOK_SECONDS, clock.seconds)
    try:
        while not (await asyncio.wait([answer], timeout=look))[0]:
            if clock.is_over():
                raise TimeoutError
        return answer.result()
    finally:
        answer.cancel()


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
