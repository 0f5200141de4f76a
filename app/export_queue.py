"""Write exports for the clients of a server: in worker processes, and only a few at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

from anyio import CapacityLimiter

from config.errors import ErrorCode, Problem
from config.resources import LoopResource
from report.exports.export_formats import ExportedReport, find_format
from tools.worker_pool import WorkerLost, run_in_worker

SLOW_FORMATS = frozenset({"pdf"})
"""The formats that may take minutes, which have a lane of their own."""

SLOW_AT_ONCE, QUICK_AT_ONCE = 1, 2
"""How many exports of each lane are written at once, so that runs get their share."""

MAX_WAITING = 16
"""How many further exports may wait in each lane."""

MAX_SECONDS = 300
"""How long writing an export may take."""


class _Lane:
    """A queue of exports with a limit on those at work and those waiting."""

    def __init__(self, at_once: int) -> None:
        self.limiter = CapacityLimiter(at_once)
        self._places = at_once + MAX_WAITING

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Hold a place in the lane.

        Raises:
            Problem: `export_busy` if it is full.
        """
        if not self._places:
            raise Problem(ErrorCode.EXPORT_BUSY, "too many exports are waiting")
        self._places -= 1
        try:
            yield
        finally:
            self._places += 1


_lanes = LoopResource(lambda: {True: _Lane(SLOW_AT_ONCE), False: _Lane(QUICK_AT_ONCE)})
"""The lanes: `True` for slow formats, `False` for quick ones."""


async def write_export(
    load: Callable[[], Awaitable[ExportedReport]], name: str
) -> tuple[ExportedReport, bytes]:
    """Return a report and its file in a format, written in a worker process.

    Args:
        load: Loads the report.
        name: The name of the format.

    Raises:
        Problem: `export_busy`, `export_failed`, or what loading and writing raise.
    """
    lane = _lanes.get()[name in SLOW_FORMATS]
    with lane.enter():
        report = await load()
        work = partial(_write, report, name)
        try:
            return report, await run_in_worker(work, MAX_SECONDS, limiter=lane.limiter)
        except TimeoutError:
            what = f"writing it takes more than {MAX_SECONDS} seconds"
            raise Problem(ErrorCode.EXPORT_FAILED, what, where=name) from None
        except WorkerLost:
            what = "the process that was writing it ended"
            raise Problem(ErrorCode.EXPORT_FAILED, what, where=name) from None


def _write(report: ExportedReport, name: str) -> bytes:
    return find_format(name).load()(report)
