"""Learn quickly whether a server can be reached from here, and remember it for a while."""

from __future__ import annotations

import socket
import time

from config.errors import Problem
from config.resources import RecentCache, Resource, SharedTasks
from text.background_threads import run_abandonable

CONNECT_SECONDS = 2.0
"""How long a server may take to accept a connection before it counts as out of reach."""

REACHED, UNREACHED = 600.0, 60.0
"""For how many seconds it counts that a server was reached, and that it was not."""

_known: Resource[RecentCache[tuple[str, int], tuple[float, bool]]] = Resource(
    lambda: RecentCache(1_000)
)
_asking = SharedTasks[tuple[str, int], bool]()


async def is_reachable(host: str, port: int = 443) -> bool:
    """Tell whether a server takes connections; nothing is sent to it.

    A machine without a network has lost at most two seconds with that, all branches together, and
    only once a minute.
    """
    until, reached = _known.get().get((host, port), (0.0, False))
    if time.monotonic() < until:
        return reached
    return await _asking.run((host, port), lambda: _connect(host, port))


async def _connect(host: str, port: int) -> bool:
    # A look-up of a name cannot be broken off, so it is left to a thread that nobody waits for.
    try:
        reached = await run_abandonable(_try, host, port, seconds=CONNECT_SECONDS)
    except Problem:
        reached = False
    kept = REACHED if reached else UNREACHED
    _known.get()[host, port] = (time.monotonic() + kept, reached)
    return reached


def _try(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except (OSError, UnicodeError):
        return False
    return True
