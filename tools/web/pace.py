"""Ask each server no more often than it allows, over all branches of the process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from config.errors import ErrorCode, Problem
from config.resources import LoopResource, RecentCache, Resource
from config.search_table import load_search_table
from tools.web.transport import is_private_host

LONGEST_PAUSE = 600.0
"""The longest time, in seconds, for which a server may forbid to be asked."""

PATIENCE = 30.0
"""How many seconds a page waits for its turn."""

_KNOWN = 10_000
"""How many servers are remembered."""


class Pace:
    """When one server may be asked next: a bucket of turns that fills steadily, and pauses.

    It is the generic cell rate algorithm, so that all there is to store are two times.
    """

    def __init__(
        self, per_second: float, together: int = 1, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Make a pace.

        Args:
            per_second: How many requests in a second are allowed in the long run.
            together: How many may come at once after a quiet time.
            now: A clock that never goes back.
        """
        self.interval, self.together = 1 / per_second, together
        self._now, self._lock = now, threading.Lock()
        self._due = self._paused_until = 0.0

    def reserve(self, patience: float) -> float:
        """Take the next turn and return how many seconds it is away.

        Raises:
            Problem: `site_busy` if that is more than `patience` seconds; no turn is taken.
        """
        with self._lock:
            now = self._now()
            due = max(self._due, now)
            wait = due - (self.together - 1) * self.interval - now
            wait = max(0.0, wait, self._paused_until - now)
            if wait > patience:
                what = f"it may be asked again in {wait:.0f} seconds"
                raise Problem(ErrorCode.SITE_BUSY, what)
            self._due = due + self.interval
            return wait

    def pause(self, seconds: float) -> None:
        """Let nobody ask for so many seconds, as when the server has asked for that."""
        with self._lock:
            until = self._now() + min(max(seconds, 0.0), LONGEST_PAUSE)
            self._paused_until = max(self._paused_until, until)

    def slow_down(self, interval: float) -> None:
        """Keep at least so many seconds between two requests from now on."""
        with self._lock:
            self.interval = max(self.interval, interval)
            if interval:
                self.together = 1


_paces: Resource[RecentCache[str, Pace]] = Resource(lambda: RecentCache(_KNOWN))
_places: LoopResource[RecentCache[str, asyncio.Semaphore]] = LoopResource(
    lambda: RecentCache(_KNOWN)
)
"""How many requests may still be under way, by server; each event loop counts its own."""


def get_pace(name: str, per_second: float, together: int = 1) -> Pace:
    """Return the pace of a server, which all branches of this process share."""
    known = _paces.get()
    if name not in known:
        known[name] = Pace(per_second, together)
    return known[name]


def get_host_pace(host: str) -> Pace:
    """Return the pace at which one host is asked for pages."""
    table = load_search_table().hosts
    return get_pace(f"host {host}", table.per_second, table.together)


@asynccontextmanager
async def host_turn(host: str) -> AsyncIterator[None]:
    """Wait until a host may be asked for a page, and keep one of its places until the block ends.

    Hosts of private networks may be asked at once.

    Raises:
        Problem: `site_busy` if that would take more than `PATIENCE` seconds.
    """
    if is_private_host(host):
        yield
        return
    at_once = load_search_table().hosts.at_once
    async with take_turn(f"host {host}", get_host_pace(host), at_once, PATIENCE):
        yield


@asynccontextmanager
async def take_turn(name: str, pace: Pace, at_once: int, patience: float) -> AsyncIterator[None]:
    """Wait for a turn at a server, and keep one of its places until the block ends.

    Args:
        name: The name of the server.
        pace: Its pace.
        at_once: How many requests to it may be under way.
        patience: How many seconds may be waited, for a place and for the turn each.

    Raises:
        Problem: `site_busy` if that would take longer.
    """
    place = _places.get().setdefault(name, asyncio.Semaphore(at_once))
    try:
        async with asyncio.timeout(patience):
            await place.acquire()
    except TimeoutError:
        what = "too many requests to it are under way"
        raise Problem(ErrorCode.SITE_BUSY, what) from None
    try:
        await asyncio.sleep(pace.reserve(patience))
        yield
    finally:
        place.release()
